#!/usr/bin/env python3
"""Translations that are kept: used, and never for code that is not the same (docs/engine.md).

    kept_translations.py --detrec build/bin/detrec --guests build/guests

Each test runs programs with a directory of its own for the translations. The last line is 'N passed, N failed', with
', N skipped' where the user may not do what a test needs.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

RETURNS = b"\xb8%c\0\0\0\xc3"  # mov eax, n; ret


class Failure(Exception):
    """What is not as it should be."""


class Skipped(Exception):
    """Why a test cannot be made here."""


class Runner:
    """Runs programs under the engine, with translations kept in `work`/kept."""

    def __init__(self, options, work):
        self.detrec = os.path.abspath(options.detrec)
        self.guests = os.path.abspath(options.guests)
        self.work = work
        self.kept = os.path.join(work, "kept")

    @property
    def file(self):
        """Where the translations are, if they are."""
        names = os.listdir(self.kept) if os.path.isdir(self.kept) else []
        expect(len(names) <= 1, f"there are {names}")
        return os.path.join(self.kept, names[0]) if names else ""

    def guest(self, name):
        return os.path.join(self.guests, name)

    def run(self, *command, options=(), kept=None):
        """(output, counters) of a run that must go well."""
        env = dict(os.environ, DETREC_TRANSLATION_CACHE=self.kept if kept is None else kept)
        done = subprocess.run(
            [self.detrec, "run", "--engine-only", "--stats", *options, "--", *command],
            cwd=self.work, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
        )  # fmt: skip
        text = done.stderr.decode("utf-8", "replace")
        if done.returncode != 0:
            raise Failure(f"{command}: status {done.returncode}: {text}")
        counters = {name: int(n) for name, n in re.findall(r"^(\S.*?) +(\d+)$", text, re.MULTILINE)}
        counters["said"] = "".join(re.findall(r"^(?:ticks:|stopped at) .*", text, re.MULTILINE))
        return done.stdout.decode(), counters

    def code_file(self, value):
        """A file with code that returns `value`; always the same file."""
        with open(os.path.join(self.work, "code"), "r+b" if os.path.exists(os.path.join(self.work, "code")) else "wb") as file:
            file.write((RETURNS % value).ljust(4096, b"\0"))


def expect(condition, what):
    if not condition:
        raise Failure(what)


def expect_loaded(counters, share, what):
    """At least this share of the blocks came from the store."""
    loaded, translated = counters["blocks loaded"], counters["blocks translated"]
    expect(loaded >= share * (loaded + translated) > 0, f"{what}: {loaded} blocks loaded, {translated} translated")


def between_runs(runner):
    """A program's second run translates next to nothing."""
    program = runner.guest("control/recursion")
    first, cold = runner.run(program)
    second, warm = runner.run(program)
    expect(first == second, "the output differs")
    expect(cold["blocks loaded"] == 0 and cold["blocks stored"] > 100, f"the first run: {cold}")
    expect_loaded(warm, 0.99, "the second run")


def same_ticks(runner):
    """Ticks and positions do not depend on where the code comes from."""
    for name in ["control/recursion", "control/compute", "control/flags_across", "loader/exceptions_static"]:
        program = runner.guest(name)
        for options in [("--ticks",), ("--stop-at", "20000")]:
            seen = set()
            for refusal in [("--no-translation-cache",), (), ()]:  # the environment is always the same
                _, counters = runner.run(program, options=(*options, *refusal))
                seen.add(re.sub(r" registers=.*", "", counters["said"]))  # libc's start-up takes random bytes
            expect(len(seen) == 1 and seen != {""}, f"{name} {options}: {seen}")


def between_processes(runner):
    """So does the second process of a run."""
    program = runner.guest("control/recursion")
    alone, _ = runner.run(program, kept="session")
    both, counters = runner.run("/bin/sh", "-c", f"{program}; exec {program}", kept="session")
    expect(both == alone + alone, "the output differs")
    expect(counters["blocks loaded"] > 100, f"{counters['blocks loaded']} blocks loaded")


def refused(runner):
    """Nothing is kept when that is not wanted."""
    for options, kept in [((), "off"), (("--no-translation-cache",), None), (("--translate-limit", "1000000"), None)]:
        for _ in range(2):
            _, counters = runner.run(runner.guest("control/recursion"), options=options, kept=kept)
            expect(counters["blocks loaded"] == 0 and counters["blocks stored"] == 0, f"{options} {kept}: {counters}")
    expect(not runner.file, "there is a file")


def same_place_other_code(runner):
    """kept_code maps other files over its code, and relies on code elsewhere; the second run begins with what is kept."""
    for _ in range(3):
        output, counters = runner.run(runner.guest("code/kept_code"))
        expect(output == "done\nok\n", f"it says {output}")
    expect_loaded(counters, 0.9, "the last run")


def file_changes_between_runs(runner):
    """The same file, mapped at the same address, with other code in it."""
    for value in [5, 6, 5, 7, 7]:
        runner.code_file(value)
        output, _ = runner.run(runner.guest("code/kept_code"), "code")
        expect(output == f"{value}\nok\n", f"{value} is {output}")


def file_changes_between_processes(runner):
    """The same within a run: the shell overwrites the file."""
    for value in (5, 6):
        runner.code_file(value)
        os.rename(os.path.join(runner.work, "code"), os.path.join(runner.work, f"code{value}"))
    program = runner.guest("code/kept_code")
    script = f"for v in 5 6 5; do cat code$v > code; {program} code; done"
    for kept in ["session", None]:
        output, _ = runner.run("/bin/sh", "-c", script, kept=kept)
        expect(output == "5\nok\n6\nok\n5\nok\n", f"it says {output}")


def changing_code(runner):
    """Programs that write their own code, twice: memory that can be written is not kept, and all else is right."""
    for name in ["self_patching", "generator", "aliases", "replaced_code", "patched_program", "much_code"]:
        first, _ = runner.run(runner.guest(f"code/{name}"))
        second, counters = runner.run(runner.guest(f"code/{name}"))
        expect(first == second, f"{name}: the output differs")
        expect(counters["blocks loaded"] > 0, f"{name}: nothing is loaded")


def damage(runner, spoil, name):
    program = runner.guest("control/recursion")
    right, _ = runner.run(program)
    runner.run(program)
    spoil()
    output, counters = runner.run(program)
    expect(output == right, f"{name}: the output differs")
    return counters


def damaged_records(runner):
    """A bit in each record, then each byte of places at random: what is damaged is translated."""
    rng = random.Random(1)

    def every_record():
        with open(runner.file, "r+b") as file:
            data = bytearray(file.read())
            used = int.from_bytes(data[:8], "little")
            begin = 64 + 4 * 65536
            for at in range(begin + 96, begin + used, 64):
                data[at] ^= 1 << rng.randrange(8)
            file.seek(0)
            file.write(data[: begin + used])

    counters = damage(runner, every_record, "every record")
    expect(counters["blocks loaded"] == 0, f"{counters['blocks loaded']} damaged blocks loaded")
    for _ in range(5):
        os.unlink(runner.file)

        def some_places():
            with open(runner.file, "r+b") as file:
                data = bytearray(file.read(1 << 20))
                for _ in range(3000):
                    data[rng.randrange(64, len(data))] ^= 1 << rng.randrange(8)
                file.seek(0)
                file.write(data)

        damage(runner, some_places, "places at random")


def damaged_files(runner):
    """Files that are none: too short, random, of another build, other people's, a directory."""

    def rewrite(change):
        def spoil():
            with open(runner.file, "r+b") as file:
                change(file)
        return spoil

    def other_build(file):
        file.seek(8)
        file.write(os.urandom(8))

    for name, spoil in [
        ("short", rewrite(lambda file: file.truncate(100_000))),
        ("empty", rewrite(lambda file: file.truncate(0))),
        ("random", rewrite(lambda file: file.write(os.urandom(1 << 20)))),
        ("another build's", rewrite(other_build)),
        ("writable for others", lambda: os.chmod(runner.file, 0o666)),
    ]:
        counters = damage(runner, spoil, name)
        expect(counters["blocks loaded"] == 0, f"{name}: {counters['blocks loaded']} blocks loaded")
        _, counters = runner.run(runner.guest("control/recursion"))
        expect_loaded(counters, 0.99, f"after the file that was {name}")
    file = runner.file
    os.unlink(file)
    os.mkdir(file)
    runner.run(runner.guest("control/recursion"))


def shrinking_file(runner):
    """The file is cut off while a run that uses it goes on."""
    script = 'echo ready; read line; echo "$line" | tr a-z A-Z; type sort; for i in 1 2; do echo $((i * 21)); done'
    command = ["/bin/sh", "-c", script]
    runner.run("/bin/sh", "-c", f"echo so | {{ {script}; }}")
    for size in [0, 300_000, 500_000]:
        env = dict(os.environ, DETREC_TRANSLATION_CACHE=runner.kept)
        process = subprocess.Popen([runner.detrec, "run", "--engine-only", "--", *command], env=env, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        expect(process.stdout.readline() == "ready\n", "the shell does not start")
        os.truncate(runner.file, size)
        output, _ = process.communicate("so\n", timeout=60)
        expect(process.returncode == 0 and output.startswith("SO\n") and output.endswith("21\n42\n"),
               f"cut off at {size}: {process.returncode}, {output}")  # fmt: skip
        runner.run("/bin/sh", "-c", f"echo so | {{ {script}; }}")


class Tmpfs:
    """A small file system at `path`, as a context; None when this user cannot mount one."""

    def __init__(self, path, size):
        self.path, self.size = path, size

    def __enter__(self):
        os.mkdir(self.path)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size},mode=700", "tmpfs", self.path], capture_output=True)
        self.mounted = mounted.returncode == 0
        return self.path if self.mounted else None

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", "-l", self.path], check=True)


def fill(directory):
    """Takes all room that is left there."""
    with open(os.path.join(directory, "fill"), "ab", buffering=0) as file:
        try:
            while file.write(bytes(4096)) == 4096:
                pass
        except OSError:
            pass
    expect(os.statvfs(directory).f_bavail == 0, "there is room left")


def no_room(runner):
    """A file system without room for the file, or for the pages of its holes: detrec keeps what it can, the engine reads what is there."""
    program = runner.guest("control/recursion")
    right, _ = runner.run(program, kept="off")
    runner.kept = os.path.join(runner.work, "small")
    with Tmpfs(runner.kept, "200k") as small:
        if not small:
            raise Skipped("mounting a tmpfs needs root")
        for left in [0, 4096, 65536, None]:
            if left is None:
                os.unlink(os.path.join(small, "fill"))
            else:
                fill(small)
                os.truncate(os.path.join(small, "fill"), os.path.getsize(os.path.join(small, "fill")) - left)
            output, _ = runner.run(program)
            expect(output == right, f"{left} bytes left: it says {output}")
            made = [name for name in os.listdir(small) if name != "fill"]
            expect(not made, f"{left} bytes left: there is {made}")
    os.rmdir(runner.kept)
    with Tmpfs(runner.kept, "9m") as small:
        runner.run(program)
        kept = runner.file
        used, blocks = used_bytes(kept), os.stat(kept).st_blocks
        fill(small)
        other = ("/bin/sh", "-c", "ls /; sort /dev/null; head /dev/null")
        for command in [other, (program,), ("env", "--block-signal=BUS", *other)]:
            runner.run(*command)  # chains are in holes of the file
        expect(used_bytes(kept) == used, "blocks are added without room")
        expect(os.stat(kept).st_blocks == blocks, "what could not be kept takes room")
        output, counters = runner.run(program)
        expect(output == right, f"it says {output}")
        expect_loaded(counters, 0.99, "without room")
        os.unlink(os.path.join(small, "fill"))
        runner.run(*other)
        expect(used_bytes(kept) > used, "nothing is added when there is room again")


def used_bytes(file):
    with open(file, "rb") as store:
        return int.from_bytes(store.read(8), "little")


def fifo(runner):
    """A FIFO with the file's name is not waited for, and makes way for the file."""
    program = runner.guest("control/recursion")
    runner.run(program)
    file = runner.file
    os.unlink(file)
    os.mkfifo(file)
    right, _ = runner.run(program)
    expect(os.path.isfile(file), "the FIFO is still there")
    _, counters = runner.run(program)
    expect_loaded(counters, 0.99, "after that")
    output, _ = runner.run("/bin/sh", "-c", f"rm {file}; mkfifo {file}; exec {program}")  # the engine opens it
    expect(output == right, f"it says {output}")


def small_stack(runner):
    """A stack that is enough without the store is enough with it, cold and warm."""
    program = runner.guest("control/compute")

    def enough(kib, kept, times):
        # Where on the stack the kernel begins is random, within two pages.
        env = {"PATH": os.environ["PATH"], "DETREC_TRANSLATION_CACHE": kept}
        command = ["/bin/sh", "-c", f'ulimit -s {kib}; exec "$@"', "sh", runner.detrec, "run", "--engine-only", "--", program]
        runs = (subprocess.run(command, env=env, cwd=runner.work, capture_output=True, timeout=120) for _ in range(times))
        return all(run.returncode == 0 for run in runs)

    least = next((kib for kib in range(40, 256, 4) if enough(kib, "off", 5)), None)
    expect(least, "no stack is enough")
    for kept in ["session", runner.kept]:
        expect(enough(least + 4, kept, 5), f"{least} KiB are enough without the store, {least + 4} KiB are not with {kept}")
    expect(runner.file, "nothing is kept")


def umask(runner):
    """The directories and the file are made for their owner, whatever the umask; it stays the program's."""
    before = os.umask(0o777)
    try:
        runner.kept = os.path.join(runner.work, "above/kept")
        output, _ = runner.run("/bin/sh", "-c", "umask")
    finally:
        os.umask(before)
    expect(output == "0777\n", f"the program's umask is {output}")
    for path, mode in [(os.path.dirname(runner.kept), 0o700), (runner.kept, 0o700), (runner.file, 0o600)]:
        expect(os.stat(path).st_mode & 0o7777 == mode, f"{path} has mode {os.stat(path).st_mode:o}")


def many_writers(runner):
    """Processes that keep and load at the same time, some of them killed in the midst of it."""
    script = (
        "for i in 1 2 3 4 5 6 7 8; do (echo b; echo a) | sort | tr a-z A-Z > out$i & "
        "timeout -s KILL 0.0$i sort --help > /dev/null & timeout -s KILL 0.0$i tr --help > /dev/null & done; "
        "wait; cat out*"
    )
    for kept in ["session", None, None]:
        output, _ = runner.run("/bin/bash", "-c", script, kept=kept)
        expect(output == "A\nB\n" * 8, f"it says {output}")


def directories(runner):
    """Where the file is, and that nobody else's directory is used."""
    program = runner.guest("control/recursion")

    def run(**env):
        env = {"PATH": os.environ["PATH"], **env}
        subprocess.run([runner.detrec, "run", "--engine-only", "--", program], env=env, stdout=subprocess.DEVNULL, check=True)

    def files(directory):
        return os.listdir(directory) if os.path.isdir(directory) else []

    home, cache, shared = (os.path.join(runner.work, name) for name in ("home", "cache", "shared"))
    os.mkdir(home)
    run(HOME=home)
    made = os.path.join(home, ".cache/detrec")
    expect(len(files(made)) == 1, f"in {made}: {files(made)}")
    expect(os.stat(made).st_mode & 0o777 == 0o700, "the directory's mode")
    os.mkdir(cache)
    run(HOME=home, XDG_CACHE_HOME=cache)
    expect(len(files(cache + "/detrec")) == 1, "XDG_CACHE_HOME is not used")
    os.mkdir(shared)
    os.chmod(shared, 0o777)
    run(HOME=home, DETREC_TRANSLATION_CACHE=shared)
    expect(not files(shared), "a directory that all may write to is used")
    run()  # nowhere
    for n in range(6):
        engine = os.path.join(runner.work, f"engine{n}")
        shutil.copy(os.path.join(os.path.dirname(runner.detrec), "detrec-guest"), engine)
        run(HOME=home, DETREC_GUEST=engine)
    expect(len(files(made)) == 4, f"{len(files(made))} files are left")


def full(runner):
    """A file without room is replaced by one with what the run had."""
    program = runner.guest("control/recursion")
    runner.run(program)
    inode = os.stat(runner.file).st_ino
    runner.run("/bin/sh", "-c", "ls; sort /dev/null")
    expect(os.stat(runner.file).st_ino == inode, "the file is replaced without need")
    with open(runner.file, "r+b") as file:
        file.write((64 << 20).to_bytes(8, "little"))
    runner.run("/bin/sh", "-c", "cat /dev/null; head /dev/null; wc /dev/null; tail /dev/null; uniq /dev/null")
    expect(os.stat(runner.file).st_ino != inode, "the file is not replaced")
    runner.run(program)
    _, counters = runner.run(program)
    expect_loaded(counters, 0.99, "after that")


def recorded(runner):
    """Recordings made with and without kept translations replay alike, and so do replays with them."""
    program = runner.guest("control/recursion")
    env = dict(os.environ)
    outputs = []
    for recording, replaying in [("off", runner.kept), (runner.kept, "off"), (runner.kept, runner.kept)]:
        trace = os.path.join(runner.work, "trace.detrec")
        for kept, command in [(recording, ["record", "-q", "-o", trace, program]), (replaying, ["replay", "-a", trace])]:
            env["DETREC_TRANSLATION_CACHE"] = kept
            done = subprocess.run([runner.detrec, *command], env=env, cwd=runner.work, capture_output=True, timeout=120)
            expect(done.returncode == 0, f"{command[0]}: {done.stderr.decode()}")
            outputs.append(done.stdout)
    expect(len(set(outputs)) == 1 and outputs[0], "the outputs differ")


TESTS = [between_runs, same_ticks, between_processes, refused, same_place_other_code, file_changes_between_runs,
         file_changes_between_processes, changing_code, damaged_records, damaged_files,
         shrinking_file, no_room, fifo, small_stack, umask, many_writers, directories, full, recorded]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--guests", required=True, help="the folder with the guest programs")
    parser.add_argument("names", nargs="*", help="tests to run; default: all")
    options = parser.parse_args()
    failed = skipped = 0
    chosen = [t for t in TESTS if not options.names or t.__name__ in options.names]
    for test in chosen:
        with tempfile.TemporaryDirectory(prefix="kept-") as work:
            try:
                test(Runner(options, work))
                print(f"passed  {test.__name__}", flush=True)
            except Skipped as reason:
                skipped += 1
                print(f"skipped {test.__name__}: {reason}", flush=True)
            except (Failure, OSError, subprocess.SubprocessError) as problem:
                failed += 1
                print(f"failed  {test.__name__}: {problem}", flush=True)
    print(f"{len(chosen) - failed - skipped} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
