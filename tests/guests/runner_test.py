#!/usr/bin/env python3
"""Tests run_guests.py with a stand-in for detrec that misbehaves on request: every kind of difference must be found."""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
RUNNER = os.path.join(HERE, "run_guests.py")

# Takes `run --engine-only [options] -- PROG ARGS`, `record -q -o TRACE [options] -- PROG ARGS` and `replay -a TRACE`, and
# spoils the run as the file "mode" beside it says. A trace is a script that does what the run did.
STAND_IN = """#!/bin/sh
mode=$(cat "$(dirname "$0")/mode")
if [ "$1" = replay ]; then
  case $mode in
    replay-output) sh "$3" | sed s/one/two/ ;;
    replay-part) sh "$3" | sed s/one/oe/ ;;
    replay-error) sh "$3"; s=$?; echo more >&2; exit $s ;;
    replay-status) sh "$3"; exit 125 ;;
    replay-hang) sleep 1000 ;;
    *) sh "$3" ;;
  esac
  exit
fi
if [ "$1" = record ] && [ "$mode" != replay-none ]; then
  trace=$4
  while [ "$1" != "--" ]; do shift; done
  shift
  out=$("$@"); status=$?
  echo "echo '$out'; echo 'to stderr' >&2; exit $status" > "$trace"
  echo "$out"; echo 'to stderr' >&2; echo 'detrec: own words' >&2; exit $status
fi
while [ "$1" != "--" ]; do echo "$1" >> "$(dirname "$0")/options"; shift; done
shift
case $mode in
  good) exec "$@" ;;
  output) "$@" | sed s/one/two/ ;;
  status) "$@"; exit 3 ;;
  signal) kill -SEGV $$ ;;
  hang) sleep 1000 ;;
  left) (sleep 1000 & ) ; exec "$@" ;;
  refuse) echo "detrec: refused" >&2; exit 125 ;;
esac
"""


class RunnerTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        self.detrec = self.executable("detrec", STAND_IN)
        self.guests = []

    def tearDown(self):
        self.folder.cleanup()

    def executable(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def guest(self, name, notes="", body="echo one"):
        path = self.executable(name, f"#!/bin/sh\n{notes}\n{body}\n")
        self.guests.append(f"theme/{name}\t{path}\t{path}")

    def run_guests(self, *arguments, mode="good", native=False):
        with open(os.path.join(self.path, "manifest"), "w") as file:
            file.write("\n".join(self.guests) + "\n")
        with open(os.path.join(self.path, "mode"), "w") as file:
            file.write(mode)
        command = [sys.executable, RUNNER, "--manifest", os.path.join(self.path, "manifest"), "--timeout", "0.5"]
        command += ["--native-only"] if native else ["--detrec", self.detrec]
        done = subprocess.run(command + list(arguments), capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def expect(self, result, status, last_line):
        self.assertEqual(result[0], status, result)
        self.assertEqual(result[1].splitlines()[-1], last_line, result)

    def test_equal_runs_pass(self):
        self.guest("a")
        self.guest("b", "# @exit: 4", "exit 4")
        self.guest("c", "# @signal: SIGTERM", "kill -TERM $$")
        self.expect(self.run_guests(), 0, "3 passed, 0 failed")
        self.expect(self.run_guests(native=True), 0, "3 passed, 0 failed")

    def test_every_difference_fails(self):
        self.guest("a")
        for mode in ("output", "status", "signal", "refuse"):
            result = self.run_guests(mode=mode)
            self.expect(result, 1, "0 passed, 1 failed")
        self.assertIn("-one", self.run_guests(mode="output")[1])
        self.assertIn("(SIGSEGV)", self.run_guests(mode="signal")[1])
        self.assertIn("detrec: refused", self.run_guests(mode="refuse")[1])

    def test_hang_fails(self):
        self.guest("a")
        result = self.run_guests(mode="hang")
        self.expect(result, 1, "0 passed, 1 failed")
        self.assertIn("still running", result[1])

    def test_native_failure_fails(self):
        self.guest("a", "# @exit: 1")
        self.expect(self.run_guests(), 1, "0 passed, 1 failed")
        self.expect(self.run_guests(native=True), 1, "0 passed, 1 failed")

    def test_processes_left_behind_end_with_their_session(self):
        self.guest("a")
        self.expect(self.run_guests(mode="left"), 0, "1 passed, 0 failed")

    def test_skipped_guests_are_named_with_the_reason(self):
        self.guest("a")
        self.guest("b", "# @needs: tool:no-such-tool-anywhere")
        result = self.run_guests()
        self.expect(result, 0, "1 passed, 0 failed")
        self.assertIn("skipped theme/b: no no-such-tool-anywhere", result[1])

    def test_nothing_run_is_a_failure(self):
        self.guest("b", "# @needs: tool:no-such-tool-anywhere")
        self.expect(self.run_guests(), 1, "0 passed, 0 failed")

    def test_slices_and_options_reach_detrec(self):
        self.guest("a")
        self.expect(self.run_guests("--slice", "97+13", "--slice", "5", "--option=--stats"), 0, "2 passed, 0 failed")
        with open(os.path.join(self.path, "options")) as file:
            seen = file.read().split()
        self.assertEqual(seen, ["run", "--engine-only", "--stats", "--slice", "97+13"] + ["run", "--engine-only", "--stats", "--slice", "5"])

    def test_expected_difference(self):
        notes = "# @engine-only-exit: 125\n# @engine-stderr: refused\n# @differs: because"
        self.guest("a", notes)
        self.expect(self.run_guests(mode="refuse"), 0, "1 passed, 0 failed")
        self.expect(self.run_guests(mode="good"), 1, "0 passed, 1 failed")
        self.guests.clear()
        self.guest("b", notes.replace("refused", "something else"))
        self.expect(self.run_guests(mode="refuse"), 1, "0 passed, 1 failed")

    def test_recordings_are_replayed(self):
        self.guest("a")
        self.guest("b", "# @exit: 4", "echo one; exit 4")
        self.expect(self.run_guests("--record"), 0, "4 passed, 0 failed")
        self.expect(self.run_guests("--record", "--slice", "5", "--slice", "6"), 0, "8 passed, 0 failed")

    def test_every_difference_of_a_replay_fails(self):
        self.guest("a")
        for mode in ("replay-output", "replay-part", "replay-error", "replay-status", "replay-hang"):
            self.expect(self.run_guests("--record", mode=mode), 1, "1 passed, 1 failed")
        self.expect(self.run_guests("--record", mode="replay-none"), 1, "0 passed, 1 failed")

    def test_notes_about_recordings(self):
        self.guest("a", "# @recorded-part: because")
        result = self.run_guests("--record", mode="replay-part")
        self.expect(result, 0, "2 passed, 0 failed")
        self.assertIn("1 guests with @recorded-part", result[1])
        self.assertIn("theme/a: because", result[1])
        self.expect(self.run_guests("--record", mode="replay-output"), 1, "1 passed, 1 failed")
        self.guests.clear()
        self.guest("b", "# @not-replayed: because")
        self.expect(self.run_guests("--record", mode="replay-output"), 0, "1 passed, 0 failed")
        self.guests.clear()
        self.guest("c", "# @recorded-part:")
        self.assertNotEqual(self.run_guests("--record")[0], 0)

    def test_annotations_shape_the_run(self):
        notes = '# @args: x "two words"\n# @env: NAME=value\n# @stdin: in\\n\n# @limits: nofile=77'
        self.guest("a", notes, 'read line; echo "$# $2 $NAME $line $(ulimit -n)"; [ "$2" = "two words" ]')
        self.expect(self.run_guests(), 0, "1 passed, 0 failed")
        self.guests.clear()
        self.guest("b", "# @limits: nofile=77", '[ "$(ulimit -n)" = 77 ]')
        self.expect(self.run_guests(), 0, "1 passed, 0 failed")

    def test_bad_annotations_are_refused(self):
        self.guest("a", "# @nonsense: x")
        self.assertNotEqual(self.run_guests()[0], 0)
        self.guests.clear()
        self.guest("b", "# @engine-only-exit: 125")
        self.assertNotEqual(self.run_guests()[0], 0)

    def test_unknown_names_are_refused(self):
        self.guest("a")
        self.assertNotEqual(self.run_guests("no/such")[0], 0)
        self.expect(self.run_guests("theme"), 0, "1 passed, 0 failed")
        self.expect(self.run_guests("theme/*"), 0, "1 passed, 0 failed")


if __name__ == "__main__":
    unittest.main()
