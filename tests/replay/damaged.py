#!/usr/bin/env python3
"""Traces that could not be written to their end, that were damaged since, or that may only be read.

    damaged.py --detrec build/bin/detrec [--mutations N] [--seed N]

* The disk is full (a small tmpfs; needs the right to mount): the program is ended, the trace replays to the last flush.
* Cut and flipped bytes: a replay ends with 125, or is the recorded run; it never hangs, crashes, or leaves a process.
* A folder and a file without the right to write, two replays of one trace at once, also under gdb's protocol.
"""

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import common
from common import harness

SECONDS = 30
NOBODY = 65534
# A megabyte that does not compress, again and again.
READER = """
import os, sys
for i in range(400):
    with open('/dev/urandom', 'rb') as file: data = file.read(1 << 18)
    print(i, data[0], flush=True)
"""


def explain(problems, outcome):
    """Problems, with the end of what was said."""
    return problems + ["| " + line for line in outcome.stderr.decode("utf-8", "replace").splitlines()[-4:] if problems]


def processes_of(folder):
    """Processes that work in a folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(folder):
                found.append(pid)
        except OSError:
            continue
    return found


# The full disk


def on_small_disk(recorder, size, script):
    """Records the script onto a tmpfs of so many KiB; (outcome, the trace's copy or None). None: it cannot be mounted."""
    folder, copies = recorder.fresh("disk"), recorder.fresh("full")
    copy = os.path.join(copies, "full.detrec")
    inner = f"""
import subprocess, sys, shutil, os
mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size={size}k', 'none', '.'], stderr=subprocess.DEVNULL)
if mounted.returncode != 0: sys.exit(99)
os.chdir(os.getcwd())
done = subprocess.run([sys.argv[1], 'record', '-o', 'full.detrec', '/usr/bin/python3', '-c', sys.argv[2]])
for name in os.listdir('.'): shutil.copy(name, sys.argv[3])  # the trace is in its -wal, too
sys.exit(done.returncode)
"""
    own = [] if os.geteuid() == 0 else ["-r"]
    command = ["unshare", *own, "--mount", sys.executable, "-c", inner, recorder.detrec, script, copies]
    outcome = harness.run(command, folder, common.ENVIRONMENT, b"", 60)
    if outcome.status == 99 or b"unshare" in outcome.stderr:
        return None
    return outcome, copy if os.path.exists(copy) else None


def opens_in_sqlite(trace):
    """Problems of the file as a database."""
    try:
        with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
            state = database.execute("pragma integrity_check").fetchall()
            chunks = database.execute("select count(*) from chunk").fetchone()[0]
        database.close()
    except sqlite3.Error as error:
        return [f"sqlite3: {error}"]
    return ([] if state == [("ok",)] else [f"sqlite3: {state[:3]}"]) + ([] if chunks else ["nothing was flushed"])


def full_disk(recorder, score):
    """A disk that becomes full while recording, and one that is full from the beginning."""
    made = on_small_disk(recorder, 12 * 1024, READER)
    if made is None:
        print("SKIPPED a full disk: mounting is not possible here")
        return
    outcome, trace = made
    problems = []
    if outcome.timed_out or outcome.status != 125:
        problems.append(f"status {harness.describe_status(outcome.status)}, expected 125")
    if b"full" not in outcome.stderr.lower() or b"good up to the last flush" not in outcome.stderr:
        problems.append("the message does not say it")
    if processes_of(os.path.join(recorder.work, "disk")):
        problems.append("a process is left")
    problems += opens_in_sqlite(trace) if trace else ["there is no trace"]
    score.add("the disk becomes full", explain(problems, outcome))
    if trace:
        replayed = recorder.replay(trace)
        problems = []
        if replayed.timed_out or replayed.status != 125:
            problems.append(f"status {harness.describe_status(replayed.status)}, expected 125")
        if b"cut off" not in replayed.stderr:
            problems.append("it does not say that the recording was cut off")
        if not replayed.stdout or not outcome.stdout.startswith(replayed.stdout):
            problems.append("the output is not what the program wrote up to there")
        score.add("replay of what the full disk holds", explain(problems, replayed))
    outcome, _ = on_small_disk(recorder, 8, "print('ran')")
    problems = []
    if outcome.timed_out or outcome.status != 125 or b"full" not in outcome.stderr.lower():
        problems.append(f"status {harness.describe_status(outcome.status)}, expected 125 and why")
    if b"ran" in outcome.stdout:
        problems.append("the program has run")
    score.add("the disk is full from the beginning", explain(problems, outcome))


# Damage


def mutations(trace, count, chance):
    """(what, bytes) of changed copies."""
    with open(trace, "rb") as file:
        whole = file.read()
    for i in range(count):
        changed = bytearray(whole)
        kind = i % 4
        if kind == 0:
            size = chance.randrange(len(whole))
            yield f"cut at {size}", changed[:size]
            continue
        if kind == 1:
            page = chance.randrange(len(whole) // 4096) * 4096
            changed[page : page + 4096] = bytes(4096)
            yield f"zeros at {page}", changed
            continue
        places = [chance.randrange(min(len(whole), 16384 if kind == 2 else len(whole))) for _ in range(1 + i % 5)]
        for place in places:
            changed[place] ^= 1 << chance.randrange(8)
        yield f"bits flipped at {places}", changed


def damaged(recorder, score, trace, recorded, count, seed):
    """Replays of damaged copies."""
    chance = random.Random(seed)
    copy = os.path.join(recorder.work, "damaged.detrec")
    problems, refused = [], 0
    for what, content in mutations(trace, count, chance):
        with open(copy, "wb") as file:
            file.write(content)
        outcome = recorder.replay(copy, SECONDS)
        if outcome.timed_out:
            problems.append(f"{what}: hangs")
        elif outcome.status == 125 and b"detrec: " in outcome.stderr:
            refused += 1
        elif outcome.status != recorded.status or outcome.stdout != recorded.stdout:
            problems.append(f"{what}: status {harness.describe_status(outcome.status)}: {outcome.stderr[-300:]!r}")
    if refused < count / 4:
        problems.append(f"only {refused} of {count} were refused")
    score.add(f"{count} damaged traces (seed {seed}), {refused} refused", problems)


# Readers


def session(recorder, trace, user=None):
    """A `replay --stdio`, as a list of packets to it: it answers one at a time."""
    switch = (lambda: os.setuid(user)) if user is not None else None
    return subprocess.Popen([recorder.detrec, "replay", "--stdio", trace], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, cwd="/", preexec_fn=switch)  # fmt: skip


def ask(process, body):
    """The reply to a packet."""
    process.stdin.write(b"+$%s#%02x" % (body, sum(body) & 255))
    process.stdin.flush()
    text = b""
    while not text.endswith(b"#"):
        byte = process.stdout.read(1)
        if not byte:
            raise RuntimeError(process.stderr.read().decode("utf-8", "replace"))
        text += byte
    process.stdout.read(2)
    reply = text[text.rindex(b"$") + 1 : -1]
    return reply if not reply.startswith(b"O") or reply == b"OK" else ask_more(process)


def ask_more(process):
    """What follows console output."""
    process.stdin.write(b"+")
    process.stdin.flush()
    text = b""
    while not text.endswith(b"#"):
        text += process.stdout.read(1)
    process.stdout.read(2)
    return text[text.rindex(b"$") + 1 : -1]


def walk(processes):
    """Sends the same motions to all, in turns; problems."""
    problems = []
    for body in (b"?", b"vCont;s", b"vCont;s", b"vCont;c", b"bs", b"bc", b"vCont;s", b"g"):
        replies = {ask(process, body) for process in processes}
        if len(replies) != 1:
            problems.append(f"{body}: {replies}")
        if body == b"vCont;c" and not all(b"replaylog:end" in reply for reply in replies):
            problems.append(f"the end is not reached: {replies}")
    for process in processes:
        process.stdin.close()
        process.wait(timeout=10)
        process.stdout.close()
        process.stderr.close()
    return problems


def at_once(recorder, score, trace, recorded):
    """Several replays of one trace at the same time."""
    command = [recorder.detrec, "replay", "-a", trace]
    both = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    problems = []
    sessions = [session(recorder, trace) for _ in range(2)]
    problems += walk(sessions)
    for process in both:
        stdout, stderr = process.communicate(timeout=SECONDS)
        if process.returncode != recorded.status or stdout != recorded.stdout:
            problems.append(f"-a: status {process.returncode}: {stderr[-200:]!r}")
    score.add("two replays and two debuggers at once", problems)


def read_only(recorder, score, trace, recorded):
    """A trace that cannot be written, in a folder that cannot be written, by a user who may not."""
    if os.geteuid() != 0:
        print("SKIPPED a user who may only read: this needs root")
        return
    folder = recorder.fresh("read-only")
    copy = os.path.join(folder, "trace.detrec")
    shutil.copy(trace, copy)
    os.chmod(copy, 0o444)
    os.chmod(folder, 0o555)
    done = subprocess.run([recorder.detrec, "replay", "-a", copy], cwd="/", capture_output=True, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, preexec_fn=lambda: os.setuid(NOBODY))  # fmt: skip
    problems = []
    if done.returncode != recorded.status or done.stdout != recorded.stdout:
        problems.append(f"status {done.returncode}: {done.stderr[-300:]!r}")
    problems += walk([session(recorder, copy, NOBODY)])
    if sorted(os.listdir(folder)) != ["trace.detrec"]:
        problems.append(f"files beside the trace: {os.listdir(folder)}")
    score.add("a user who may only read", problems)
    done = subprocess.run([recorder.detrec, "record", "-o", os.path.join(folder, "new.detrec"), "/bin/true"], cwd="/",
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS,
                          preexec_fn=lambda: os.setuid(NOBODY))  # fmt: skip
    problems = [] if done.returncode == 125 and b"detrec: " in done.stderr else [f"{done}"]
    score.add("recording into a folder that cannot be written", problems)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--mutations", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    harness.become_subreaper()
    score = common.Score()
    with tempfile.TemporaryDirectory(prefix="damaged-") as work:
        os.chmod(work, 0o755)
        recorder = common.Recorder(options.detrec, work)
        trace = os.path.join(work, "threads.detrec")
        recorded = recorder.record([common.build("threads.c", recorder.fresh("files"))], trace)
        full_disk(recorder, score)
        damaged(recorder, score, trace, recorded, options.mutations, options.seed)
        at_once(recorder, score, trace, recorded)
        read_only(recorder, score, trace, recorded)
    return score.conclude()


if __name__ == "__main__":
    sys.exit(main())
