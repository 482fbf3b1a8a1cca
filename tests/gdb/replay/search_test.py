"""Finding the instruction that last wrote a variable, going backwards only, against a run forwards."""

import os
import re
import subprocess
import unittest

from client import Client
from harness import ReplayTest, debug, record, recording, scratch


class Search(ReplayTest):
    """In each the variable's last change is met twice: last going forward, first going backward."""

    def find(self, trace, kind, address, begin, libraries=False):
        """begin: gdb commands that stop early in the program."""
        script = scratch("forward.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"""
import gdb
ADDRESS = int(gdb.parse_and_eval({address!r}))
def value():
    return int(gdb.parse_and_eval('*({kind}*)%d' % ADDRESS))
gdb.execute('delete')
gdb.execute('watch *({kind}*)%d' % ADDRESS)
stops = []
gdb.events.stop.connect(stops.append)
writes = []
while True:
    gdb.execute('continue', to_string=True)
    if not isinstance(stops[-1], gdb.BreakpointEvent):
        break
    if writes and writes[-1][1] == value():
        break  # the end of the recording
    writes.append((int(gdb.parse_and_eval('$pc')), value()))
gdb.execute('delete')
print('FORWARD', writes[-1], len(writes))
gdb.execute('watch *({kind}*)%d' % ADDRESS)
gdb.execute('reverse-continue', to_string=True)
before = value()
pc = int(gdb.parse_and_eval('$pc'))
code = gdb.execute('x/2i $pc', to_string=True)
gdb.execute('delete')
gdb.execute('stepi', to_string=True)
print('BACKWARD', (int(gdb.parse_and_eval('$pc')), value()), before, hex(pc))
print(code)
""")
        text = debug(trace, [*begin, f"source {script}"], libraries=libraries)
        forward = re.search(r"FORWARD (\(.*?\)) (\d+)", text)
        backward = re.search(r"BACKWARD (\(.*?\)) (-?\d+)", text)
        self.assertTrue(forward and backward, text)
        self.assertEqual(forward.group(1), backward.group(1), text)
        return int(forward.group(2))

    def test_small_program(self):
        trace = recording("steps.c", "-O0")[1]
        self.assertGreaterEqual(self.find(trace, "int", "&counter", ["tbreak main", "continue"]), 10)

    def test_threads(self):
        trace = recording("threads.c")[1]
        self.assertEqual(self.find(trace, "int", "&shared", ["tbreak main", "continue"]), 10)

    def test_containers(self):
        trace = recording("throws.cc", "-O1")[1]
        self.find(trace, "long", "(char*)&areas + 40", ["tbreak main", "continue"])

    def test_packets(self):
        """`bc` alone, without a debugger's help: from the end to each write, and to the beginning."""
        program, trace = recording("steps.c", "-O0")
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        address = int(re.search(r"^(\w+) B counter$", symbols, re.M)[1], 16)
        text = debug(trace, ["tbreak main", "continue", "print &counter"])
        self.assertTrue(re.search(rf"\$1 = .*0x\w*{address & 0xfff:03x} <counter>", text), text)
        address = int(re.search(r"\$1 = .* (0x\w+) <counter>", text)[1], 16)
        with Client(trace) as client:
            client.ask("vCont;c")
            self.assertEqual(client.ask(f"Z2,{address:x},4"), "OK")
            value = client.memory(address, 4)
            writes = 0
            while "watch:" in (reply := client.ask("bc")):
                writes += 1
                before, there = client.memory(address, 4), client.when()
                client.stepi()
                self.assertEqual(client.memory(address, 4), value)
                self.assertNotEqual(before, value)
                self.assertEqual(client.seek(there), there)
                value = before
            self.assertIn("replaylog:begin", reply)
            self.assertEqual(writes, 11)  # 1, nine squares that are not 0, the product

    def real(self, name, command, begin, kind, address):
        """A program of the system, without symbols: a word of its own data."""
        self.assertTrue(os.path.exists(command[0]), f"{command[0]} is needed (packages.txt)")
        trace = record(command, name)
        return self.find(trace, kind, address, begin)

    def test_sqlite(self):
        self.real("sqlite3", ["/usr/bin/sqlite3", ":memory:", "create table t(a); insert into t values(1),(2); "
                              "select sum(a) from t;"], [], "long", "$sp - 4096 + 8")  # fmt: skip

    def test_python(self):
        self.real("python3", ["/usr/bin/python3", "-S", "-c", "pass"], [], "long", "$sp - 256")

    def test_gzip(self):
        path = scratch("input")
        with open(path, "w", encoding="utf-8") as file:
            file.write("some text to compress\n" * 200)
        self.real("gzip", ["/bin/gzip", "-c", path], [], "long", "$sp - 1024")


if __name__ == "__main__":
    unittest.main()
