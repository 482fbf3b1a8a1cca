#!/usr/bin/env python3
"""The time that calls took stands in the trace: sleeps and waiting for input, not the many calls that return at once.

    durations.py --detrec build/bin/detrec
"""

import argparse
import contextlib
import os
import sqlite3
import sys
import tempfile

import common

SCRIPT = """
import os, threading, time
ends = os.pipe()
threading.Thread(target=lambda: (time.sleep(0.2), os.write(ends[1], b'x'))).start()
os.read(ends[0], 1)
for i in range(1000): os.getppid()
"""
SLEPT = 200_000_000
HOUR = 3_600_000_000_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    options = parser.parse_args()
    score = common.Score()
    with tempfile.TemporaryDirectory(prefix="durations-") as work:
        recorder = common.Recorder(options.detrec, work)
        trace = os.path.join(work, "sleep.detrec")
        recorded = recorder.record(["/usr/bin/python3", "-c", SCRIPT], trace)
        with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT name, max(duration_ns), sum(duration_ns = 0), count(*) FROM call GROUP BY name")
            calls = {name: (longest, short, count) for name, longest, short, count in rows}
        # The reader may have come late, when the other thread slept already.
        for name, least in ("clock_nanosleep", SLEPT), ("read", SLEPT // 2):
            longest = calls.get(name, (0, 0, 0))[0]
            problems = [] if least <= longest < HOUR else [f"the longest took {longest} ns"]
            score.add(f"{name}: {least // 1_000_000} ms", problems)
        _, short, count = calls["getppid"]
        score.add("getppid: short", [] if count == 1000 and short > 500 else [f"{short} of {count} took no time"])
        score.add("replay", common.differences(recorded, recorder.replay(trace)))
    return score.conclude()


if __name__ == "__main__":
    sys.exit(main())
