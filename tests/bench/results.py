"""From samples to ratios, a table and JSON."""
import math
import re
import statistics
from dataclasses import asdict, dataclass


@dataclass
class Sample:
    wall_s: float
    cpu_s: float
    max_rss_kib: int


def ratio(samples, native, field):
    """The median over the rounds of sample / native sample of the same round."""
    return statistics.median(getattr(s, field) / max(getattr(n, field), 1e-9) for s, n in zip(samples, native))


def median_rss(samples):
    return statistics.median(s.max_rss_kib for s in samples)


def parse_stats(text):
    """The counters that `detrec run --stats` prints, by name."""
    return {m[1].strip(): int(m[2]) for m in re.finditer(r"^(\S.*?)\s{2,}(\d+)$", text, re.M)}


def summarize(workload, runs, stats):
    """One row as plain data. `runs` maps a way of running ("native", "detrec", ...) to its samples or to an error."""
    row = {"name": workload.name, "group": workload.group, "goal": workload.goal, "repeat": workload.repeat, "ways": {}}
    native = runs["native"]
    for way, outcome in runs.items():
        if isinstance(outcome, str):
            row["ways"][way] = {"error": outcome}
            continue
        row["ways"][way] = {
            "samples": [asdict(s) for s in outcome],
            "wall_s": statistics.median(s.wall_s for s in outcome) / workload.repeat,
            "max_rss_kib": median_rss(outcome),
        }
        if not isinstance(native, str):
            row["ways"][way]["wall_ratio"] = ratio(outcome, native, "wall_s")
            row["ways"][way]["cpu_ratio"] = ratio(outcome, native, "cpu_s")
    if not isinstance(native, str) and not isinstance(runs["detrec"], str):
        row["memory"] = {
            "added_kib": {way: median_rss(outcome) - median_rss(native) for way, outcome in runs.items()
                          if way != "native" and not isinstance(outcome, str)},
            "touched_code_kib": stats.get("guest code bytes", 0) / 1024,
        }
        row["stats"] = stats
    if not any(isinstance(runs.get(way, "none"), str) for way in ("record", "replay")):
        row["replay_to_record"] = ratio(runs["replay"], runs["record"], "wall_s")
    if not any(isinstance(runs.get(way, "none"), str) for way in ("detrec", "sliced")):
        row["sliced_to_detrec"] = ratio(runs["sliced"], runs["detrec"], "wall_s")
    return row


def geometric_mean(rows, way, field="wall_ratio"):
    """Over the compute rows; None unless every one was measured."""
    ratios = [row["ways"].get(way, {}).get(field) for row in rows if row["group"] == "compute"]
    if not ratios or None in ratios:
        return None
    return math.exp(statistics.fmean(math.log(r) for r in ratios))


def show(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def format_row(cells, widths):
    return "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths))).rstrip()


def format_table(header, lines):
    widths = [max(len(cells[i]) for cells in [header, *lines]) for i in range(len(header))]
    rule = ["-" * width for width in widths]
    return "\n".join(format_row(cells, widths) for cells in [header, rule, *lines])


def time_table(rows, ways):
    """Native time, then wall and CPU ratio of every other way."""
    others = [way for way in ways if way != "native"]
    header = ["what", "native", *(f"{way} {kind}" for way in others for kind in ("wall", "cpu")), "goal"]
    if "replay" in others:
        header.append("replay/record")
    lines = []
    for row in rows:
        native = row["ways"]["native"].get("wall_s")
        cells = [row["name"], "error" if native is None else f"{native * 1e3:.1f} ms"]
        for way in others:
            result = row["ways"].get(way, {})
            failed = "FAILED" if "error" in result else None
            cells += [failed or show(result.get("wall_ratio")), failed or show(result.get("cpu_ratio"))]
        cells.append(show(row["goal"], 1))
        if "replay" in others:
            cells.append(show(row.get("replay_to_record")))
        lines.append(cells)
    means = ["geomean of compute", ""]
    for way in others:
        means += [show(geometric_mean(rows, way)), show(geometric_mean(rows, way, "cpu_ratio"))]
    return format_table(header, [*lines, [*means, "1.4", "1.00"][: len(header)]])


def progress(row):
    """One short line about a row that was just measured."""
    detrec = row["ways"]["detrec"]
    if "error" in detrec:
        return f"{row['name']}: {detrec['error']}"
    ways = [way for way in row["ways"] if way != "native"]
    return f"{row['name']}: " + ", ".join(f"{way} {show(row['ways'][way].get('cpu_ratio'))}" for way in ways)


def memory_table(rows, way):
    """Peak memory beyond native of the largest process, detrec's own included, against the code that was translated."""
    header = ["what", "native MiB", "added MiB", "touched code KiB", "allowed MiB"]
    lines = []
    for row in rows:
        memory = row.get("memory")
        if memory is None or way not in memory["added_kib"]:
            continue
        touched = memory["touched_code_kib"]
        lines.append([
            row["name"],
            show(row["ways"]["native"]["max_rss_kib"] / 1024, 1),
            show(memory["added_kib"][way] / 1024, 1),
            show(touched, 0),
            show(48 + 8 * touched / 1024, 1),
        ])
    return format_table(header, lines)


def slice_table(rows):
    """What a preemption every 100k ticks costs, of the engine's time without."""
    lines = [[row["name"], show(row["sliced_to_detrec"]), "1.08"] for row in rows if "sliced_to_detrec" in row]
    return format_table(["preempted every 100k ticks", "wall", "allowed"], lines)


def trace_table(rows):
    """Sizes of traces: the whole, without captured files, and a single event's share beyond the data it carries.

    Allowed are 2 MiB without files for what computes, and 6 bytes an event for what does system calls.
    """
    header = ["what", "trace MiB", "without files MiB", "events", "bytes an event", "allowed"]
    lines = []
    for row in rows:
        trace = row.get("trace")
        if trace is None:
            continue
        mib = 1024 * 1024
        lines.append([
            row["name"],
            show(trace["bytes"] / mib, 1),
            show((trace["bytes"] - trace["captured_bytes"]) / mib, 1),
            str(trace["events"]),
            show(trace["coded_bytes"] / max(trace["events"], 1), 1),
            {"compute": "2 MiB", "syscalls": "6 bytes"}.get(row["group"], "-"),
        ])
    return format_table(header, lines)


def errors(rows):
    """(row name, way, message) of everything that went wrong."""
    return [
        (row["name"], way, result["error"]) for row in rows for way, result in row["ways"].items() if "error" in result
    ]
