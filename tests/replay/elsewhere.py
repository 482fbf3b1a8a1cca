#!/usr/bin/env python3
"""Replays recordings where nothing of the recorded run is left: in a root folder that holds detrec alone (with what it
is linked to), as another user, in another folder, without environment, the program and its files deleted.

    elsewhere.py --detrec build/bin/detrec
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import common
from common import harness

PYTHON = "import json, time, os, random; print(json.dumps([time.time(), os.getcwd(), sorted(os.environ), random.random()]))"


def copy_into(root, path):
    """Copies a file to the same place below `root`."""
    to = root + path
    os.makedirs(os.path.dirname(to), exist_ok=True)
    if not os.path.exists(to):
        shutil.copy(path, to)


def make_root(root, detrec):
    """A root folder with detrec, its engine, and the libraries that detrec needs."""
    os.makedirs(root + "/detrec", exist_ok=True)
    for name in ("detrec", "detrec-guest"):
        shutil.copy(os.path.join(os.path.dirname(detrec), name), root + "/detrec/" + name)
    listed = subprocess.run(["ldd", detrec], capture_output=True, text=True).stdout  # fails for a static one
    for path in re.findall(r"(/\S+) \(0x", listed):
        copy_into(root, path)
    for name in ("tmp", "proc", "dev"):
        os.makedirs(f"{root}/{name}", exist_ok=True)


def replay_there(root, trace):
    """A replay as another user in the root folder, to which /proc is added: detrec finds its engine there."""
    shutil.copy(trace, root + "/tmp/trace.detrec")
    os.chmod(root + "/tmp/trace.detrec", 0o644)
    inner = "import os, subprocess, sys; subprocess.run(['mount', '--rbind', '/proc', sys.argv[1] + '/proc'], check=True)\n"
    inner += "os.chroot(sys.argv[1]); os.chdir('/tmp')\n"
    inner += "if sys.argv[2] == 'root': os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
    inner += "os.execve('/detrec/detrec', ['detrec', 'replay', '-a', 'trace.detrec'], {})"
    root_user = os.geteuid() == 0
    prefix = ["unshare", "--mount"] if root_user else ["unshare", "-r", "--mount"]
    command = [*prefix, sys.executable, "-c", inner, root, "root" if root_user else "other"]
    return harness.run(command, root + "/tmp", {}, b"", 60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="elsewhere-") as work:
        os.chmod(work, 0o755)
        recorder = common.Recorder(options.detrec, work)
        files = recorder.fresh("files")
        root = os.path.join(work, "root")
        make_root(root, recorder.detrec)
        programs = {
            "threads": [common.build("threads.c", files)],
            "exceptions": [common.build("exceptions.cc", files)],
            "mapped": [common.build("mapped.c", files)],
            "crash": [common.build("crash.c", files)],
            "python3": ["/usr/bin/python3", "-c", PYTHON],
        }
        recorded = {
            name: recorder.record(command, os.path.join(work, name + ".detrec"), cwd=recorder.fresh("recorded"))
            for name, command in programs.items()
        }
        shutil.rmtree(files)
        for name, before in recorded.items():
            trace = os.path.join(work, name + ".detrec")
            problems = common.differences(before, replay_there(root, trace))
            print(f"{'FAILED' if problems else 'ok':7} {name}")
            print("".join(f"    {line}\n" for line in problems), end="")
            failed += bool(problems)
    print(f"{len(recorded) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
