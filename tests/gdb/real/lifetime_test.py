"""Coming and going."""

import socket
import subprocess
import time
import unittest

from harness import LIMIT, STUB, WALK, GdbTest, Stub, gdb_command, receive_until, run_gdb

SLOW = ["--slice", "50", "--pause-us", "20000"]  # some five seconds for the whole program


class ComingAndGoing(GdbTest):
    def test_detach_and_reconnect(self):
        with Stub() as stub:
            first = run_gdb([stub.connect(), "break square if x == 3", "continue", "detach"])
            second = run_gdb([stub.connect(), "print x", "reverse-continue", "info breakpoints"])
            self.assertTrue(stub.is_alive())
        self.assert_order(first, r"square \(x=3\)", r"detached")
        # It stands where the first one left it; the first one's breakpoints are gone.
        self.assert_order(second, r"\$1 = 3", r"No more reverse-execution history")

    def test_reconnect_within_one_gdb(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "disconnect", stub.connect(), "continue"])
        self.assert_order(text, r"square \(x=0\)", r"square \(x=1\)")

    def test_reconnect_after_a_crash_of_the_client(self):
        with Stub(*SLOW) as stub:
            victim = subprocess.Popen(gdb_command([stub.connect(), "continue"]), stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)  # fmt: skip
            time.sleep(1.5)
            victim.kill()
            victim.communicate()
            text = run_gdb([stub.connect(), "monitor when", "break square", "reverse-continue"])
            self.assertTrue(stub.is_alive())
        self.assert_order(text, r"position \d+ of", r"Breakpoint 1, square \(x=9\)|reverse-execution history")

    def test_second_client_is_turned_away(self):
        with Stub() as stub, socket.create_connection(("localhost", stub.port)) as first:
            first.sendall(b"$?#3f")
            first.settimeout(LIMIT)
            self.assertIn(b"+$T05", receive_until(first, b"$T05"))
            with socket.create_connection(("localhost", stub.port)) as second:
                second.settimeout(LIMIT)
                self.assertEqual(second.recv(1), b"")
            first.sendall(b"+$qC#b4")
            self.assertIn(b"$QC", receive_until(first, b"$QC"))

    def test_kill_leaves_the_recording(self):
        with Stub() as stub:
            first = run_gdb([stub.connect(), "break square", "continue", "kill"])
            second = run_gdb([stub.connect(), "print x"])
        self.assert_order(first, r"killed")
        self.assert_order(second, r"\$1 = 0")

    def test_once(self):
        with Stub("--once") as stub:
            run_gdb([stub.connect(), "detach"])
            self.assertEqual(stub.process.wait(timeout=LIMIT), 0)

    def test_stdio(self):
        command = f"target remote | exec {STUB} --stdio {WALK}"
        text = run_gdb([command, "break square", "continue", "reverse-stepi", "monitor when", "detach"])
        self.assert_order(text, r"square \(x=0\)", r"position \d+ of", r"detached")

    def test_stdio_ends_with_its_client(self):
        process = subprocess.Popen([STUB, "--stdio", WALK], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(b"$?#3f")
        process.stdin.flush()
        self.assertTrue(process.stdout.read(5).startswith(b"+$T05"))
        process.stdin.close()
        self.assertEqual(process.wait(timeout=LIMIT), 0)
        process.stdout.close()


if __name__ == "__main__":
    unittest.main()
