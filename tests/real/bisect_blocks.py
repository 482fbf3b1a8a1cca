#!/usr/bin/env python3
"""Finds the first translated block that makes a program misbehave under the engine.

    bisect_blocks.py --detrec build/bin/detrec [--check status|output|both] [--timeout S] [--option=OPT] -- PROG ARGS...

The engine's hidden option --translate-limit N translates N blocks and then goes on instruction by instruction. A run is
good when it equals the native one (by --check). The highest N whose run is good and the lowest whose run is bad are
neighbours in the end: block N+1 is to blame (or the link to it). With --trace the bad run's last blocks are shown.
Exit status: 0 found, 1 nothing to find (the unlimited run is good), 2 even single-stepping everything is bad.
"""

import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "guests"))

import harness  # noqa: E402


class Bisection:
    """Runs the command with a limit and tells good from bad."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.runs = 0
        with open(options.stdin or "/dev/null", "rb") as file:
            self.stdin = file.read()
        self.native = self.run([])

    def run(self, prefix, timeout=None):
        """One run in the working folder."""
        self.runs += 1
        return harness.run(prefix + self.options.command, self.folder, dict(os.environ), self.stdin,
                           timeout or self.options.timeout)  # fmt: skip

    def outcome(self, limit, extra=()):
        """The run with a limit on translated blocks; None: without."""
        prefix = [self.options.detrec, "run", "--engine-only", *self.options.option, *extra]
        if limit is not None:
            prefix += ["--translate-limit", str(limit)]
        return self.run(prefix + ["--"])

    def good(self, limit):
        """Does the run with this limit equal the native one?"""
        outcome = self.outcome(limit)
        bad = outcome.timed_out
        if self.options.check in ("status", "both"):
            bad = bad or outcome.status != self.native.status
        if self.options.check in ("output", "both"):
            bad = bad or outcome.stdout != self.native.stdout
        what = "timed out" if outcome.timed_out else harness.describe_status(outcome.status)
        print(f"limit {'none' if limit is None else limit}: {'bad' if bad else 'good'} (status {what})", flush=True)
        return not bad

    def search(self):
        """(highest good, lowest bad) limit, or None when there is nothing to find."""
        if self.good(None):
            return None
        low, high = 1, 2  # 0 would mean no limit
        if not self.good(low):
            raise RuntimeError("bad even with one translated block: not a matter of translated blocks")
        while self.good(high):
            low, high = high, high * 4
            if high > 1 << 40:
                raise RuntimeError("good with every limit, bad without: not a matter of one block")
        while high - low > 1:
            middle = (low + high) // 2
            if self.good(middle):
                low = middle
            else:
                high = middle
        return low, high


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--check", choices=["status", "output", "both"], default="both")
    parser.add_argument("--timeout", type=float, default=600.0)
    parser.add_argument("--option", action="append", default=[], help="a further option for detrec run; repeatable")
    parser.add_argument("--stdin", help="a file for standard input")
    parser.add_argument("--trace", type=int, default=0, metavar="LINES", help="show so many lines of the bad run's trace")
    parser.add_argument("--keep-folder", action="store_true", help="run in the current folder instead of an empty one")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    options.detrec = os.path.abspath(options.detrec)
    with tempfile.TemporaryDirectory(prefix="bisect-") as empty:
        bisection = Bisection(options, os.getcwd() if options.keep_folder else empty)
        print(f"native: status {harness.describe_status(bisection.native.status)}")
        try:
            found = bisection.search()
        except RuntimeError as error:
            print(error)
            return 2
        if found is None:
            print("the run without limit is good")
            return 1
        print(f"good with {found[0]} blocks, bad with {found[1]}: block number {found[1]} is to blame ({bisection.runs} runs)")
        if options.trace:
            bad = bisection.outcome(found[1], ["--trace-level", "3"])
            for line in bad.stderr.decode("utf-8", "backslashreplace").splitlines()[-options.trace :]:
                print("    " + line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
