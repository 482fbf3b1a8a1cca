#!/usr/bin/env python3
"""Ticks and positions of a program without outside input are the same in every run.

    determinism.py --manifest build/guests/guests.manifest --detrec build/bin/detrec [--runs 5] [--positions 20] [NAME...]

For each guest: `--ticks` is equal over the runs (and under slices); `--stop-at TICKS` at positions spread over the whole
run stops there, and each stop repeated gives the same pc and register hash; stopping at that tick and pc again, as
TICKS:PC, is the same position; later positions never lie before earlier ones; the output up to a stop is a prefix of the
whole output. Registers are compared for guests without library only: libc's start-up takes random bytes from the kernel
(stack protector, allocator), which now and then lie in a register. Prints one line a guest; the last line is
'N passed, N failed'.
"""

import argparse
import concurrent.futures
import os
import re
import sys
import tempfile

import harness
import run_guests

# Guests whose first process depends on nothing outside: no time, no signals from outside. Some die of a signal.
DEFAULT = [
    "loader/hello_static", "loader/hello_no_pie", "control/recursion", "control/conditions",
    "control/flags_across", "control/odd_returns", "control/loop_instructions", "control/carry_chains",
    "control/far_apart", "control/self_loops", "loader/exceptions_static", "control/indirect_calls", "control/compute",
    "signals/jump_out", "signals/fault_strings", "code/self_patching", "code/generator", "code/much_code",
    "memory/remap", "corners/push_return_loop", "signals/die_segv", "signals/die_abort", "signals/die_term",
    "signals/die_kill", "process/child_computes", "process/spawn", "process/vfork",
]  # fmt: skip

# No library, so nothing random ever reaches a register.
CLOSED = ["control/freestanding", "control/rip_relative", "control/rip_relative_high", "loader/nostdlib_high"]

STOPPED = re.compile(r"^stopped at ticks=(\d+) pc=0x([0-9a-f]+) registers=([0-9a-f]{16})$", re.MULTILINE)
TICKS = re.compile(r"^ticks: (\d+)$", re.MULTILINE)


class Subject:
    """One guest and how it is run; every run in a fresh folder of the same name."""

    def __init__(self, guest, detrec, work, timeout):
        self.guest, self.detrec, self.work, self.timeout = guest, detrec, work, timeout

    def run(self, *options):
        prefix = [self.detrec, "run", "--engine-only", *options, "--"]
        return run_guests.run_once(self.guest, prefix, self.timeout, self.work, "")

    def ticks(self, *options):
        """(ticks, outcome); ticks is None when the run was not well."""
        outcome = self.run("--ticks", *options)
        match = TICKS.search(outcome.stderr.decode("utf-8", "replace"))
        well = match and not outcome.timed_out and outcome.status == self.guest.expected_status()
        return (int(match[1]) if well else None), outcome

    def stop(self, text):
        """((ticks, pc, register hash), outcome) of a run with --stop-at; the first is None when it did not stop."""
        outcome = self.run("--stop-at", text)
        match = STOPPED.search(outcome.stderr.decode("utf-8", "replace"))
        if not match or outcome.timed_out or outcome.status != 0:
            return None, outcome
        registers = match[3] if self.guest.name in CLOSED else "not compared"
        return (int(match[1]), int(match[2], 16), registers), outcome


def check(subject, runs, positions):
    """The problems found with one guest, as lines."""
    total, whole = subject.ticks()
    if total is None:
        return [f"the whole run: status {whole.status}"] + run_guests.tail(whole.stderr)
    problems = []
    for _ in range(runs - 1):
        again, outcome = subject.ticks()
        if again != total or outcome.stdout != whole.stdout:
            problems.append(f"ticks {total} in the first run, {again} in a later one")
    for slice_text in ("1000+50", "97+13"):
        again, outcome = subject.ticks("--slice", slice_text)
        if again != total or outcome.stdout != whole.stdout:
            problems.append(f"ticks {total} without slices, {again} with --slice {slice_text}")
    if total == 0:
        return problems
    previous = 0
    for wanted in sorted({1 + (total - 1) * i // max(positions - 1, 1) for i in range(positions)}):
        problems += check_position(subject, wanted, previous, whole)
        previous = wanted
    beyond, outcome = subject.stop(str(total + 1000))
    if beyond is not None or outcome.status != subject.guest.expected_status() or outcome.stdout != whole.stdout:
        problems.append(f"a stop behind the end (ticks {total + 1000}) changed the run: {beyond}, status {outcome.status}")
    return problems


def check_position(subject, wanted, previous, whole):
    """The problems with stopping at one tick."""
    first, outcome = subject.stop(str(wanted))
    if first is None:
        return [f"--stop-at {wanted}: did not stop, status {outcome.status}"] + run_guests.tail(outcome.stderr)
    problems = []
    if first[0] != wanted:
        problems.append(f"--stop-at {wanted}: stopped at ticks={first[0]}")
    if first[0] < previous:
        problems.append(f"--stop-at {wanted}: lies before the position of {previous}")
    if not whole.stdout.startswith(outcome.stdout):
        problems.append(f"--stop-at {wanted}: its output is no prefix of the whole run's")
    second, _ = subject.stop(str(wanted))
    if second != first:
        problems.append(f"--stop-at {wanted}: {show(first)}, then {show(second)}")
    by_pc, _ = subject.stop(f"{wanted}:0x{first[1]:x}")
    if by_pc != first:
        problems.append(f"--stop-at {wanted}:0x{first[1]:x}: {show(by_pc)}, by ticks alone {show(first)}")
    return problems


def show(position):
    """A position for people."""
    return "nowhere" if position is None else f"ticks={position[0]} pc=0x{position[1]:x} registers={position[2]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    guests = run_guests.select(run_guests.load_manifest(options.manifest), options.names or CLOSED + DEFAULT)
    harness.become_subreaper()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="determinism-") as work:
        subjects = [Subject(g, os.path.abspath(options.detrec), work, options.timeout) for g in guests]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            checks = [pool.submit(check, s, options.runs, options.positions) for s in subjects]
            for subject, running in zip(subjects, checks):
                problems = running.result()
                passed, failed = passed + (not problems), failed + bool(problems)
                print(f"{'failed' if problems else 'passed'}  {subject.guest.name}", flush=True)
                for line in problems[:20]:
                    print("    " + line)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
