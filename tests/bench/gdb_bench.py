#!/usr/bin/env python3
"""Measures a debugger's motions in recorded runs: the first prompt, stepping back, searching, seeking, watchpoints, checkpoints.

    gdb_bench.py [--build build/release] [--rounds 5] [--only TEXT] [--json FILE] [--smoke]

Prints a table with what each is to reach first, and writes it as JSON (BUILD/gdb_bench.json). No timing is asserted. Exits
with 1 if a motion did not go where it should. Needs gdb, gcc and python3.
"""
import argparse
import contextlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import results

ROOT = Path(__file__).resolve().parents[2]
ROUNDS_OF_BUSY = 330_000  # 0.99e9 ticks
SEED = 5


def timed(action):
    """(seconds, result)"""
    begun = time.perf_counter()
    result = action()
    return time.perf_counter() - begun, result


def expect(condition, what):
    """A motion that went wrong ends the measurement."""
    if not condition:
        sys.exit(f"gdb_bench: {what}")


class Bench:
    """Records the programs and measures; rows are (what, unit, value, goal)."""

    def __init__(self, options, work):
        sys.path.insert(0, str(ROOT / "tests" / "gdb" / "replay"))
        self.detrec = str(options.build / "bin" / "detrec")
        os.environ["DETREC"] = self.detrec
        from client import Client  # pylint: disable=import-outside-toplevel  (it reads the environment)

        self.client, self.options, self.work, self.rows = Client, options, work, []

    def row(self, what, value, unit, goal=None):
        """One result."""
        self.rows.append({"what": what, "value": value, "unit": unit, "goal": goal})
        print(f"{what}: {value:.4g} {unit}", flush=True)

    def build(self, source, *flags):
        """Compiles a program."""
        program = os.path.join(self.work, Path(source).stem)
        subprocess.run(["gcc", "-g", "-O1", *flags, "-o", program, str(source)], check=True)
        return program

    def record(self, name, command):
        """Records a command; the trace."""
        trace = os.path.join(self.work, name + ".detrec")
        subprocess.run([self.detrec, "record", "-q", "-o", trace, "--", *command], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        return trace

    def address_of(self, trace, symbol):
        """A variable's address, from gdb."""
        text = self.gdb(trace, "tbreak main", "continue", f"print &{symbol}")[1]
        found = re.search(rf"(0x\w+) <{symbol}>", text)
        expect(found, f"gdb does not know {symbol}: {text}")
        return int(found[1], 16)

    def gdb(self, trace, *commands):
        """(seconds, output) of gdb from its start to its end on a trace."""
        words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off"]
        if trace:
            words += ["-ex", f"target remote | exec {self.detrec} replay --stdio {trace}"]
        for command in commands:
            words += ["-ex", command]
        return timed(lambda: subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                            text=True, check=False, timeout=120).stdout)

    def wants(self, name):
        """Whether the rows of this name are to be measured."""
        return self.options.only in name

    # The rows

    def first_prompt(self):
        """From gdb's start to its prompt."""
        trace = self.record("python3", ["/usr/bin/python3", "-c", "print(sum(range(1000)))"])
        alone, prompts = [], []
        for _ in range(self.options.rounds):
            alone.append(self.gdb(None)[0])
            seconds, text = self.gdb(trace, "info registers rip")
            expect("rip" in text, text)
            prompts.append(seconds)
        self.row("gdb alone, to its end", statistics.median(alone), "s")
        self.row("python3: first prompt", statistics.median(prompts), "s", 1)

    def run_to_end(self, trace, points=(), word=None):
        """Seconds for `continue` to the end."""
        with self.client(trace) as client:
            for point in points:
                expect(client.ask(point) == "OK", f"{point} is refused")
            seconds, reply = timed(lambda: client.ask("vCont;c"))
            expect("replaylog:end" in reply, f"{word}: {reply}")
            return seconds

    def motions(self):
        """In a long run: plain, with watchpoints, and what goes backwards."""
        program = self.build(ROOT / "tests" / "gdb" / "replay" / "programs" / "busy.c")
        trace = self.record("busy", [program, str(ROUNDS_OF_BUSY // (100 if self.options.smoke else 1))])
        last = self.address_of(trace, "last")
        rounds = range(self.options.rounds)
        plain, ends, one, many = [], [], [], []
        for _ in rounds:
            plain.append(timed(lambda: subprocess.run([self.detrec, "replay", "-a", trace], check=True,
                                                      stdout=subprocess.DEVNULL))[0])
            ends.append(self.run_to_end(trace))
            one.append(self.run_to_end(trace, [f"Z2,{last + 64:x},8"]))
            many.append(self.run_to_end(trace, [f"Z2,{last + 4096 + 64 * i:x},8" for i in range(100)]))
        self.row("plain replay of 1e9 ticks", statistics.median(plain), "s")
        self.row("continue to the end", statistics.median(ends), "s")
        for name, samples, goal in ("1 watchpoint", one, 4), ("100 watchpoints", many, 5):
            ratio = statistics.median(sample / base for sample, base in zip(samples, plain))
            self.row(f"replay with {name}", ratio, "x plain", goal)
        with self.client(trace) as client:
            client.ask("vCont;c")
            end = client.when()[1]
            expect(client.ask(f"Z2,{last:x},8") == "OK", "no watchpoint")
            seconds, reply = timed(lambda: client.ask("bc"))
            expect("watch:" in reply, reply)
            self.row("reverse-continue to the last write", seconds, "s", 10)
            client.ask(f"z2,{last:x},8")
            self.steps_and_seeks(client, client.when()[0], end)

    def steps_and_seeks(self, client, event, end):
        """Random places behind an event, and steps back from them."""
        chance, seeks, steps = random.Random(SEED), [], []
        for _ in range(40):
            to = (event, chance.randrange(end // 10, end - 10_000), 0)
            seconds, there = timed(lambda to=to: client.seek(to))
            expect(to[1] <= there[1] <= to[1] + 1, f"{to}: {there}")
            seeks.append(seconds)
            before = there
            for _ in range(10):
                steps.append(timed(lambda: client.ask("bs"))[0])
                now = client.when()
                expect(now < before, f"a step back from {before} leads to {now}")
                before = now
        ms = sorted(1000 * s for s in steps)
        self.row("seek, median", 1000 * statistics.median(seeks), "ms")
        self.row("seek, worst", 1000 * max(seeks), "ms", 5000)
        self.row("reverse-stepi, median", statistics.median(ms), "ms", 20)
        self.row("reverse-stepi, 99th percentile", ms[len(ms) * 99 // 100], "ms", 200)

    def checkpoints(self):
        """A checkpoint of 200 MB, and what it costs when a tenth is changed."""
        program = self.build(Path(__file__).parent / "programs" / "touches.c")
        trace = self.record("touches", [program, "200"])
        stage = self.address_of(trace, "stage")
        times, memory = [], []
        for _ in range(self.options.rounds):
            with self.client(trace) as client:
                expect(client.ask(f"Z2,{stage:x},4") == "OK", "no watchpoint")
                expect("watch:" in client.ask("vCont;c"), "the memory is not touched")
                client.stepi()
                before = self.memory_of(client)
                took = re.search(r"\((\d+\.\d) ms\)", client.monitor("checkpoint"))
                times.append(float(took[1]))
                expect("watch:" in client.ask("vCont;c"), "the memory is not changed")
                memory.append((self.memory_of(client) - before) / 1024)
        self.row("checkpoint of 200 MB", statistics.median(times), "ms", 20)
        self.row("checkpoints, a tenth changed", statistics.median(memory), "MiB", 30)

    def memory_of(self, client):
        """KiB of the replayed processes, shared pages counted once."""
        total = 0
        with open(f"/proc/{client.process.pid}/task/{client.process.pid}/children") as children:
            own = children.read().split()
        for task in os.listdir(f"/proc/{client.process.pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{client.process.pid}/task/{task}/children") as children:
                own += children.read().split()
        for pid in set(own):
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                total += int(re.search(r"^Pss:\s+(\d+)", rollup.read(), re.M)[1])
        return total

    def measure(self):
        """All wanted rows."""
        for name, action in ("first prompt", self.first_prompt), ("motions", self.motions), ("checkpoints", self.checkpoints):
            if self.wants(name):
                action()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-n", "--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="'first prompt', 'motions' or 'checkpoints'")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--smoke", action="store_true", help="one round of short runs: does the benchmark itself work?")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.rounds = 1 if options.smoke else options.rounds
    with tempfile.TemporaryDirectory(prefix="gdb-bench-") as work:
        bench = Bench(options, work)
        bench.measure()
    lines = [[r["what"], f"{r['value']:.3g} {r['unit']}", "-" if r["goal"] is None else f"{r['goal']} {r['unit']}"]
             for r in bench.rows]
    print("\n" + results.format_table(["what", "measured", "first goal"], lines))
    (options.json or options.build / "gdb_bench.json").write_text(json.dumps(
        {"load": os.getloadavg()[0], "rows": bench.rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
