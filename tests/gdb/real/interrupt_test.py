"""^C while the target runs."""

import re
import socket
import time
import unittest

from harness import LIMIT, GdbTest, Stub, receive_until, run_gdb_interrupted

SLOW = ["--slice", "50", "--pause-us", "20000"]  # some five seconds for the whole program


class Interrupting(GdbTest):
    def check(self, text, direction_reply="T02"):
        self.assert_none(text, "it hung", "internal-error", "Ignoring packet error", "unexpected")
        self.assert_order(text, r"received signal SIGINT", r"position (\d+) of", r"Breakpoint 1|rip ")
        self.assertEqual(len(re.findall(r"Packet received: " + direction_reply, text)), 1, text)

    def test_forward(self):
        with Stub(*SLOW) as stub:
            text = run_gdb_interrupted([stub.connect(), "set debug remote 1", "echo going\\n", "continue",
                                        "monitor when", "info registers rip"], ["going"], 1.0)  # fmt: skip
        self.check(text)

    def test_backward(self):
        with Stub(*SLOW) as stub:
            text = run_gdb_interrupted([stub.connect(), "monitor seek 13000", "maint flush register-cache",
                                        "set debug remote 1", "echo going\\n", "reverse-continue", "monitor when",
                                        "info registers rip"], ["going"], 1.0)  # fmt: skip
        self.check(text)

    def test_then_go_on(self):
        with Stub(*SLOW) as stub:
            text = run_gdb_interrupted([stub.connect(), "set debug remote 1", "echo going\\n", "continue",
                                        "monitor when", "break square if x == 9", "reverse-continue",
                                        "print x"], ["going"], 1.5)  # fmt: skip
        self.check(text)

    def test_race_with_a_stop(self):
        # The byte comes when the stop reply is on its way: it is forgotten, and no second stop follows.
        with Stub() as stub, socket.create_connection(("localhost", stub.port)) as client:
            client.settimeout(LIMIT)
            client.sendall(b"$QStartNoAckMode#b0")
            receive_until(client, b"$OK#9a")
            client.sendall(b"$vCont;s#b8")
            time.sleep(0.2)
            client.sendall(b"\x03$m400000,4#8b")
            text = receive_until(client, b"$7f454c46#")
            time.sleep(0.5)
            client.sendall(b"$qC#b4")
            text = (text + receive_until(client, b"$QC")).decode()
        self.assertRegex(text, r"^\$T05[^$]*\$7f454c46#..\$QC")


if __name__ == "__main__":
    unittest.main()
