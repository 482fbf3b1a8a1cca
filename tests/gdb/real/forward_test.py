"""Breaking, stepping and looking around, forwards."""

import unittest

from harness import WALK, GdbTest, Stub, line_of, run_gdb


class Forward(GdbTest):
    def test_break_and_continue_to_the_end(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "bt", "print x", "delete", "continue"])
        self.assert_order(text, r"Breakpoint 1, square \(x=0\)", r"#1 .* in main", r"\$1 = 0",
                          r"No more reverse-execution history")  # fmt: skip

    def test_step_next_and_finish(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break main", "continue", "next", "next", "step", "finish", "stepi",
                            "next", "next", "print total"])  # fmt: skip
        self.assert_order(text, rf"\n{line_of('first line')}\t", r"\n\d+\t  for ", rf"\n{line_of('in loop')}\t",
                          r"square \(x=0\) at", r"Value returned is \$1 = 0",
                          rf"{line_of('after square')}\t")  # fmt: skip

    def test_next_is_one_range_step(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), f"break {line_of('after square')}", "continue", "set debug remote 1",
                            "next", "set debug remote 0"])  # fmt: skip
        resumes = text.count("Sending packet: $vCont;")
        self.assertIn("Sending packet: $vCont;r", text)
        self.assertLessEqual(resumes, 2, text)

    def test_steps_need_no_register_packet(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "stepi", "set debug remote 1", "stepi",
                            "set debug remote 0"])  # fmt: skip
        self.assert_order(text, r"Sending packet: \$vCont;s", r"Packet received: T05thread:.*10:")

    def test_until_advance_and_temporary(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), f"advance {line_of('after square')}", f"until {line_of('call sum_to')}",
                            "tbreak sum_to if n == 0", "continue", "bt"])  # fmt: skip
        self.assert_order(text, rf"{line_of('after square')}\t", rf"{line_of('call sum_to')}\t",
                          r"sum_to \(n=0\)", r"#4 .*sum_to \(n=4\)", r"#5 .* main")  # fmt: skip

    def test_registers_of_every_vector_level(self):
        for level, has, has_not in (("sse", "xmm3", "ymm3"), ("avx", "ymm3", "zmm3"), ("avx512", "zmm3", "zmm99")):
            with self.subTest(level=level), Stub("--vectors", level) as stub:
                text = run_gdb([stub.connect(), "info registers rip eflags fs_base", f"print ${has}",
                                f"print ${has_not}", "info registers mxcsr", "print $st0", "print $ftag",
                                "print $orig_rax"])  # fmt: skip
                self.assert_order(text, r"rip +0x40\w+ .*<main", r"eflags +0x\w+ +\[.* IF ", r"fs_base +0x7\w+",
                                  r"\$1 = \{", r"\$2 = void", r"mxcsr +0x1f80", r"\$3 = 0",
                                  r"\$4 = 65535", r"\$5 = -1")  # fmt: skip
                self.assert_none(text, "Truncated|too (long|short)|[Mm]alformed|bfloat16 is not")

    def test_floating_point_changes(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), f"break {line_of('call sum_to')}", "continue", "print ratio",
                            "print $xmm0.v2_double[0]"])  # fmt: skip
        self.assert_order(text, r"\$1 = 57\.66", r"\$2 = 57\.66")

    def test_threads(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "info threads", "thread 2", "stepi",
                            "thread 1", "stepi"])  # fmt: skip
        self.assert_order(text, r"\* 1 +Thread .*toy_walk", r"2 +Thread .*parked & <idle>.*never runs",
                          r"Switching to thread 2", r"the parked thread never runs", r"Switching to thread 1",
                          r"0x")  # fmt: skip

    def test_signal_of_the_guests_own_int3(self):
        with Stub(program=[WALK, "trap"]) as stub:
            text = run_gdb([stub.connect(), "continue", "print $_siginfo.si_signo", "continue"])
        self.assert_order(text, r"received signal SIGTRAP", r"\$1 = 5", r"No more reverse-execution history")

    def test_breakpoint_on_the_guests_own_int3(self):
        with Stub(program=[WALK, "trap"]) as stub:
            place = run_gdb([f"info line {line_of('own trap')}", "disassemble /s main"])
            address = next(line.split()[0] for line in place.splitlines() if line.rstrip().endswith("int3"))
            text = run_gdb([stub.connect(), f"break *{address}", "continue", "continue", "continue"])
        self.assert_order(text, r"Breakpoint 1, ", r"received signal SIGTRAP",
                          r"No more reverse-execution history")  # fmt: skip

    def test_unmapped_breakpoint_is_explained(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break *0", "continue", "delete", "break square", "continue"])
        self.assert_order(text, r"Cannot (insert|access)", r"Breakpoint 2, square")
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break *0xffffffffff600000", "continue"])
        self.assert_order(text, r"No more reverse-execution history")

    def test_memory_is_read_only(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "set var total = 5", "set var $rax = 5", "print total", "print square(3)",
                            "continue"])  # fmt: skip
            self.assertTrue(stub.is_alive())
        self.assert_order(text, r"(Cannot access memory|cannot be changed)", r"cannot be changed|Could not write",
                          r"\$1 = 0", r"No more reverse-execution history")  # fmt: skip
        self.assert_none(text, "internal-error")

    def test_find(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "find /b 0x400000, 0x400fff, 'E', 'L', 'F'",
                            "find /b 0x400000, 0x400fff, 1,2,3,4,5,6,7,9"])  # fmt: skip
        self.assert_order(text, r"0x400001", r"1 pattern found", r"Pattern not found")


if __name__ == "__main__":
    unittest.main()
