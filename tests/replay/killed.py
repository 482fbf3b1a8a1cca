#!/usr/bin/env python3
"""Recordings that end early: the program killed, the recorder killed, either at any moment. The program must not
survive, and the trace must replay up to where it goes and say how it ends.

    killed.py --detrec build/bin/detrec [--repeat N]
"""

import argparse
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import common
from common import harness

BUSY = """
import sys, time
for i in range(1000000):
    print(i, flush=True)
    if i % 200 == 0: time.sleep(0.001)
"""
LONGEST_LINE = 9  # a write that the kernel did, but that did not come to be recorded
SLEEPER = "import time; print('asleep', flush=True); time.sleep(1000)"
THREADS = """
import threading
def spin():
    while True: pass
for _ in range(3): threading.Thread(target=spin).start()
print('spinning', flush=True)
spin()
"""
SPINNER = "print('spinning', flush=True)\nwhile True: pass"


def guest_of(detrec):
    """The process that detrec runs."""
    with open(f"/proc/{detrec}/task/{detrec}/children") as file:
        return int(file.read().split()[0])


def lines_of(path):
    with open(path, "rb") as file:
        return file.read()


def wait_until(condition, seconds=30):
    """Whether it comes true in that time, which a busy machine may need."""
    deadline = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(holds)


def output_rows(trace):
    """How much of the program's output has come to the file."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM output").fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def is_gone(pid):
    """Whether the process has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rsplit(b")", 1)[1].split()[0] == b"Z"
    except FileNotFoundError:
        return True


def run_and_kill(recorder, script, whom, after):
    """Records the script, kills the guest or detrec; returns (problems, recorded stdout, status, trace)."""
    folder = recorder.fresh("killed")
    trace = os.path.join(recorder.work, "killed.detrec")
    if os.path.exists(trace):
        os.unlink(trace)
    out = os.path.join(folder, "stdout")
    argv = [recorder.detrec, "record", "-q", "-o", trace, "--", "/usr/bin/python3", "-c", script]
    with open(out, "wb") as stdout:
        process = subprocess.Popen(argv, cwd=folder, env=common.ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=stdout,
                                   stderr=subprocess.PIPE)  # fmt: skip
    wait_until(lambda: lines_of(out))
    if after:
        time.sleep(after)
        wait_until(lambda: output_rows(trace))
    guest = guest_of(process.pid)
    os.kill(guest if whom == "guest" else process.pid, signal.SIGKILL)
    problems = []
    if not wait_until(lambda: is_gone(guest), 20):
        problems.append("the program survives")
        os.kill(guest, signal.SIGKILL)
    process.communicate(timeout=60)
    return problems, lines_of(out), process.returncode, trace


def ticks_beyond_last_event(recorder, trace):
    """How far the program is known to have computed when it was killed."""
    dump = subprocess.run([recorder.detrec, "dump", "--json", trace], capture_output=True, check=True).stdout
    events = [json.loads(line) for line in dump.splitlines()]
    end = events[-1]
    before = [e["ticks"] for e in events[:-1] if e["thread"] == end["thread"] and e["kind"] != "data"]
    return end["ticks"] - before[-1] if end["kind"] == "exit" and end["cause"] == "killed" else -1


def ticks_add_up(recorder, trace):
    """Whether the trace says how much all threads have computed."""
    info = subprocess.run([recorder.detrec, "info", "--json", trace], capture_output=True, check=True).stdout
    with contextlib.closing(sqlite3.connect(trace)) as database:
        computed = database.execute("SELECT sum(ticks) FROM thread").fetchone()[0]
    return int(json.loads(info)["recording"]["ticks"]) == computed > 0


def check(recorder, script, whom, after):
    """Problems of one case."""
    problems, stdout, status, trace = run_and_kill(recorder, script, whom, after)
    replayed = recorder.replay(trace, 60)
    if replayed.timed_out:
        problems.append("the replay hangs")
    if not stdout.startswith(replayed.stdout):
        problems.append("the replay writes other than the program did")
    if whom == "guest":
        if status != 137:
            problems.append(f"detrec record ended with {status}, expected 137")
        if replayed.status != 137:
            problems.append(f"replay: status {harness.describe_status(replayed.status)}, expected 137")
        if script == SPINNER and after and ticks_beyond_last_event(recorder, trace) < 1000000:
            problems.append("the ticks of the end are not known")
        if script in (SPINNER, THREADS) and not ticks_add_up(recorder, trace):
            problems.append("info's ticks are not those of the threads")
        if len(stdout) - len(replayed.stdout) > LONGEST_LINE:
            problems.append(f"replay: {len(replayed.stdout)} of {len(stdout)} bytes of output")
    else:
        if replayed.status != 125:
            problems.append(f"replay: status {harness.describe_status(replayed.status)}, expected 125")
        if b"cut off" not in replayed.stderr:
            problems.append("the replay does not say that the recording was cut off")
        if after and not replayed.stdout:
            problems.append("nothing was flushed")
    return problems + ["| " + line for line in replayed.stderr.decode("utf-8", "replace").splitlines()[:4] if problems]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    harness.become_subreaper()
    score = common.Score()
    with tempfile.TemporaryDirectory(prefix="killed-") as work:
        recorder = common.Recorder(options.detrec, work)
        for _ in range(options.repeat):
            for name, script in (("busy", BUSY), ("sleeper", SLEEPER), ("spinner", SPINNER), ("threads", THREADS)):
                for whom in ("guest", "recorder"):
                    for after in (0, 1):
                        problems = check(recorder, script, whom, after)
                        score.add(f"{name}: {whom} killed after {after} s", problems)
    return score.conclude()


if __name__ == "__main__":
    sys.exit(main())
