#!/usr/bin/env python3
"""Measures programs under detrec against the same programs run natively.

Prints ratios to native wall and CPU time (median over the rounds of paired samples; the ways of running are
interleaved), the memory beyond native and the size of traces, and writes everything as JSON. The ways are the engine
alone ("detrec"), recording and replaying; the goals shown are those of recording, and a replay is to take no longer than
its recording. No timing is asserted. Exits with 1 if a command failed or printed something else than it does natively.

Needs a build with the programs of this folder (target bench_programs); see --build.
"""
import argparse
import contextlib
import datetime
import hashlib
import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import results
import workloads

ROOT = Path(__file__).resolve().parents[2]
SMOKE_SCALE = 0.01
SLICE = "100000"  # ticks


class Runner:
    """Runs one command in one way and measures it from outside."""

    def __init__(self, scratch, build, timeout_s):
        self.scratch = scratch
        self.measure = build / "bin" / "bench" / "measure"
        self.detrec = build / "bin" / "detrec"
        self.timeout_s = timeout_s
        self.trace = scratch / "bench.detrec"

    def command(self, way, workload):
        program = workload.program()
        arguments = workload.command[1:]
        if way == "detrec":
            return [str(self.detrec), "run", "--engine-only", "--", program, *arguments]
        if way == "sliced":
            return [str(self.detrec), "run", "--engine-only", "--slice", SLICE, "--", program, *arguments]
        if way == "record":
            return [str(self.detrec), "record", "-q", "-o", str(self.trace), "--", program, *arguments]
        if way == "replay":  # of what the record before it has written
            return [str(self.detrec), "replay", "-a", str(self.trace)]
        if way == "valgrind":
            return ["valgrind", "-q", "--tool=none", "--trace-children=yes", program, *arguments]
        if way == "qemu":
            return ["qemu-x86_64", program, *arguments]
        return [program, *arguments]

    def execute(self, command, workload):
        """Returns (sample, digest of stdout), or a string that says what went wrong."""
        result, out = self.scratch / "result", self.scratch / "stdout"
        result.unlink(missing_ok=True)
        words = [str(self.measure), str(result), str(workload.repeat), str(out), *command]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env={**os.environ, **workload.env, **self.translations()}, cwd=self.scratch, start_new_session=True)
        try:
            _, errors = process.communicate(timeout=self.timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return f"no end within {self.timeout_s} s"
        last_words = errors.decode(errors="replace").strip().splitlines()[-1:]
        if process.returncode != 0 or not result.exists():
            return f"measure failed: {' '.join(last_words)}"
        wall_ns, user_us, system_us, max_rss, status = map(int, result.read_text().split())
        if status != 0:
            return f"wait status {status:#x}: {' '.join(last_words)}"
        sample = results.Sample(wall_ns / 1e9, (user_us + system_us) / 1e6, max_rss)
        return sample, hashlib.sha256(out.read_bytes()).hexdigest()

    def translations(self):
        """Where detrec keeps them: after the first run of a row it is as it is for a user who runs a program again."""
        return {"DETREC_TRANSLATION_CACHE": str(self.scratch / "translations")}

    def stats(self, workload):
        """The engine's counters for one run."""
        command = self.command("detrec", workload)
        command.insert(command.index("--"), "--stats")
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env={**os.environ, **workload.env, **self.translations()}, cwd=self.scratch, timeout=self.timeout_s, check=False)
        return results.parse_stats(done.stderr.decode(errors="replace"))


    def trace_sizes(self):
        """Of the trace that was recorded last: bytes of the file, events, stored bytes that are not payload."""
        with contextlib.closing(sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True)) as database:
            events, coded = database.execute("select max(last_event), sum(coded_size) from chunk").fetchone()
            captures = database.execute("select coalesce(sum(length(data)), 0) from file_piece").fetchone()[0]
        return {"bytes": self.trace.stat().st_size, "captured_bytes": captures, "events": events, "coded_bytes": coded}


def measure_row(runner, workload, ways, rounds):
    """All samples of one row, interleaved; a way that fails is not tried again."""
    if workload.program() is None:
        return {way: f"{workload.command[0]} is not installed" for way in ways}
    runs = {way: [] for way in ways}
    expected = None
    for _ in range(rounds):
        for way in ways:
            if isinstance(runs[way], str):
                continue
            outcome = runner.execute(runner.command(way, workload), workload)
            if isinstance(outcome, str):
                runs[way] = outcome
                continue
            sample, digest = outcome
            expected = expected or digest
            if digest != expected:
                runs[way] = "stdout differs from the native run's"
                continue
            runs[way].append(sample)
    return runs


def describe_machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "load": os.getloadavg()[0]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", "--rounds", type=int, default=5, help="samples of each way (default 5)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="build directory")
    parser.add_argument("--only", default="", help="only rows whose name contains this")
    parser.add_argument("--json", type=Path, help="where to write the results (default: BUILD/bench.json)")
    parser.add_argument("--engine-only", action="store_true", help="do not record and replay")
    parser.add_argument("--valgrind", action="store_true", help="also measure valgrind --tool=none")
    parser.add_argument("--qemu", action="store_true", help="also measure qemu-x86_64 (processes it starts run natively)")
    parser.add_argument("--timeout", type=int, default=120, help="seconds allowed for one sample (default 120)")
    parser.add_argument("--smoke", action="store_true", help="one round of tiny runs: does the benchmark itself work?")
    return parser.parse_args()


def chosen_ways(arguments):
    ways = ["native", "detrec"] if arguments.engine_only else ["native", "detrec", "record", "replay"]
    for wanted, way, program in [(arguments.valgrind, "valgrind", "valgrind"), (arguments.qemu, "qemu", "qemu-x86_64")]:
        if wanted and shutil.which(program) is None:
            sys.exit(f"bench: {program} is not installed")
        if wanted:
            ways.append(way)
    return ways


def main():
    arguments = parse_arguments()
    ways = chosen_ways(arguments)
    rounds = 1 if arguments.smoke else arguments.rounds
    build = arguments.build.resolve()
    rows = []
    with tempfile.TemporaryDirectory(prefix="detrec-bench-") as scratch_name:
        scratch = Path(scratch_name)
        runner = Runner(scratch, build, arguments.timeout)
        for workload in workloads.make_workloads(scratch, build / "bin" / "bench", SMOKE_SCALE if arguments.smoke else 1):
            if arguments.only not in workload.name:
                continue
            runs = measure_row(runner, workload, [*ways, "sliced"] if workload.sliced else ways, rounds)
            stats = runner.stats(workload) if not isinstance(runs["detrec"], str) else {}
            rows.append(results.summarize(workload, runs, stats))
            if "record" in ways and not isinstance(runs["record"], str):
                rows[-1]["trace"] = runner.trace_sizes()
            print(results.progress(rows[-1]), file=sys.stderr, flush=True)

    print(results.time_table(rows, ways))
    print()
    print(results.memory_table(rows, "record" if "record" in ways else "detrec"))
    print()
    print(results.slice_table(rows))
    if "record" in ways:
        print()
        print(results.trace_table(rows))
    problems = results.errors(rows)
    for name, way, message in problems:
        print(f"FAILED: {name} ({way}): {message}")
    report = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(), "machine": describe_machine(),
              "rounds": rounds, "smoke": arguments.smoke, "rows": rows,
              "geomean": {way: results.geometric_mean(rows, way) for way in ways}}
    (arguments.json or build / "bench.json").write_text(json.dumps(report, indent=1) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
