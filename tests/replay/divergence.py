#!/usr/bin/env python3
"""Changes single things of a recording: a replay must stop there with status 125 and say where, and never hang.

    divergence.py --detrec build/bin/detrec --reseal build/bin/reseal [--sweep]

--sweep tries every change on every event: a changed value that the program never looks at may go unnoticed then, but
anything else than status 125 or the recorded run is a failure.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import common
from common import harness

SECONDS = 20


class Trace:
    """A recording of programs/everything.c and what is in it."""

    def __init__(self, recorder, reseal):
        self.recorder, self.reseal = recorder, os.path.abspath(reseal)
        self.path = os.path.join(recorder.work, "everything.detrec")
        program = common.build("everything.c", recorder.fresh("files"))
        self.recorded = recorder.record([program], self.path)
        dump = subprocess.run([recorder.detrec, "dump", "--json", self.path], capture_output=True, check=True).stdout
        self.events = [e for e in map(json.loads, dump.splitlines()) if e["kind"] != "data"]

    def find(self, what, last=False):
        """The number of an event for which what(event) is true."""
        found = [e for e in self.events if what(e)]
        if not found:
            sys.exit("the recording lacks an event that the test needs")
        return found[-1 if last else 0]["event"]

    def changed(self, change):
        """The replay of a copy with the change; None when the change does not fit the event."""
        copy = os.path.join(self.recorder.work, "changed.detrec")
        done = subprocess.run([self.reseal, self.path, copy, *map(str, change)], capture_output=True, text=True)
        return self.recorder.replay(copy, SECONDS) if done.returncode == 0 else None


def where(outcome):
    """The event up to which the replay was like the recording."""
    match = re.search(rb"differs from the recording at (\d+):", outcome.stderr)
    return int(match[1]) if match else None


def is_call(name):
    return lambda event: event.get("kind") == "syscall" and event.get("name") == name


def is_kind(kind, **more):
    return lambda event: event["kind"] == kind and all(event.get(k) == v for k, v in more.items())


def cases(trace):
    """(what, change, the event after which the replay must stop at the latest)."""
    find = trace.find
    write = find(is_call("write"), last=True)
    first_write = find(is_call("write"))
    read = find(is_call("read"), last=True)
    random = find(lambda e: is_call("getrandom")(e) and e["event"] < first_write, last=True)
    clock = find(is_call("clock_gettime"))
    rdtsc = find(lambda e: e["kind"] == "instruction" and e["event"] > clock)
    cpuid = find(lambda e: e["kind"] == "instruction" and e["event"] > rdtsc)
    alarm = find(lambda e: e["kind"] == "signal" and "ALRM" in json.dumps(e))
    turn = find(is_kind("turn"))
    thread = find(is_kind("thread"))
    end = find(is_kind("exit"), last=True)
    brk = find(is_call("brk"), last=True)
    return [
        ("a byte of random data", ["data", random, 0, 1], first_write),
        ("a byte of the time", ["data", clock, 0, 1], rdtsc + 2),
        ("a byte of a file", ["data", read, 3, 1], write),
        ("an argument", ["arg", read, 2, 21], read),
        ("a call's number", ["number", read, 17], read),
        ("the result of a read", ["result", read, 0], write),
        ("the result of a failing open", ["result", read - 1, (1 << 64) - 2], read),
        ("the place of a mapping", ["result", brk, 0x200010022000], write),
        ("what a call passes in memory", ["hash", write, 5], write),
        ("ticks of a call", ["ticks", write, 1], write),
        ("ticks of a call, fewer", ["ticks", write, (1 << 64) - 1], write),
        ("the pc of a call", ["pc", write, 1], write),
        ("the thread of a call", ["thread", write, 2], write),
        ("a time stamp", ["value", rdtsc, 0, 12345], rdtsc + 1),
        ("a cpuid answer", ["value", cpuid, 1, 0x41414141], cpuid + 1),
        ("a signal's tick", ["ticks", alarm, 5], alarm + 1),
        ("a signal's place", ["pc", alarm, 1], alarm),
        # One of them is the next instruction, which the program itself would not notice.
        *((f"a signal's place, {n} bytes on", ["pc", alarm, n], alarm) for n in range(2, 12)),
        ("registers at a signal", ["registers", alarm, 1], alarm),
        ("a signal's number", ["signal", alarm, 8], alarm + 3),
        ("a turn's tick", ["ticks", turn, 1], turn),
        ("the thread of a turn", ["thread", turn, 2], turn),
        ("a new thread's number", ["thread", thread, 2], thread),
        ("a missing call", ["drop", read], read),
        ("a missing signal", ["drop", alarm], alarm),
        ("a missing turn", ["drop", turn], turn),
        ("a repeated call", ["repeat", read], read + 1),
        ("a repeated signal", ["repeat", alarm], alarm + 2),
        ("events in another order", ["swap", read], read),
        ("the exit status", ["status", end, 3], end),
        ("registers at the end", ["registers", end, 1], end),
    ]


def check(trace, what, change, latest):
    """Problems with one change that must be noticed."""
    outcome = trace.changed(change)
    if outcome is None:
        return [f"reseal refuses {change}"]
    problems = []
    if outcome.timed_out:
        problems.append(f"still running after {SECONDS} s")
    elif outcome.status != 125:
        problems.append(f"status {harness.describe_status(outcome.status)}, expected 125")
    elif where(outcome) is None:
        problems.append("no divergence is reported")
    elif where(outcome) >= latest:
        problems.append(f"noticed after event {where(outcome)}, expected before event {latest}")
    elif not all(part in outcome.stderr for part in (b"recorded next:", b"last events", b"registers:", b"code at")):
        problems.append("the report is not complete")
    if not trace.recorded.stdout.startswith(outcome.stdout):
        problems.append("other output than recorded before it was noticed")
    return problems + ["| " + line for line in outcome.stderr.decode("utf-8", "replace").splitlines()[:3] if problems]


def sweep(trace):
    """Every change at every event."""
    changes = ["ticks {} 1", "pc {} 1", "thread {} 2", "drop {}", "repeat {}", "swap {}", "result {} 1", "number {} 39",
               "arg {} 0 5", "hash {} 77", "value {} 0 9", "signal {} 12", "status {} 9", "registers {} 1", "data {} 0 255",
               "end {}"]  # fmt: skip
    failed = unnoticed = noticed = 0
    for event in range(1, len(trace.events) + 1):
        for text in changes:
            change = text.format(event).split()
            outcome = trace.changed(change)
            if outcome is None:
                continue
            if outcome.status == 125 and not outcome.timed_out:
                noticed += 1
            elif outcome.status == trace.recorded.status and outcome.stdout == trace.recorded.stdout:
                unnoticed += 1
                print(f"unnoticed: {' '.join(change)}: {trace.events[event - 1]['kind']}"
                      f" {trace.events[event - 1].get('name', '')}")  # fmt: skip
            else:
                failed += 1
                print(f"FAILED  {' '.join(change)}: status {outcome.status}, timed out {outcome.timed_out}: "
                      f"{outcome.stderr[:300]!r}")  # fmt: skip
    print(f"{noticed} noticed, {unnoticed} had no effect")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--reseal", required=True)
    parser.add_argument("--sweep", action="store_true")
    options = parser.parse_args()
    harness.become_subreaper()
    score = common.Score()
    with tempfile.TemporaryDirectory(prefix="divergence-") as work:
        trace = Trace(common.Recorder(options.detrec, work), options.reseal)
        unchanged = common.differences(trace.recorded, trace.recorder.replay(trace.path))
        if unchanged:
            print("FAILED  unchanged\n" + "\n".join(unchanged))
            return 1
        for what, change, latest in cases(trace):
            problems = check(trace, what, change, latest)
            score.add(f"{what} ({' '.join(map(str, change))})", problems)
        if options.sweep:
            score.failed += sweep(trace)
    return score.conclude()


if __name__ == "__main__":
    sys.exit(main())
