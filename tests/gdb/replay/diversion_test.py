"""Calling functions and changing things during a replay: it lives on its own, and the recording stays as it is."""

import re
import signal
import subprocess
import unittest

from client import Client
from harness import DETREC, Replay, ReplayTest, debug, gdb_command, line_of, recording, run_gdb, run_gdb_interrupted
from lifetime_test import replayed_processes, wait_until

DIVERTED = r"detrec: diverted from \d+:\d+:0x\w+"
BACK = r"detrec: back in the recording at \d+:\d+:0x\w+"
STATE = ["echo shown\\n", "monitor when", "info registers", "x/4xg $sp", "print counter", "info threads", "bt", "echo up to here\\n"]
FRESH = ["maintenance flush dcache", "maintenance flush register-cache"]  # after a monitor command that moves


class DiversionTest(ReplayTest):
    def setUp(self):
        self.trace = recording("diverts.cc", "-O0")[1]

    def line(self, comment):
        """A place in diverts.cc."""
        return f"diverts.cc:{line_of('diverts.cc', comment)}"

    def debug(self, commands, **options):
        """gdb, and what detrec says on its stderr."""
        return run_gdb([f"target remote | exec {DETREC} replay --stdio {self.trace}", *commands], **options)

    def at(self, comment):
        """Commands that go there."""
        return ["tbreak " + self.line(comment), "continue"]

    def results(self, text):
        """What the prints have shown."""
        return re.findall(r"^\$\d+ = (.*)$", text, re.M)


class Calls(DiversionTest):
    """Functions that gdb calls: the recording is where it was afterwards."""

    def test_results(self):
        calls = {"square(7)": "49", "mix(1.5, 2.5, 3)": "6.75", "precise(5)": "2.5", "box.add(4)": "9",
                 "(int)strlen(\"abc\")": "3", "work(\"hello\", 3)": "8", "same_ids()": "1", "still_then()": "1",
                 "copy(\"copied\")": "0x\\w+ \"copied\"", "described(12)": "0x\\w+ <.*> \"number 12\"",
                 "box.name()": "0x\\w+ \"a label that is longer than a short string\"",
                 "mapped(1048576)": "0x\\w+ \"mmmm\"", "allocated(300)": "300", "opened(\"/dev/null\")": "38",
                 "forked()": "38", "elapsed(1500)": "1\\d\\d\\d", "twice(box.label).size()": "84|.*"}  # fmt: skip
        commands = self.at("before") + STATE
        for call in calls:
            commands.append("print " + call)
        text = self.debug([*commands, *STATE], libraries=True)
        results = self.results(text)
        self.assertEqual(len(results), len(calls) + 2, text)
        self.assertEqual(results.pop(), results.pop(0))
        for (call, expected), result in zip(calls.items(), results):
            self.assertRegex(result, f"^(?:{expected})$", call)
        states = [re.sub(r"^\$\d+", "$", part, flags=re.M) for part in re.findall(r"shown\n(.*?)\nup to here", text, re.S)]
        self.assertEqual(len(states), 2, text)
        self.assertEqual(*states)
        self.assert_none(text, DIVERTED, BACK, "internal-error", "Remote connection closed")
        for name in "openat", "clone":
            self.assertEqual(len(re.findall(rf"detrec: {name} has no effect in a diversion", text)), 1, text)

    def test_the_recording_goes_on(self):
        motions = ["next", "print sum", "reverse-next", "print sum", "tbreak square", "continue", "print x", "finish",
                   "watch watched", "reverse-continue", "print watched", "reverse-continue", "monitor when", "delete",
                   "continue", "monitor when", "reverse-stepi", "monitor when"]  # fmt: skip
        plain = self.debug(self.at("before") + motions)
        call = "call mix(1, 6.5, 2)"
        called = self.debug(self.at("before") + [call] + [c for motion in motions for c in (motion, call)])
        told = lambda text: [re.sub(r"^\$\d+", "$", line) for line in text.splitlines()
                             if re.match(r"\d+:\d+:0x|\$\d+ = (?!8.5$|9$)|Run till|Hardware|(Old|New) value", line)]  # fmt: skip
        self.assertGreater(len(told(plain)), 9, plain)
        self.assertEqual(told(plain), told(called))
        self.assertEqual(called.count(" = 8.5\n"), 1 + len(motions), called)

    def test_output(self):
        text = debug(self.trace, [*self.at("before"), "call (int)puts(\"to the console\")", "call told(\"an error\\n\")"])
        self.assert_order(text, r"\nto the console\n", r"\$1 = \d+", r"\nan error\n", r"\$2 = 9")

    def test_conditions(self):
        text = self.debug(["break work if (int)strcmp(name, \"x\") == 0", "continue", "print i", "continue", "print i",
                           "continue", "print counter", "reverse-continue"])  # fmt: skip
        self.assert_order(text, r"\$1 = 1\n", r"\$2 = 3\n", r"No more reverse-execution history",
                          r"Cannot call functions in reverse mode")  # fmt: skip
        self.assert_none(text, DIVERTED)

    def test_a_crash(self):
        crash = r"received signal SIGSEGV.*\n?.*crash \(\)"
        text = self.debug([*self.at("before"), "print $sp", "call crash()", "print (long)$_siginfo._sifields._sigfault.si_addr",
                           "x/i $pc", "bt", "monitor when", "monitor end-diversion", *FRESH, "print $sp", "set unwindonsignal on",
                           "call crash()", "print $sp", "next"])  # fmt: skip
        self.assert_order(text, r"\$1 = ", crash, r"\$2 = 8\n", r"=> 0x\w+ <_?Z?5?crash.*>:\s+movl", r"#0 .*crash", r"function called from gdb",
                          r"\ndiverted from \d", r"\$3 = ", crash, r"restored the context", r"\$4 = ",
                          rf"\n{line_of('diverts.cc', 'store')}\t")  # fmt: skip
        results = self.results(text)
        self.assertEqual(results[0], results[2])
        self.assertEqual(results[0], results[3])
        self.assertEqual(len(re.findall(DIVERTED, text)), 2, text)
        self.assertEqual(len(re.findall(BACK, text)), 2, text)

    def test_a_stop_in_a_called_function(self):
        text = self.debug([*self.at("before"), "tbreak square", "print square(5)", "print x", "print square(6)", "set var x = 7",
                           "print x", "finish", "monitor when", "print sum"])  # fmt: skip
        self.assert_order(text, r"square \(x=5\)", r"\$1 = 5", r"\$2 = 36", r"\$3 = 7", r"Value returned.*= 49", r"\n\d+:\d+:0x", r"= 15\n")

    def test_an_endless_loop(self):
        text = run_gdb_interrupted([f"target remote | exec {DETREC} replay --stdio {self.trace} 2>/dev/null", *self.at("before"),
                                    "call spin()", "bt", "reverse-next", "monitor when"], ["spinning"], delay=0.1)  # fmt: skip
        self.assert_none(text, "it hung")
        self.assert_order(text, r"\nspinning\n", r"SIGINT", r"#0 .*spin", r"function called from gdb", r"\n\d+:\d+:0x")

    def test_at_the_end_and_the_beginning(self):
        text = self.debug(["print $pc", "continue", "print square(9)", "call (int)puts(\"late\")", "reverse-continue", "print $pc"])
        self.assert_order(text, r"No more", r"\$2 = 81", r"\nlate\n", r"No more")
        results = self.results(text)
        self.assertEqual(results[0], results[-1])

    def test_signals(self):
        text = self.debug([*self.at("before"), "handle SIGUSR1 nostop noprint pass", "print raised()", "print watched",
                           "handle SIGUSR1 stop print", "print raised()", "signal 0", "monitor when", "call (void)abort()",
                           "continue", "reverse-stepi", "monitor when"])  # fmt: skip
        self.assert_order(text, r"\$1 = 77\n", r"\$2 = 0\n", r"received signal SIGUSR1", r"received signal SIGABRT",
                          r"the diverted program has ended with signal 6", r"\n\d+:\d+:0x")  # fmt: skip

    def test_a_signal_of_an_ended_diversion(self):
        # gdb holds it still, and sends it with its next motion.
        back = ["monitor end-diversion", *FRESH]
        crash = r"received signal SIGSEGV"
        for way in back, ["monitor when", "monitor seek 2", *FRESH]:
            text = self.debug([*self.at("before"), "print crash()", *way, "set var counter = 40", "set $pc_was = $pc", "stepi",
                               "print $pc == $pc_was", "print counter", "stepi"])  # fmt: skip
            self.assert_order(text, crash, r"\$1 = false\n", r"\$2 = 40\n")
            self.assert_none(text, "has ended with")
        text = self.debug([*self.at("before"), "print crash()", *back, "print square(5)", "tbreak square", "continue", "monitor when",
                           "print crash()", "print square(6)", *back, "print square(7)", "next", "monitor when"])  # fmt: skip
        self.assert_order(text, crash, r"\$1 = 25\n", r"square \(x=3\)", r"\n\d+:\d+:0x", crash, r"\$2 = 36\n", r"\$3 = 49\n", r"\d\t",
                          r"\n\d+:\d+:0x")  # fmt: skip
        self.assert_none(text, "recorded signals only", "has ended with", "SIGTRAP")

    def test_a_signal_of_this_diversion(self):
        # One that has ended before takes nothing from it.
        text = self.debug([*self.at("before"), "print crash()", "monitor end-diversion", *FRESH, "print crash()", "print square(3)",
                           "continue", "reverse-stepi", "set unwindonsignal on", "set var counter = 30", "print raised()",
                           "set unwindonsignal off", "print raised()", "stepi", "tbreak on_signal", "continue"])  # fmt: skip
        self.assert_order(text, r"received signal SIGSEGV", r"received signal SIGSEGV", r"\$1 = 9\n", r"has ended with signal 11",
                          r"received signal SIGUSR1", r"received signal SIGUSR1", r"on_signal")  # fmt: skip

    def test_a_recorded_signal_elsewhere(self):
        trace = recording("signals.c", args=["crash"])[1]
        seek = ["monitor seek 2", *FRESH]
        text = debug(trace, ["continue", *seek, "tbreak main", "continue", "monitor when", "continue", *seek, "set var asked = 5",
                             "stepi", "print asked"])  # fmt: skip
        self.assert_order(text, r"received signal SIGSEGV", r"Temporary breakpoint 1, main", r"\n\d+:\d+:0x", r"received signal SIGSEGV",
                          r"\$1 = 5\n")  # fmt: skip
        self.assert_none(text, "recorded signals only", "has ended with")

    def test_at_a_signal(self):
        # It arrives in the recording all the same, with its siginfo.
        trace = recording("signals.c", args=["crash"])[1]
        siginfo = "print $_siginfo.si_signo"
        text = debug(trace, ["continue", siginfo, "call on_asked(10)", siginfo, "print asked", "continue", siginfo, "print asked",
                             "call on_asked(10)", "stepi", "x/i $pc", "print asked"])  # fmt: skip
        self.assert_order(text, r"received signal SIGSEGV", r"\$1 = 11\n", r"\$2 = 11\n", r"\$3 = 0\n", r"received signal SIGUSR1",
                          r"\$4 = 10\n", r"\$5 = 0\n", r"=> 0x\w+ <on_asked", r"\$6 = 0\n")  # fmt: skip

    def test_locks(self):
        text = self.debug([*self.at("before"), "print waits_at_most()", "call locked()", "bt", "monitor end-diversion", *FRESH, "next"])
        self.assert_order(text, r"\$1 = 110\n", r"SIGINT", r"locked", rf"\n{line_of('diverts.cc', 'store')}\t")
        self.assertEqual(text.count("detrec: the diverted thread waits for another one"), 1, text)

    def test_another_thread(self):
        text = self.debug([*self.at("before"), "monitor when", "thread 2", "print $sp", "print square(8)", "print $sp", "thread 1",
                           "print square(2)", "monitor when", "next", "print sum"], libraries=True)  # fmt: skip
        self.assert_order(text, r"= 64\n", r"= 4\n", rf"\n{line_of('diverts.cc', 'store')}\t", r"= 21\n")
        results = self.results(text)
        self.assertEqual(results[0], results[2])
        positions = re.findall(r"^\d+:\d+:0x\w+", text, re.M)
        self.assertEqual(positions[0], positions[1])


class Changes(DiversionTest):
    """Memory, registers and places that gdb changes: the program goes on from there, live."""

    def test_memory(self):
        text = self.debug([*self.at("before"), "monitor when", "set var sum = 100", "monitor when", "print sum", "next", "next",
                           "print watched", "tbreak square", "continue", "monitor when", "finish", "watch counter", "continue",
                           "continue", "delete", "reverse-continue", "print watched", "tbreak " + self.line("store"), "continue",
                           "print sum", "monitor when"])  # fmt: skip
        self.assert_order(text, r"\ndiverted from (\d+:\d+:0x\w+)", r"\$1 = 100\n", r"\$2 = 106\n", r"square \(x=3\)", r"\ndiverted from \d",
                          r"Value returned.* = 9", r"New value = 115", r"the diverted program has ended with status 0", r"No more",
                          r"No more", r"= 0\n", r"= 21\n\d+:\d+:0x\w+")  # fmt: skip
        self.assertEqual(len(re.findall(DIVERTED, text)), 1, text)
        self.assertEqual(len(re.findall(BACK, text)), 1, text)

    def test_what_a_call_has_returned(self):
        # It is a variable of the program's, not gdb's own memory.
        text = self.debug([*self.at("before"), "print square(2)", "print *place()", "set var counter = 50", "monitor when",
                           "print *place()", "print square(2)", "print counter", "reverse-stepi", "print counter",
                           "print square(2)", "set var watched = 1", "print counter"])  # fmt: skip
        self.assert_order(text, r"\$1 = 4\n", r"\$2 = 11\n", r"\ndiverted from", r"\$3 = 50\n", r"\$4 = 4\n", r"\$5 = 51\n",
                          r"\$6 = 10\n", r"\$7 = 4\n", r"\$8 = 10\n")  # fmt: skip

    def test_registers(self):
        text = self.debug([*self.at("store"), "stepi", "set $was = $rax", "set $rax = 5", "monitor when", "stepi", "print watched",
                           "monitor end-diversion", *FRESH, "print $rax == $was", "set $rax = 5", "set $rax = $was", "monitor when",
                           "stepi", "print watched", "set $xmm1.v4_float[2] = 1.5", "set $mxcsr = 0x1f85", "set $eflags = 0x246",
                           "set $st0 = 2.25", "stepi", "print $xmm1.v4_float[2]", "print $mxcsr", "print $st0", "reverse-stepi",
                           "print $xmm1.v4_float[2]", "print $st0"])  # fmt: skip
        self.assert_order(text, r"\ndiverted from", r"\$1 = 5\n", r"\$2 = true\n\d+:\d+:0x", r"\$3 = 21\n", r"\$4 = 1.5\n",
                          r"\$5 = \[ IE ZE.*\n", r"\$6 = 2.25\n", r"\$7 = 0\n", r"\$8 = 0\n")  # fmt: skip

    def test_places(self):
        text = self.debug([*self.at("before"), "tbreak " + self.line("end"), "jump " + self.line("call"), "print sum", "reverse-next",
                           "tbreak square", "continue", "return", "next", "print sum", "monitor seek 1", *FRESH, "monitor when"])  # fmt: skip
        self.assert_order(text, r"Temporary breakpoint \d, main", r"\$1 = 24\n", r"square \(x=3\)", rf"\n{line_of('diverts.cc', 'what nobody calls but a debugger')}\t", r"\$2 = ", r"\n\d+:\d+:0x")
        self.assertEqual(len(re.findall(DIVERTED, text)), 2, text)
        self.assertEqual(len(re.findall(BACK, text)), 2, text)

    def test_code(self):
        # `ret` in place of the function's body.
        text = self.debug([*self.at("before"), "set var *(unsigned char *)square = 0xc3", "next", "next", "next", "print counter",
                           "reverse-continue", "x/i square", "tbreak square", "continue", "finish"])  # fmt: skip
        self.assert_order(text, r"\$1 = 10\n", r"<.*square.*>:\s+(push|endbr)", r"Value returned.* = 9")

    def test_a_chosen_signal(self):
        text = self.debug([*self.at("before"), "signal SIGUSR1", "monitor when", "set var sum = 50", "tbreak on_signal", "signal SIGUSR1",
                           "bt 1", "print sum", "up 2", "print sum", "monitor end-diversion", *FRESH, "print sum"])  # fmt: skip
        self.assert_order(text, r"a replay delivers the recorded signals only", r"\n\d+:\d+:0x", r"on_signal", r"#0 .*on_signal",
                          r"= 50\n", r"= 15\n")  # fmt: skip

    def test_below_the_stack_pointer(self):
        text = self.debug([*self.at("before"), "set var *(long *)($sp - 512) = 5", "print *(long *)($sp - 512)", "monitor when", "stepi",
                           "monitor when"])  # fmt: skip
        self.assert_order(text, r"\$1 = 5\n", r"\n?\d+:\d+:0x", r"\n\d+:\d+:0x")
        self.assert_none(text, DIVERTED)
        self.assertEqual(text.count("detrec: what was written below the stack pointer is lost"), 1, text)

    def test_shared_memory(self):
        text = self.debug([*self.at("before"), "set var *shared = 8", "next", "print *shared", "monitor end-diversion", *FRESH,
                           "print *shared", "next", "print *shared", "reverse-next", "print *shared"])  # fmt: skip
        self.assert_order(text, r"\$1 = 8\n", r"\$2 = 6\n", r"\$3 = 6\n", r"\$4 = 6\n")

    def test_monitor_commands(self):
        text = self.debug(["monitor end-diversion", "monitor help", *self.at("before"), "set $rax = 77", "monitor checkpoint",
                           "monitor end-diversion", "monitor when", "set var sum = 1", "monitor seek 2", *FRESH, "monitor when"])  # fmt: skip
        self.assert_none(text, "Protocol error")
        self.assert_order(text, r"there is no diversion", r"monitor end-diversion ", r"\n\d+:\d+:0x.* ms\)", r"\n\d+:\d+:0x", r"\n\d+:\d+:0x")
        self.assertEqual(len(re.findall(DIVERTED, text)), 1, text)

    def test_a_refused_write(self):
        text = self.debug([*self.at("before"), "set var *(int *)16 = 1", "monitor when", "set var sum = sum", "monitor when"])
        self.assert_order(text, r"Cannot access memory at address 0x10", r"\n\d+:\d+:0x", r"\n\d+:\d+:0x")
        self.assert_none(text, DIVERTED)

    def test_an_exit(self):
        text = self.debug([*self.at("before"), "call (void)exit(3)", "reverse-next", "monitor when", "tbreak square", "continue"])
        self.assert_order(text, r"the diverted program has ended with status 3", r"No more", r"\n\d+:\d+:0x", r"square \(x=3\)")


class Ends(DiversionTest):
    """Whoever leaves takes the diversion along."""

    def divert(self, replay, then):
        """A gdb that has changed something: what it says."""
        return run_gdb([replay.connect(), *self.at("before"), "print sum", "monitor when", "set var sum = 100", "print sum", *then])

    def test_detached(self):
        for then in ["detach"], ["disconnect"], ["kill"], []:
            with self.subTest(then=then), Replay(self.trace) as replay:
                first = self.divert(replay, then)
                self.assert_order(first, r"\$1 = 15\n", r"\$2 = 100\n")
                second = run_gdb([replay.connect(), "monitor when", "print sum"])
                when = re.search(r"^\d+:\d+:0x\w+", first, re.M).group()
                self.assert_order(second, re.escape(when), r"\$1 = 15\n")

    def test_its_signal_is_not_the_next_gdbs(self):
        for crash in ["set var sum = 100", "call (void)abort()"], ["set unwindonsignal on", "call (void)abort()"]:
            with self.subTest(crash=crash), Replay(self.trace) as replay:
                first = run_gdb([replay.connect(), *self.at("before"), *crash, "detach"])
                second = run_gdb([replay.connect(), "set var sum = 50", "tbreak square", "continue", "up", "print sum"])
                self.assert_order(first, r"received signal SIGABRT")
                self.assert_order(second, r"square \(x=3\)", r"\$1 = 56\n")
                self.assert_none(second, "SIGABRT", "has ended with")

    def test_run_starts_again(self):
        with Replay(self.trace) as replay:
            text = self.divert(replay, ["tbreak " + self.line("before"), "run", "print sum"])
            self.assert_order(text, r"\$2 = 100\n", r"Temporary breakpoint 2", r"\$3 = 15\n")

    def test_nothing_is_left(self):
        for how in signal.SIGKILL, signal.SIGINT:
            with self.subTest(how=how), Replay(self.trace) as replay:
                commands = [replay.connect(), *self.at("before"), "set var sum = 100", "call spin()"]
                with subprocess.Popen(gdb_command(commands), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL, text=True, start_new_session=True) as gdb:  # fmt: skip
                    for line in gdb.stdout:
                        if "spinning" in line:
                            break
                    below = replayed_processes(replay.process.pid)
                    self.assertGreater(len(below), 2)
                    replay.process.send_signal(how)
                    replay.process.wait(timeout=20)
                    gone = lambda pids=below: not replayed_processes_of(pids)
                    self.assertTrue(wait_until(gone), f"left behind: {below}")
                    gdb.kill()

    def test_a_vanished_gdb_stops_what_runs(self):
        with Replay(self.trace) as replay:
            commands = [replay.connect(), *self.at("before"), "call spin()"]
            with subprocess.Popen(gdb_command(commands), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, text=True) as gdb:  # fmt: skip
                for line in gdb.stdout:
                    if "spinning" in line:
                        break
                gdb.kill()
            text = run_gdb([replay.connect(), "print sum", "tbreak square", "continue"])
            self.assert_order(text, r"\$1 = 15\n", r"square \(x=3\)")

    def test_packets(self):
        with Client(self.trace) as client:
            begin = client.state()
            pc, sp = client.pc(), int.from_bytes(bytes.fromhex(client.ask("p7")), "little")
            self.assertEqual(client.ask(f"P0={5:016x}"), "OK")
            self.assertIn("diverted from", client.monitor("when"))
            self.assertEqual(client.ask(f"P0={begin[1][:16]}"), "OK")
            self.assertEqual(client.state(), begin)
            # Below the stack pointer nothing counts; elsewhere it does.
            self.assertEqual(client.ask(f"M{sp - 512:x},8:0102030405060708"), "OK")
            self.assertEqual(client.memory(sp - 512, 8), bytes(range(1, 9)))
            self.assertEqual(client.state(), begin)
            self.assertEqual(client.ask(f"M{sp:x},1:ff"), "OK")
            self.assertIn("diverted from", client.monitor("when"))
            self.assertEqual(client.ask(f"P10={pc.to_bytes(8, 'little').hex()}"), "OK")
            self.assertIn("T05", client.ask("vCont;s"))
            self.assertIn("replaylog:begin", client.ask("bc"))
            self.assertEqual(client.state(), begin)
            self.assertNotEqual(client.memory(sp, 1), b"\xff")


def replayed_processes_of(pids):
    """Those of `pids` that are there still."""
    found = []
    for pid, _ in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] != "Z":
                    found.append(pid)
        except OSError:
            pass
    return found


if __name__ == "__main__":
    unittest.main()
