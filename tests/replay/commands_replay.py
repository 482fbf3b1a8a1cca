#!/usr/bin/env python3
"""Records the commands of tests/real/commands.txt and replays them. Takes some minutes: by hand.

    commands_replay.py --detrec build/bin/detrec [--shell] [NAME...]

Rows that a shell runs are left out without --shell: their children are not recorded, so all that can be checked is that
what the replay writes is among what was written.
"""

import argparse
import fnmatch
import os
import shutil
import sys
import tempfile
import time

import common
from common import harness

sys.path.insert(0, os.path.join(common.HERE, "..", "real"))

import fixtures  # noqa: E402
import run_real  # noqa: E402


def is_part_of(part, whole):
    """Whether the bytes of `part` are among those of `whole`, in their order."""
    left = iter(whole)
    return all(any(byte == other for other in left) for byte in part)


def check(recorder, row, template, programs):
    """Problems with one row."""
    folder = recorder.fresh("recorded")
    shutil.copytree(template, folder, dirs_exist_ok=True, symlinks=True)
    trace = os.path.join(recorder.work, "row.detrec")
    timeout = 10 * float(row.tags.get("timeout", "20"))
    recorded = recorder.record(row.argv(programs), trace, timeout=timeout, cwd=folder)
    replayed = recorder.replay(trace, timeout)
    shell = row.command.startswith(("sh: ", "bash: "))
    if shell or b"detrec: child processes are not recorded" in recorded.stderr:
        if replayed.status == recorded.status and is_part_of(replayed.stdout, recorded.stdout):
            return []
    return common.differences(recorded, replayed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--shell", action="store_true", help="also rows that a shell runs")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    harness.become_subreaper()
    with open(os.path.join(common.HERE, "..", "real", "commands.txt")) as file:
        rows = run_real.parse_rows(file.read())
    failed, passed, missing = [], 0, []
    with tempfile.TemporaryDirectory(prefix="commands-") as work:
        template, programs = os.path.join(work, "template"), os.path.join(work, "programs")
        fixtures.make_template(template)
        fixtures.build_programs(programs)
        recorder = common.Recorder(options.detrec, work)
        for row in rows:
            shell = row.command.startswith(("sh: ", "bash: "))
            chosen = any(fnmatch.fnmatch(row.name, name) for name in options.names)
            if not chosen and (options.names or (shell and not options.shell)):
                continue
            if row.missing():
                missing.append(f"{row.name}: {' '.join(row.missing())}")
                continue
            started = time.monotonic()
            problems = check(recorder, row, template, programs)
            print(f"{'FAILED' if problems else 'ok':7} {row.name} ({time.monotonic() - started:.1f} s)", flush=True)
            print("".join(f"    {line}\n" for line in problems), end="", flush=True)
            failed += [row.name] if problems else []
            passed += not problems
    for line in missing:
        print(f"missing {line}")
    print(f"{passed} passed, {len(failed)} failed: {' '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
