"""Recording and replaying one command, for the tests of this folder. Python 3.9 or later, no packages."""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "guests"))

import harness  # noqa: E402  (tests/guests)

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C", "LC_ALL": "C", "TERM": "dumb"}


def program_output(data):
    """What the program wrote to stderr, without the lines that detrec adds."""
    return b"".join(line for line in data.splitlines(True) if not line.startswith(b"detrec: "))


def build(name, folder, *options):
    """Compiles programs/NAME into `folder`; returns the program's path."""
    source = os.path.join(HERE, "programs", name)
    program = os.path.join(folder, os.path.splitext(name)[0])
    compiler = "g++" if name.endswith(".cc") else "gcc"
    subprocess.run([compiler, "-g", "-O1", "-D_GNU_SOURCE", "-pthread", *options, "-o", program, source], check=True, timeout=60)
    return program


class Recorder:
    """Runs detrec in folders of its own below `work`."""

    def __init__(self, detrec, work):
        self.detrec = os.path.abspath(detrec)
        self.work = work

    def fresh(self, name):
        """An empty folder."""
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path

    def record(self, command, trace, stdin=b"", options=(), timeout=60, cwd=None):
        """One recorded run; `command` is a list."""
        folder = cwd or self.fresh("recorded")
        environment = {**ENVIRONMENT, "HOME": folder, **self.translations()}
        argv = [self.detrec, "record", "-q", "-o", trace, *options, "--", *command]
        return harness.run(argv, folder, environment, stdin, timeout)

    def replay(self, trace, timeout=60):
        """A replay in another folder, without the command's input and environment."""
        environment = {"PATH": "/nowhere", **self.translations()}
        return harness.run([self.detrec, "replay", "-a", trace], self.fresh("replayed"), environment, b"", timeout)

    def translations(self):
        """Where detrec keeps them: in one place, so that later recordings and replays find those of earlier ones."""
        return {"DETREC_TRANSLATION_CACHE": os.path.join(self.work, "translations")}


def differences(recorded, replayed):
    """Lines that say how a replay differs from the recorded run."""
    lines = []
    if recorded.timed_out or replayed.timed_out:
        lines.append(f"timed out: recorded {recorded.timed_out}, replayed {replayed.timed_out}")
    if recorded.status != replayed.status:
        lines.append(
            f"status {harness.describe_status(recorded.status)} recorded, "
            f"{harness.describe_status(replayed.status)} replayed"
        )
    lines += harness.text_diff(recorded.stdout, replayed.stdout, "stdout", 12)
    lines += harness.text_diff(program_output(recorded.stderr), program_output(replayed.stderr), "stderr", 12)
    if lines:
        lines += ["| " + line for line in replayed.stderr.decode("utf-8", "replace").splitlines()[:14]]
    return lines


class Score:
    """Counts and prints results."""

    def __init__(self):
        self.passed = self.failed = 0

    def add(self, what, problems):
        """One result: the lines of `problems`, if any, say what is wrong."""
        print(f"{'FAILED' if problems else 'ok':7} {what}", flush=True)
        print("".join(f"    {line}\n" for line in problems), end="")
        self.failed, self.passed = self.failed + bool(problems), self.passed + (not problems)

    def conclude(self):
        """Ends what the tests have left running, which counts as a failure, and prints the sum; the exit status."""
        left = harness.end_orphans()
        if left:
            print("FAILED  processes were left running: " + " ".join(left))
            self.failed += 1
        print(f"{self.passed} passed, {self.failed} failed")
        return 0 if self.passed and not self.failed else 1
