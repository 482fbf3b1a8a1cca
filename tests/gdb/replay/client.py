"""A small client of the remote protocol, for what would take gdb too long."""

import subprocess

from harness import DETREC


class Client:
    """Talks to a `detrec replay --stdio` of its own; a context manager."""

    def __init__(self, trace):
        self.process = subprocess.Popen([DETREC, "replay", "--stdio", trace], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
        self.ask("QStartNoAckMode", acknowledged=True)
        self.ask("qSupported:multiprocess+;swbreak+;hwbreak+;vContSupported+")
        self.ask("?")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def send(self, packet):
        """One packet, without waiting."""
        body = packet.encode()
        self.process.stdin.write(b"$%s#%02x" % (body, sum(body) & 255))
        self.process.stdin.flush()

    def receive(self):
        """The next packet's text."""
        stream = self.process.stdout
        while (byte := stream.read(1)) != b"$":
            if not byte:
                raise RuntimeError("detrec has gone")
        text = b""
        while (byte := stream.read(1)) != b"#":
            text += byte
        stream.read(2)
        return text.decode("latin-1")

    def ask(self, packet, acknowledged=False):
        """The reply to a packet; console output is left out."""
        self.send(packet)
        reply = self.receive()
        if acknowledged:
            self.process.stdin.write(b"+")
        while reply.startswith("O") and reply != "OK":
            reply = self.receive()
        return reply

    def monitor(self, command):
        """The output of a monitor command."""
        self.send("qRcmd," + command.encode().hex())
        text = ""
        while (reply := self.receive()) != "OK":
            if not reply.startswith("O"):
                raise RuntimeError(f"monitor {command}: {text or reply}")
            text += bytes.fromhex(reply[1:]).decode()
        return text

    def when(self):
        """The position, as (event, ticks, pc)."""
        event, ticks, pc = self.monitor("when").split()[0].split(":")
        return int(event), int(ticks), int(pc, 16)

    def seek(self, position):
        """Goes to a position; where that is."""
        self.monitor("seek %d:%d:%#x" % position)
        return self.when()

    def registers(self):
        """All of the current thread's, as hexadecimal text."""
        return self.ask("g")

    def pc(self):
        """The current thread's."""
        return int.from_bytes(bytes.fromhex(self.ask("p10")), "little")

    def memory(self, address, size):
        """Bytes of memory."""
        return bytes.fromhex(self.ask(f"m{address:x},{size:x}"))

    def move(self, packet, points=()):
        """A stop reply."""
        for kind, address, size in points:
            self.ask(f"Z{kind},{address:x},{size:x}")
        reply = self.ask(packet)
        for kind, address, size in points:
            self.ask(f"z{kind},{address:x},{size:x}")
        return reply

    def stepi(self):
        """One instruction of whatever thread has the turn."""
        return self.ask("vCont;s")

    def state(self):
        """(position, registers)"""
        return self.when(), self.registers()
