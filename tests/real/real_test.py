#!/usr/bin/env python3
"""Tests run_real.py, python_tests.py and bisect_blocks.py with stand-ins for detrec: differences must be found, and only they."""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import python_tests  # noqa: E402
import run_real  # noqa: E402


def executable(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def stand_in(spoil):
    """A detrec that runs the program and then does `spoil` (shell text)."""
    return f'#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done; shift\n"$@"; status=$?\n{spoil}\nexit $status\n'


class RowsTest(unittest.TestCase):
    def test_rows_of_the_list_are_well_formed(self):
        with open(os.path.join(HERE, "commands.txt")) as file:
            rows = run_real.parse_rows(file.read())
        self.assertGreaterEqual(len(rows), 80)
        self.assertTrue(any("quick" in row.tags for row in rows))

    def test_bad_rows_are_refused(self):
        for text in ("only a name", "a :: bad-tag :: :: true", "a :: :: :: ", "a :: :: :: true\na :: :: :: true"):
            with self.assertRaises(ValueError):
                run_real.parse_rows(text)

    def test_missing_tools_are_seen(self):
        row = run_real.parse_rows("a :: :: no-such-tool sh :: sh: true")[0]
        self.assertEqual(row.missing(), ["no-such-tool"])
        row = run_real.parse_rows("a :: :: :: no-such-program x")[0]
        self.assertEqual(row.missing(), ["no-such-program"])


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def run_real(self, spoil, *names):
        detrec = executable(os.path.join(self.folder.name, "detrec"), stand_in(spoil))
        command = [sys.executable, os.path.join(HERE, "run_real.py"), "--detrec", detrec, *(names or ["true", "gzip"])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout

    def test_equal_runs_pass(self):
        status, output = self.run_real(":")
        self.assertEqual((status, output.splitlines()[-1]), (0, "2 passed, 0 failed"), output)

    def test_output_status_and_files_are_compared(self):
        for spoil, sign in (("echo more", "+more"), ("exit 9", "9 under the engine"), ("echo > extra", "only under"),
                            ("echo >> text.txt", "file text.txt")):  # fmt: skip
            status, output = self.run_real(spoil, "true")
            self.assertEqual((status, output.splitlines()[-1]), (1, "0 passed, 1 failed"), output)
            self.assertIn(sign, output)


class PythonResultsTest(unittest.TestCase):
    def test_results_are_read(self):
        text = """
test_one (test.test_x.C.test_one) ... ok
test_two (test.test_x.C.test_two)
A description. ... FAIL
test_three (test.test_x.C.test_three) ... some output
more output
ok
test_four (test.test_x.C.test_four) ... skipped 'because'
Result: FAILURE
"""
        results = python_tests.parse_results(text)
        self.assertEqual(results["test.test_x.C.test_one"], "ok")
        self.assertEqual(results["test.test_x.C.test_two"], "FAIL")
        self.assertEqual(results["test.test_x.C.test_three"], "ok")
        self.assertEqual(results["test.test_x.C.test_four"], "skipped")
        self.assertEqual(results["(module)"], "FAILURE")
        self.assertEqual(len(results), 5)


class BisectTest(unittest.TestCase):
    def bisect(self, body):
        with tempfile.TemporaryDirectory() as folder:
            detrec = executable(os.path.join(folder, "detrec"), body)
            command = [sys.executable, os.path.join(HERE, "bisect_blocks.py"), "--detrec", detrec, "--", "/bin/echo", "x"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            return done.returncode, done.stdout

    # A detrec that goes wrong as soon as more than 4711 blocks are translated.
    BODY = """#!/bin/sh
limit=0
while [ "$1" != "--" ]; do [ "$1" = --translate-limit ] && limit=$2; shift; done; shift
if [ $limit = 0 ] || [ $limit -gt 4711 ]; then WRONG; fi
exec "$@"
"""

    def test_the_block_is_found(self):
        status, output = self.bisect(self.BODY.replace("WRONG", "echo wrong"))
        self.assertEqual(status, 0, output)
        self.assertIn("good with 4711 blocks, bad with 4712", output)

    def test_nothing_to_find(self):
        self.assertEqual(self.bisect(self.BODY.replace("WRONG", ":"))[0], 1)

    def test_always_bad(self):
        self.assertEqual(self.bisect("#!/bin/sh\nexit 7\n")[0], 2)


if __name__ == "__main__":
    unittest.main()
