"""What is met going forward is met going backward, with the same registers and memory."""

import random
import subprocess
import unittest

from client import Client
from harness import ReplayTest, recording


def symbol(program, name):
    """(address as linked, size) of a symbol."""
    table = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    for line in table.splitlines():
        words = line.split()
        if words[-1] == name:
            return int(words[0], 16), int(words[1], 16)
    raise LookupError(name)


def load_address(client, program):
    """Where the program was loaded."""
    with open(program, "rb") as file:
        entry_in_file = int.from_bytes(file.read(32)[24:32], "little")
    raw = unescape(client.ask("qXfer:auxv:read::0,1000")[1:])
    words = [int.from_bytes(raw[i:i + 8], "little") for i in range(0, len(raw), 8)]
    return dict(zip(words[0::2], words[1::2]))[9] - entry_in_file


def to_main(client, program):
    """Goes to main; the program's load address."""
    base = load_address(client, program)
    main = base + symbol(program, "main")[0]
    reply = client.move("vCont;c", [(0, main, 1)])
    assert client.pc() == main, reply
    return base


def unescape(text):
    """The bytes of a binary reply."""
    out, raw, i = bytearray(), text.encode("latin-1"), 0
    while i < len(raw):
        if raw[i] == ord("}"):
            i += 1
            out.append(raw[i] ^ 0x20)
        else:
            out.append(raw[i])
        i += 1
    return bytes(out)


class Exactness(ReplayTest):
    def walk(self, source, *flags, args=(), most=1200):
        """Steps forward from main, then backward; compares."""
        program, trace = recording(source, *flags, args=args)
        with Client(trace) as client:
            to_main(client, program)
            return self.there_and_back(client, most)

    def there_and_back(self, client, most, step="vCont;s"):
        forward = [client.state()]
        while len(forward) < most:
            reply = client.ask(step)
            if "replaylog:end" in reply:
                break
            self.assertTrue(reply.startswith("T"), reply)
            if not reply.startswith("T05"):
                continue  # a signal: nothing was executed
            forward.append(client.state())
        positions = [position for position, _ in forward]
        self.assertEqual(positions, sorted(set(positions)))
        self.assertGreater(len(forward), 500)
        if "replaylog:end" in reply:
            client.ask("bs")
        else:
            self.assertEqual(client.state(), forward[-1])
            client.ask("bs")
            forward.pop()
        for expected in reversed(forward):
            self.assertEqual(client.state(), expected)
            reply = client.ask("bs")
        return forward

    def test_plain(self):
        self.walk("steps.c", "-O0")

    def test_optimised(self):
        self.walk("steps.c", "-O1", most=1000)

    def test_threads(self):
        program, trace = recording("threads.c")
        with Client(trace) as client:
            base = to_main(client, program)
            reply = client.move("vCont;c", [(2, base + symbol(program, "turn")[0], 4)])
            # One thread, with the others' turns between its instructions.
            thread = reply.split("thread:")[1].split(";")[0]
            step, event = "vCont;s:" + thread, client.when()[0]
            for _ in range(6000):
                client.ask(step)
                if client.when()[0] > event + 1:
                    break
            for _ in range(300):
                client.ask("bs")
            forward = self.there_and_back(client, 700, step)
            self.assertGreater(len({position[0] for position, _ in forward}), 1)

    def test_signals(self):
        program, trace = recording("signals.c")
        with Client(trace) as client:
            base = to_main(client, program)
            handler = base + symbol(program, "on_fault")[0]
            self.assertTrue(client.ask("vCont;c").startswith("T0b"))
            for _ in range(30):
                client.ask("bs")
            forward = self.there_and_back(client, 700)
            self.assertIn(handler, [position[2] for position, _ in forward])

    def test_alarm_in_a_loop(self):
        program, trace = recording("signals.c")
        with Client(trace) as client:
            base = to_main(client, program)
            client.ask("QPassSignals:e;b;1e")
            handler = base + symbol(program, "on_alarm")[0]
            client.move("vCont;c", [(0, handler, 1)])
            self.assertEqual(client.pc(), handler)
            for _ in range(300):
                client.ask("bs")
            forward = self.there_and_back(client, 700)
            self.assertIn(handler, [position[2] for position, _ in forward])

    def test_seek(self):
        program, trace = recording("steps.c", "-O0")
        with Client(trace) as client:
            to_main(client, program)
            forward = self.there_and_back(client, 1200)
            chance = random.Random(1)
            for expected in chance.choices(forward, k=40):
                self.assertEqual(client.seek(expected[0]), expected[0])
                self.assertEqual(client.state(), expected)

    def test_random_walk(self):
        program, trace = recording("steps.c", "-O0")
        with Client(trace) as client:
            base = to_main(client, program)
            forward = self.there_and_back(client, 1200)
            chance = random.Random(2)
            square = base + symbol(program, "square")[0]
            counter = base + symbol(program, "counter")[0]
            pcs = [position[2] for position, _ in forward]
            values = []
            for position, _ in forward:
                client.seek(position)
                values.append(client.memory(counter, 4))
            at = len(forward) // 2
            client.seek(forward[at][0])
            done = {}
            for _ in range(150):
                move = chance.choice(["s", "s", "bs", "bs", "bs", "c", "bc", "watch", "bwatch"])
                new = at
                if move == "s" and at + 1 < len(forward):
                    client.stepi()
                    new = at + 1
                elif move == "bs" and at > 0:
                    client.ask("bs")
                    new = at - 1
                elif move == "c" and square in pcs[at + 1:]:
                    client.move("vCont;c", [(0, square, 1)])
                    new = pcs.index(square, at + 1)
                elif move == "bc" and square in pcs[:at]:
                    client.move("bc", [(0, square, 1)])
                    new = max(i for i in range(at) if pcs[i] == square)
                elif move == "watch":
                    changes = [i for i in range(at + 1, len(forward)) if values[i] != values[i - 1]]
                    if changes:
                        client.move("vCont;c", [(2, counter, 4)])
                        new = changes[0]
                elif move == "bwatch":
                    changes = [i for i in range(at) if values[i] != values[i + 1]]
                    if changes:
                        client.move("bc", [(2, counter, 4)])
                        new = changes[-1]
                if new != at:
                    done[move] = done.get(move, 0) + 1
                    self.assertEqual(client.state(), forward[new], move)
                    self.assertEqual(client.memory(counter, 4), values[new], move)
                at = new
            self.assertEqual(len(done), 6, done)

    def test_memory_on_the_way_back(self):
        # All of the stack and the program's data, at each instruction.
        program, trace = recording("steps.c", "-O0")
        with Client(trace) as client:
            base = to_main(client, program)
            table = base + symbol(program, "counter")[0] & ~0xfff
            stack = int.from_bytes(bytes.fromhex(client.ask("p7")), "little") - 512
            look = lambda: (client.memory(table, 4096), client.memory(stack, 1024))
            forward = []
            for _ in range(800):
                forward.append((client.when(), look()))
                client.stepi()
            for expected in reversed(forward):
                client.ask("bs")
                self.assertEqual((client.when(), look()), expected)


if __name__ == "__main__":
    unittest.main()
