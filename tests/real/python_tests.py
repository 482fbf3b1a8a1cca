#!/usr/bin/env python3
"""Runs modules of Python's own test suite natively and under the engine and compares the result of every single test.

    python_tests.py --detrec build/bin/detrec [--jobs 2] [--list] [MODULE...]

The interpreter is the system's (Debian's python3 with libpython3.11-testsuite). A test that fails natively in the same way
is no difference. A module with differences is run natively again; tests whose native results vary are reported as
unsteady and not counted. The last line is 'N passed, N failed' (modules).
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "guests"))

import harness  # noqa: E402

PYTHON = "/usr/bin/python3"
# What touches the machine in many ways; most modules take seconds.
MODULES = """
    test_array test_ast test_asyncgen test_atexit test_base64 test_bigmem test_binascii test_bisect test_bool test_builtin
    test_bytes test_bz2 test_calendar test_cmath test_collections test_compile test_complex test_contextlib test_copy
    test_coroutines test_csv test_ctypes test_dataclasses test_decimal test_deque test_descr test_dict test_enum
    test_errno test_exceptions test_fcntl test_file test_fileio test_float test_fork1 test_format test_fractions
    test_functools test_gc test_generators test_getopt test_glob test_grammar test_gzip test_hashlib test_heapq test_hmac
    test_int test_io test_itertools test_json test_largefile test_list test_long test_lzma test_mailbox test_math
    test_memoryview test_mmap test_operator test_os test_pathlib test_pickle test_pipes test_poll test_popen test_posix
    test_pty test_queue test_random test_re test_sched test_select test_selectors test_set test_shelve test_shutil
    test_signal test_socketserver test_sort test_stat test_statistics test_strftime test_struct
    test_subprocess test_sys test_tarfile test_tempfile test_textwrap test_thread test_threadedtempfile test_threading
    test_threading_local test_time test_timeit test_tokenize test_traceback test_tuple test_unicode test_urlparse
    test_uuid test_wait3 test_wait4 test_weakref test_xml_etree test_zipfile test_zlib
""".split()


def parse_results(text):
    """Test -> result of a verbose unittest output."""
    results = {}
    pending = None
    for line in text.splitlines():
        start = re.match(r"^(\w+) \(([A-Za-z_]\w*(?:\.\w+){2,})\)", line)
        if start:
            pending = f"{start[2]}.{start[1]}" if not start[2].endswith("." + start[1]) else start[2]
        if pending:
            end = re.search(r"(?:\.\.\. |^)(ok|skipped|FAIL|ERROR|expected failure|unexpected success)\b", line)
            if end:
                results[pending] = end[1]
                pending = None
    summary = re.findall(r"^(?:Result|Tests result): (.*)$", text, re.M)
    results["(module)"] = summary[-1] if summary else "no summary"
    return results


class Runner:
    """Runs modules, each in its own folder below `base`."""

    def __init__(self, detrec, options, base, timeout):
        self.detrec, self.options, self.base, self.timeout = detrec, options, base, timeout

    def run(self, module, under_engine):
        """(results, outcome) of one run."""
        folder = os.path.join(self.base, module, "cwd")
        shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
        os.makedirs(folder)
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder, "LANG": "C.UTF-8", "TMPDIR": folder,
               "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1",
               "DETREC_TRANSLATION_CACHE": os.path.join(self.base, "translations")}  # fmt: skip
        prefix = [self.detrec, "run", "--engine-only", *self.options, "--"] if under_engine else []
        # -r would shuffle; the seed is fixed for tests that draw from random.
        command = prefix + [PYTHON, "-m", "test", "-v", "-u", "network", "--randseed", "1", module]
        outcome = harness.run(command, folder, env, b"", self.timeout * (6 if under_engine else 1))
        shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
        return parse_results((outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "replace")), outcome

    def check(self, module):
        """(problems, unsteady tests, number of tests, seconds natively, seconds under the engine)."""
        native, outcome = self.run(module, False)
        if outcome.timed_out or len(native) < 2:
            return [f"natively: no results, status {outcome.status}"] + tail(outcome), [], 0, outcome.seconds, 0.0
        engine, engine_outcome = self.run(module, True)
        different = {name for name in set(native) | set(engine) if native.get(name) != engine.get(name)}
        unsteady = []
        if different:
            again, _ = self.run(module, False)
            unsteady = sorted(name for name in different if name != "(module)" and again.get(name) != native.get(name))
            different -= set(unsteady)
            if different == {"(module)"} and unsteady:
                different = set()
        problems = [f"{name}: {native.get(name, 'absent')} natively, {engine.get(name, 'absent')} under the engine"
                    for name in sorted(different)]  # fmt: skip
        if engine_outcome.timed_out:
            problems.insert(0, f"engine: still running after {engine_outcome.seconds:.0f} s")
        elif problems:
            problems.insert(0, f"status {outcome.status} natively, {engine_outcome.status} under the engine")
        if problems:
            problems += explain(engine_outcome, different)
        return problems, unsteady, len(native) - 1, outcome.seconds, engine_outcome.seconds


def tail(outcome, count=15):
    """The last lines of a run's output."""
    text = (outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "backslashreplace")
    return ["    | " + line for line in text.splitlines()[-count:]]


def explain(outcome, different):
    """What the run says about the tests that differ: their tracebacks, and lines of the engine's own."""
    text = (outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "backslashreplace")
    lines = ["    | " + line for line in text.splitlines() if line.startswith("detrec:")][:8]
    for block in re.split(r"^=+$", text, flags=re.M):
        name = re.match(r"\n(?:FAIL|ERROR): (\w+)", block)
        if name and any(test.endswith("." + name[1]) for test in different) and len(lines) < 60:
            lines += ["    | " + line for line in block.strip().splitlines()[:18]]
    return lines or tail(outcome)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", default="")
    parser.add_argument("--option", action="append", default=[], help="a further option for detrec run; repeatable")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds a native run may take")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    modules = options.modules or MODULES
    if options.list:
        print("\n".join(modules))
        return 0
    if not options.detrec:
        parser.error("give --detrec")
    if not os.path.isdir("/usr/lib/python3.11/test"):
        sys.exit("python_tests.py: Python's test suite is not installed (libpython3.11-testsuite, see packages.txt)")
    harness.become_subreaper()
    passed, failed, tests, unsteady = 0, [], 0, {}
    with tempfile.TemporaryDirectory(prefix="python-tests-") as base:
        runner = Runner(os.path.abspath(options.detrec), options.option, base, options.timeout)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for module, running in [(m, pool.submit(runner.check, m)) for m in modules]:
                problems, vary, count, native, engine = running.result()
                tests += count
                if vary:
                    unsteady[module] = vary
                if problems:
                    failed.append((module, problems))
                else:
                    passed += 1
                print(f"{'failed' if problems else 'passed'}  {module}  {count} tests, {native:.1f} s natively, "
                      f"{engine:.1f} s under the engine", flush=True)  # fmt: skip
        left = harness.end_orphans()
    for module, problems in failed:
        print(f"\n--- {module}")
        for line in problems[:80]:
            print("  " + line)
    for module, vary in unsteady.items():
        print(f"unsteady natively, not counted: {module}: {' '.join(vary)}")
    if left:
        print("left running and ended: " + " ".join(left))
    print(f"{tests} tests compared")
    print(f"{passed} passed, {len(failed)} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
