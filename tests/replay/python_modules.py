#!/usr/bin/env python3
"""Records modules of Python's own test suite and replays them: the same output, the same status. By hand: takes minutes.

    python_modules.py --detrec build/bin/detrec [--quick] [--jobs 2] [--slice N+M] [--keep FOLDER] [MODULE...]

The interpreter is the system's (Debian's python3 with libpython3.11-testsuite). Modules whose tests live on
processes are left out, since children are not recorded. --quick: those of the ctest entry. A module that fails natively is recorded all
the same: what counts is that the replay does what the recorded run did.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import shutil
import sys
import tempfile

import common
from common import harness

WARNING = b"detrec: child processes are not recorded\n"
SUITE = "/usr/lib/python3.11/test"
QUICK = "test_bisect test_deque test_float test_fractions test_heapq".split()
MODULES = """
    test_abc test_aifc test_array test_asyncgen test_base64 test_bigmem test_binascii test_binop test_bisect test_bool
    test_bufio test_bytes test_bz2 test_calendar test_charmapcodec test_class test_cmath test_codecs test_collections
    test_colorsys test_complex test_contextlib test_context test_copy test_copyreg test_coroutines test_csv test_ctypes
    test_dataclasses test_datetime test_dbm_dumb test_decimal test_deque test_descr test_dict test_difflib test_email
    test_enum test_enumerate test_epoll test_exceptions test_fcntl test_file test_fileinput test_fileio
    test_filecmp test_float test_fnmatch test_format test_fractions test_frozen test_functools test_generators test_genericpath
    test_getopt test_glob test_grammar test_graphlib test_hashlib test_heapq test_hmac test_html test_htmlparser test_index
    test_int test_ipaddress test_isinstance test_iter test_itertools test_json test_largefile test_linecache test_list
    test_long test_lzma test_mailbox test_math test_memoryio test_memoryview test_mimetypes test_mmap test_netrc test_numeric_tower
    test_opcodes test_openpty test_operator test_ordered_dict test_pathlib test_pickle test_plistlib test_poll test_posixpath
    test_pprint test_queue test_random test_range test_re test_reprlib test_richcmp test_sched test_select test_set test_shelve
    test_shlex test_slice test_sort test_stat test_statistics test_string test_stringprep test_strptime test_struct
    test_sundry test_tarfile test_textwrap test_thread test_threadedtempfile test_threading_local test_threadsignals
    test_time test_timeout test_tokenize test_trace test_tuple test_types test_typing test_ucn test_unicode test_urlparse
    test_userdict test_uuid test_weakref test_with test_wsgiref test_xml_etree test_zipfile test_zlib
""".split()


class Runner:
    """Records and replays modules, each in a folder of its own below `base`."""

    def __init__(self, detrec, base, options):
        self.detrec, self.base, self.options = os.path.abspath(detrec), base, options

    def record_options(self):
        """More words for detrec record."""
        return ["--slice", self.options.slice] if self.options.slice else []

    def check(self, module):
        """(problems, seconds recorded, seconds replayed, MiB)"""
        folder = os.path.join(self.base, module)
        os.makedirs(os.path.join(folder, "cwd"))
        trace = os.path.join(folder, module + ".detrec")
        home = os.path.join(folder, "cwd")
        environment = {**common.ENVIRONMENT, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HOME": home, "TMPDIR": home,
                       "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
        command = ["/usr/bin/python3", "-m", "unittest", "-v", "test." + module]  # python3 -m test starts processes
        recorded = harness.run([self.detrec, "record", "-q", "-o", trace, *self.record_options(), "--", *command], home,
                               environment, b"", self.options.timeout)  # fmt: skip
        if not os.path.exists(trace):
            return [f"no trace: {recorded.stderr[-300:]!r}"], recorded.seconds, 0.0, 0.0
        shutil.rmtree(home)
        os.makedirs(home)
        replayed = harness.run([self.detrec, "replay", "-a", trace], home, {"PATH": "/nowhere"}, b"", self.options.timeout)
        # In the middle of a line of the program's.
        recorded = dataclasses.replace(recorded, stderr=recorded.stderr.replace(WARNING, b""))
        problems = common.differences(recorded, replayed)
        if recorded.status not in (0, 1) or not re.search(rb"^Ran [1-9]\d* test", recorded.stderr, re.M):
            problems.append(f"it does not run: status {recorded.status}: {recorded.stderr[-300:]!r}")
        size = os.path.getsize(trace) / 2**20
        if problems and self.options.keep:
            shutil.copy(trace, self.options.keep)
        shutil.rmtree(folder)
        return problems, recorded.seconds, replayed.seconds, size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--slice", help="as for detrec record")
    parser.add_argument("--keep", help="a folder for traces of modules with problems")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for a run")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    if not os.path.isdir(SUITE):
        print("SKIPPED Python's test suite is not installed (libpython3.11-testsuite, see packages.txt)")
        return 77
    harness.become_subreaper()
    score = common.Score()
    modules = options.modules or (QUICK if options.quick else MODULES)
    with tempfile.TemporaryDirectory(prefix="python-modules-") as base:
        runner = Runner(options.detrec, base, options)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for module, running in [(m, pool.submit(runner.check, m)) for m in modules]:
                problems, record, replay, size = running.result()
                score.add(f"{module}: recorded {record:.1f} s, replayed {replay:.1f} s, {size:.1f} MiB", problems)
    return score.conclude()


if __name__ == "__main__":
    sys.exit(main())
