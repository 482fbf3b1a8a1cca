#!/usr/bin/env python3
"""Records real programs and replays them: output and status must be the recorded ones.

    real_replay.py --detrec build/bin/detrec [--all] [--repeat N] [--slice N[+M]] [NAME...]

Without --all the programs that take long are left out. A program that is not installed is a failure, unless
--allow-missing is given: then it is listed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

import common
from common import harness

PYTHON = """
import hashlib, os, random, socket, sys, tempfile, threading, time
print(random.random(), time.time(), time.perf_counter(), os.getpid(), hash("text"), os.urandom(4).hex())
with tempfile.NamedTemporaryFile() as file:
    file.write(os.urandom(5000)); file.flush(); file.seek(0)
    print(file.name, hashlib.sha256(file.read()).hexdigest())
server = socket.create_server(("127.0.0.1", 0))
def answer():
    connection, _ = server.accept()
    while data := connection.recv(1000):
        connection.sendall(data.upper())
    connection.close()
thread = threading.Thread(target=answer); thread.start()
client = socket.create_connection(server.getsockname())
for i in range(20):
    client.sendall(b"message %d" % i); print(client.recv(1000))
client.close(); thread.join()
total = 0
def add():
    global total
    for _ in range(20000): total += 1
threads = [threading.Thread(target=add) for _ in range(3)]
[t.start() for t in threads]; [t.join() for t in threads]
print(total, sorted(os.listdir("/usr"))[:4])
time.sleep(0.01)
print("to stderr", file=sys.stderr)
sys.exit(7)
"""

SQL = b"""create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
  insert into t select i, hex(randomblob(8)), random() / 1e9 from n;
create index tb on t(b);
select count(*), sum(a), max(b) from t;
select a, b from t order by b limit 5;
begin; delete from t where a % 3 = 0; rollback; vacuum;
update t set c = c * 2 where a % 2 = 0; select total(c), datetime('now') from t;
"""

PERL = r"""srand; my %h; $h{int rand 1000}++ for 1..20000; print join(",", map { "$_=$h{$_}" } (keys %h)[0..9]), "\n";
print time, " $$ ", scalar(localtime), "\n"; local $SIG{ALRM} = sub { print "alarm\n" }; alarm 1; sleep 2; exit 3"""


def cc1():
    """The C compiler proper."""
    return subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip() or "cc1"


def commands(folder):
    """(name, quick, command, stdin) of every program; files that they read are made in `folder`."""
    text = os.path.join(folder, "text")
    with open(text, "w") as file:
        for i in range(12000):
            file.write(f"line {i} of {i * 7919 % 10007} {'lorem ipsum' if i % 3 else 'dolor sit amet'}\n")
    source = os.path.join(folder, "source.i")
    with open(os.path.join(common.HERE, "programs", "threads.c"), "rb") as file:
        done = subprocess.run(["gcc", "-E", "-"], input=file.read(), capture_output=True, check=True)
    with open(source, "wb") as file:
        file.write(done.stdout)
    repository = os.path.join(folder, "repository")
    git = ["git", "-C", repository, "-c", "user.name=n", "-c", "user.email=e@x", "-c", "gc.auto=0", "-c", "core.pager=cat"]
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q", repository], check=True)
        for i in range(4):
            shutil.copy(text, os.path.join(repository, f"file{i}"))
            subprocess.run([*git, "add", "-A"], check=True)
            subprocess.run([*git, "commit", "-q", "-m", f"commit {i}"], check=True)
        with open(os.path.join(repository, "file1"), "a") as file:
            file.write("changed\n")
    programs = {
        name: common.build(name, folder)
        for name in ("threads.c", "exceptions.cc", "faults.c", "timer.c", "crash.c", "mapped.c", "rewritten.c")
    }
    python = "/usr/bin/python3"
    rows = [
        ("sqlite3", True, ["sqlite3", "test.db"], SQL),
        ("sqlite3-wal", False, ["sqlite3", "test.db"], b"pragma journal_mode=wal; pragma mmap_size=1000000;" + SQL),
        ("python3", True, [python, "-c", PYTHON], b""),
        ("python3-exec", True, [python, "-c", "import os; os.execvp('date', ['date', '+%s.%N'])"], b""),
        ("perl", True, ["perl", "-e", PERL], b""),
        ("gzip", True, ["gzip", "-9c", text], b""),
        ("xz", True, ["xz", "-c", "-T1", text], b""),
        ("xz-threads", False, ["xz", "-c", "-T3", "--block-size=100000", text], b""),
        ("bzip2", True, ["bzip2", "-c", text], b""),
        ("cc1", True, [cc1(), "-O2", "-quiet", "-fpreprocessed", source, "-o", "-"], b""),
        ("vim", True, ["vim", "-es", "-u", "NONE", "-c", "normal ihello", "-c", "w! out", "-c", "%print", "-c", "q!"], b""),
        ("git-status", True, [*git, "status", "--short", "--branch"], b""),
        ("git-log", True, [*git, "log", "--stat"], b""),
        ("openssl", True, ["openssl", "rand", "-hex", "32"], b""),
        ("openssl-genrsa", False, ["openssl", "genrsa", "1024"], b""),
        ("bc", True, ["bc", "-lq"], b"scale=60; 4*a(1); 2^500; for (i = 0; i < 20; i++) s(i)\nquit\n"),
        ("ls", True, ["ls", "-laR", "/usr/lib/python3"], b""),
        ("find", True, ["find", "/usr/include", "-name", "*.h", "-printf", "%p %s %i %T@\n"], b""),
        ("bash", True, ["bash", "-c", "echo $RANDOM $SECONDS $$; while read a b; do echo $b $a; done; exit 5"], b"1 2\n3 4\n"),
        ("exceptions", True, [programs["exceptions.cc"]], b""),
        ("threads", True, [programs["threads.c"]], b""),
        ("faults", True, [programs["faults.c"]], b""),
        ("timer", True, [programs["timer.c"]], b""),
        ("mapped", True, [programs["mapped.c"]], b""),
        ("rewritten", True, [programs["rewritten.c"]], b""),
        ("crash", True, [programs["crash.c"]], b""),
        ("abort", True, [python, "-c", "import os; print('out', flush=True); os.abort()"], b""),
        ("killed-itself", True, [python, "-c", "import os; print('out', flush=True); os.kill(os.getpid(), 9)"], b""),
        ("read-200-mb", False, [python, "-c", READ_MUCH], b""),
    ]
    if not harness.missing_need("avx512f"):
        vectors = common.build("vectors.c", folder, "-mavx512f", "-mavx512bw", "-mavx512vl")
        rows.append(("vectors", True, [vectors], b""))
    return rows


READ_MUCH = """
import hashlib
digest = hashlib.blake2b()
with open("/dev/urandom", "rb", buffering=0) as file:
    for _ in range(200): digest.update(file.read(1 << 20))
print(digest.hexdigest())
"""


def lost_updates(recorder, program):
    """A race under small slices loses updates. Returns problems."""
    trace = os.path.join(recorder.work, "race.detrec")
    recorded = recorder.record([program], trace, options=["--slice", "333+7"])
    problems = common.differences(recorded, recorder.replay(trace))
    if recorded.stdout.endswith(b"lost 0\n"):
        problems.append("no update was lost: the slices did nothing")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--all", action="store_true", help="also what takes long")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--slice", metavar="N[+M]")
    parser.add_argument("--allow-missing", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    harness.become_subreaper()
    score = common.Score()
    with tempfile.TemporaryDirectory(prefix="replay-") as work:
        recorder = common.Recorder(options.detrec, work)
        slices = ["--slice", options.slice] if options.slice else []
        rows = commands(recorder.fresh("files"))
        chosen = [row for row in rows if (row[0] in options.names if options.names else options.all or row[1])]
        for _ in range(options.repeat):
            for name, _, command, stdin in chosen:
                if not shutil.which(command[0]):
                    print(f"{'skipped' if options.allow_missing else 'FAILED'}  {name}: {command[0]} is not installed")
                    score.failed += 0 if options.allow_missing else 1
                    continue
                started = time.monotonic()
                trace = os.path.join(work, name + ".detrec")
                recorded = recorder.record(command, trace, stdin, slices)
                problems = common.differences(recorded, recorder.replay(trace))
                if recorded.status == 125:
                    problems.append("recording failed: " + recorded.stderr.decode("utf-8", "replace"))
                os.path.exists(trace) and os.unlink(trace)
                score.add(f"{name} ({time.monotonic() - started:.1f} s)", problems)
            if not options.names or "race" in options.names:
                score.add("race", lost_updates(recorder, os.path.join(work, "files", "threads")))
    return score.conclude()


if __name__ == "__main__":
    sys.exit(main())
