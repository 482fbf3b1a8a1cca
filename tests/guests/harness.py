"""Running one program natively or under the engine, and comparing what came out.

Used by the runners of tests/guests and tests/real. Python 3.9 or later, no packages.
"""

import ctypes
import dataclasses
import difflib
import os
import re
import shutil
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36


@dataclasses.dataclass
class Outcome:
    """What one run did. `status` is the exit status, or 128+n when signal n ended the program."""

    status: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    seconds: float = 0.0
    files: dict = dataclasses.field(default_factory=dict)


def limit_prefix(text):
    """'as=4000000000 stack=65536' as the start of a command that sets these limits (util-linux's prlimit)."""
    return ["prlimit"] + [f"--{item}" for item in text.split()] + ["--"] if text else []


def become_subreaper():
    """Orphans of the programs we run become our children, so that none is left behind unseen."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_session(session):
    """Kills what is left of a session that we started (a program may have left its process group, not us)."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as stat:
                fields = stat.read().rsplit(b")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[3]) == session:
            try:
                os.kill(int(entry), signal.SIGKILL)
            except ProcessLookupError:
                pass


def run(argv, cwd, env, stdin=b"", timeout=60.0):
    """Runs argv in its own session with stdin from, and stdout and stderr to, plain files; returns an Outcome.

    Files instead of pipes: a grandchild that keeps a pipe open cannot hang us, and the program sees the same kind of
    descriptor every time. They lie beside `cwd`, not in it.
    """
    base = cwd.rstrip("/") + ".io"
    os.makedirs(base, exist_ok=True)
    with open(base + "/stdin", "wb") as file:
        file.write(stdin)

    started = time.monotonic()
    timed_out = False
    with open(base + "/stdin", "rb") as in_file, open(base + "/stdout", "wb") as out_file, open(
        base + "/stderr", "wb"
    ) as error_file:
        try:
            process = subprocess.Popen(
                argv, cwd=cwd, env=env, stdin=in_file, stdout=out_file, stderr=error_file, start_new_session=True
            )
        except OSError as error:
            return Outcome(127, b"", str(error).encode())
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
        kill_session(process.pid)
        process.wait()
    seconds = time.monotonic() - started
    with open(base + "/stdout", "rb") as file:
        stdout = file.read()
    with open(base + "/stderr", "rb") as file:
        stderr = file.read()
    shutil.rmtree(base)
    code = process.returncode
    return Outcome(128 - code if code < 0 else code, stdout, stderr, timed_out, seconds)


def describe_status(status):
    """'0', or '139 (SIGSEGV)'."""
    if status > 128:
        try:
            return f"{status} ({signal.Signals(status - 128).name})"
        except ValueError:
            pass
    return str(status)


def text_diff(native, engine, what, limit=40):
    """A unified diff of two byte strings, at most `limit` lines."""
    lines = list(
        difflib.unified_diff(
            native.decode("utf-8", "backslashreplace").splitlines(),
            engine.decode("utf-8", "backslashreplace").splitlines(),
            "native " + what,
            "engine " + what,
            lineterm="",
            n=2,
        )
    )
    if not lines and native != engine:
        lines = [f"{what}: {len(native)} bytes natively, {len(engine)} under the engine (differ in line ends)"]
    if len(lines) > limit:
        lines = lines[:limit] + [f"... {len(lines) - limit} more lines"]
    return lines


def collect_files(folder, skip=()):
    """Relative path -> content (or '-> target' of a symbolic link) of everything below folder."""
    found = {}
    for root, folders, names in os.walk(folder):
        for name in folders:
            path = os.path.join(root, name)
            if os.path.islink(path):
                found[os.path.relpath(path, folder)] = b"-> " + os.fsencode(os.readlink(path))
        for name in names:
            path = os.path.join(root, name)
            relative = os.path.relpath(path, folder)
            if any(re.search(pattern, relative) for pattern in skip):
                continue
            if os.path.islink(path):
                found[relative] = b"-> " + os.fsencode(os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[relative] = file.read()
    return found


def file_differences(native, engine):
    """Lines that say how two results of collect_files differ."""
    lines = []
    for path in sorted(set(native) | set(engine)):
        if path not in engine:
            lines.append(f"file {path}: only natively")
        elif path not in native:
            lines.append(f"file {path}: only under the engine")
        elif native[path] != engine[path]:
            lines.append(f"file {path}: {len(native[path])} bytes natively, {len(engine[path])} under the engine")
            if b"\0" not in native[path] + engine[path]:
                lines += text_diff(native[path], engine[path], path, limit=12)
    return lines


def cpu_flags():
    """The flag words of /proc/cpuinfo."""
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("flags"):
                return set(line.split(":", 1)[1].split())
    return set()


def missing_need(need):
    """Why this machine cannot serve a `needs` word, or None. Unknown words are looked up among the cpu's flags."""
    if need == "vsyscall":
        with open("/proc/self/maps") as file:
            return None if "[vsyscall]" in file.read() else "no vsyscall page on this kernel"
    if need == "root":
        return None if os.geteuid() == 0 else "needs root"
    if need == "hugetlb":
        with open("/proc/sys/vm/nr_hugepages") as file:
            return None if int(file.read()) > 0 else "no huge pages reserved"
    if need.startswith("tool:"):
        return None if shutil.which(need[5:]) else f"no {need[5:]} on this machine"
    if need.startswith("memory:"):
        wanted = int(need[7:-1]) << {"M": 20, "G": 30}[need[-1]]
        with open("/proc/meminfo") as file:
            free = int(re.search(r"MemAvailable:\s+(\d+)", file.read()).group(1)) << 10
        return None if free >= wanted else f"needs {need[7:]} of memory"
    return None if need in cpu_flags() else f"cpu without {need}"


def our_children():
    """(process id, state, command name) of every child of ours."""
    children = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as stat:
                head, rest = stat.read().rsplit(b")", 1)
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if int(parent) == os.getpid():
            children.append((int(entry), state, head.split(b"(", 1)[1].decode("utf-8", "replace")))
    return children


def end_orphans(patience=2.0):
    """Reaps the processes that fell to us as subreaper; kills those still alive after `patience` seconds and returns
    their names."""
    deadline = time.monotonic() + patience
    while True:
        children = our_children()
        for child, state, _ in children:
            if state == b"Z":
                os.waitpid(child, 0)
        alive = [(child, name) for child, state, name in children if state != b"Z"]
        if not alive or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    for child, _ in alive:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return [name for _, name in alive]
