"""What the stub tells of the recorded system: files, libraries, /proc, monitor commands."""

import os
import shutil
import tempfile
import unittest

from harness import WALK, GdbTest, Stub, run_gdb


class Information(GdbTest):
    def test_program_comes_from_the_stub(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "info files"],
                           program=None, libraries=True)
        self.assert_order(text, rf"Reading symbols from .*{WALK}", r"square \(x=0\) at .*walk.c",
                          rf"target:{WALK}")

    def test_libraries(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "set debug remote 1", "sharedlibrary", "info sharedlibrary",
                            "set debug remote 0", "info symbol printf", "print $_siginfo.si_signo"],
                           libraries=True)  # fmt: skip
        self.assert_order(text, r"0x\w+ +0x\w+ +Yes .*libc\.so\.6", r"Yes .*ld-linux-x86-64\.so\.2",
                          r"printf in section \.text of .*libc")  # fmt: skip

    def test_proc(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "info proc all"])
        self.assert_order(text, r"process \d+", rf"cmdline = '.*{WALK}'", rf"cwd = '{os.getcwd()}'",
                          rf"exe = '.*{WALK}'")  # fmt: skip
        self.assert_order(text, rf"0x400000 +0x401000 .*r--p .*{WALK}", r"\[stack\]")
        self.assert_order(text, r"Name:\ttoy_walk")

    def test_auxv(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "info auxv"])
        self.assert_order(text, r"AT_PHDR .*0x400040", r"AT_ENTRY .*0x40", r"AT_NULL")

    def test_core_file(self):
        folder = tempfile.mkdtemp()
        try:
            core = os.path.join(folder, "core")
            with Stub() as stub:
                text = run_gdb([stub.connect(), "break sum_to if n == 1", "continue", f"generate-core-file {core}"])
            self.assert_order(text, r"sum_to \(n=1\)", r"Saved corefile")
            text = run_gdb([f"core-file {core}", "bt", "print total", "info threads"])
            self.assert_order(text, r"sum_to \(n=1\)", r"sum_to \(n=4\)", r"\$1 = 285")
        finally:
            shutil.rmtree(folder)

    def test_files_are_read_only(self):
        with Stub() as stub, tempfile.NamedTemporaryFile() as copy:
            text = run_gdb([stub.connect(), f"remote get {WALK} {copy.name}", f"remote put {WALK} {WALK}.new",
                            f"remote delete {WALK}", "remote get /does/not/exist /dev/null"])  # fmt: skip
            with open(copy.name, "rb") as got, open(WALK, "rb") as original:
                self.assertEqual(got.read(), original.read())
        self.assertFalse(os.path.exists(WALK + ".new"))
        self.assertTrue(os.path.exists(WALK))
        self.assert_order(text, r"Read-only file system", r"Read-only file system",
                          r"No such file")  # fmt: skip

    def test_monitor(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "monitor seek 500", "maint flush register-cache", "monitor when",
                            "monitor slowly", "monitor much", "monitor nonsense", "monitor seek 999999999",
                            "break square", "continue"])  # fmt: skip
        self.assert_order(text, r"position 500 of", r"working\ndone\n", r"line 0 with #\$\}\*: in it",
                          r"line 1999 with", r"nonsense: there is no such monitor command",
                          r"the recording ends before", r"(square|reverse-execution history)")  # fmt: skip

    def test_non_stop_is_refused(self):
        with Stub() as stub:
            text = run_gdb(["set non-stop on", stub.connect()])
            self.assert_order(text, r"[Nn]on-stop mode")
            self.assertTrue(stub.is_alive())
            text = run_gdb([stub.connect(), "break square", "continue"])
        self.assert_order(text, r"square \(x=0\)")


if __name__ == "__main__":
    unittest.main()
