#!/usr/bin/env python3
"""Runs guest programs natively and under the engine and compares stdout, exit status and terminating signal.

    run_guests.py --manifest build/guests/guests.manifest --native-only
    run_guests.py --manifest build/guests/guests.manifest --detrec build/bin/detrec [--slice 1000+50 ...] [NAME...]
    run_guests.py --manifest build/guests/guests.manifest --detrec build/bin/detrec --record [--slice ...] [NAME...]

With --record each guest is recorded and then replayed in another folder: the recorded run must be like the native one,
and the replayed one like the recorded one (stderr too), without a divergence.

A guest says in its head comment how it is run, one annotation a line:

    // @args: one "two three"       program arguments (shell quoting); {dir} is the guest's own folder
    // @env: NAME=value ...         additions to the small fixed environment
    // @stdin: text                 standard input, with \\n escapes
    // @needs: avx512f vsyscall     cpu flags (as in /proc/cpuinfo), vsyscall, root, tool:NAME, memory:2G
    // @limits: as=4000000000       resource limits set before the program starts
    // @exit: 3   or   @signal: SIGSEGV    how it ends when all is well (default: exit 0)
    // @timeout: 30                 seconds natively (under the engine: ten times as long)
    // @engine-only-exit: 125       an expected difference: how it ends under the engine, where stdout is not compared
    // @engine-stderr: regex        what the engine must then have said
    // @differs: why                required beside the two above: the reason of the difference
    // @recorded-differs: why       the recorded run cannot be like the native one; the replayed one still must be like it
    // @recorded-part: why          the recording holds a part of the run only (children, say): what the replay writes must be
    //                              among what the recorded run wrote, in its order, with the same exit status
    // @not-replayed: why           there is no trace, or not all that happened is in it

Names are shell patterns over theme/name; a path of a program works too. Skipped guests are listed with the reason.
The last line is 'N passed, N failed'; the exit status is 0 when nothing failed and something ran.
"""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile

import harness

KNOWN = {"args", "env", "stdin", "needs", "limits", "exit", "signal", "timeout", "engine-only-exit",
         "engine-stderr", "differs", "recorded-differs", "recorded-part",
         "not-replayed"}  # fmt: skip


RECORDING_NOTES = ("recorded-differs", "recorded-part", "not-replayed")


@dataclasses.dataclass
class Guest:
    """One program and how it is run."""

    name: str
    program: str
    source: str = ""
    notes: dict = dataclasses.field(default_factory=dict)

    def argv(self):
        """The command, natively."""
        folder = os.path.dirname(self.program)
        return [self.program] + [a.replace("{dir}", folder) for a in shlex.split(self.notes.get("args", ""))]

    def expected_status(self):
        """How the guest ends when all is well."""
        if "signal" in self.notes:
            return 128 + signal.Signals[self.notes["signal"]].value
        return int(self.notes.get("exit", "0"))


class AnnotationError(Exception):
    """A head comment that does not say what we can understand."""


def parse_annotations(text, where="?"):
    """The @word: value lines of a source's head comment."""
    notes = {}
    for line in text.splitlines()[:40]:
        match = re.match(r"\s*(?://|#|;|\*)\s*@([\w-]+):\s*(.*?)\s*$", line)
        if match:
            if match[1] not in KNOWN:
                raise AnnotationError(f"{where}: unknown annotation @{match[1]}")
            notes[match[1]] = match[2]
    if "engine-only-exit" in notes and not notes.get("differs"):
        raise AnnotationError(f"{where}: an expected difference needs @differs: with the reason")
    for word in RECORDING_NOTES:
        if word in notes and not notes[word]:
            raise AnnotationError(f"{where}: @{word}: needs the reason")
    return notes


def load_manifest(path):
    """The guests of a manifest written by detrec_guest_manifest()."""
    guests = []
    with open(path) as file:
        for line in file.read().splitlines():
            if line:
                name, program, source = line.split("\t")
                with open(source, errors="replace") as text:
                    guests.append(Guest(name, program, source, parse_annotations(text.read(), source)))
    return guests


def select(guests, patterns):
    """The guests whose names match; a pattern that is a program's path becomes a guest without annotations."""
    if not patterns:
        return guests
    chosen = []
    for pattern in patterns:
        matching = [g for g in guests if fnmatch.fnmatch(g.name, pattern) or g.name.startswith(pattern + "/")]
        if not matching and os.path.isfile(pattern) and os.access(pattern, os.X_OK):
            path = os.path.abspath(pattern)
            matching = [g for g in guests if g.program == path] or [Guest(os.path.basename(path), path)]
        if not matching:
            sys.exit(f"run_guests.py: no guest matches '{pattern}'")
        chosen += [g for g in matching if g not in chosen]
    return chosen


@dataclasses.dataclass
class Settings:
    """What the command line chose."""

    detrec: str
    options: list
    timeout: float
    work: str
    record: bool = False


def run_once(guest, prefix, timeout, work, tag, replays=None):
    """One run in a fresh folder; the path is the same for every run of a guest, so printed paths agree. `replays` is the
    whole command of a replay, which needs neither the guest nor what it is given."""
    home = os.path.join(work, re.sub(r"\W", "_", guest.name + tag))
    folder = os.path.join(home, "cwd")
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(folder)
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "LANG": "C", "LC_ALL": "C"}
    # Not in the guest's home; and what one guest has translated another can use.
    env["DETREC_TRANSLATION_CACHE"] = os.environ.get("DETREC_TRANSLATION_CACHE", os.path.join(work, "translations"))
    env.update(item.split("=", 1) for item in shlex.split(guest.notes.get("env", "").replace("{dir}", os.path.dirname(guest.program))))
    stdin = guest.notes.get("stdin", "").encode().decode("unicode_escape").encode("latin-1")
    try:
        if replays:
            return harness.run(replays, folder, env, b"", timeout)
        limits = harness.limit_prefix(guest.notes.get("limits", ""))
        return harness.run(limits + prefix + guest.argv(), folder, env, stdin, timeout)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def judge_native(guest, native):
    """Why the guest is not well natively (a list of lines, empty when it is)."""
    if native.timed_out:
        return [f"natively: still running after {native.seconds:.0f} s"]
    if native.status != guest.expected_status():
        return [
            f"natively: status {harness.describe_status(native.status)}, "
            f"expected {harness.describe_status(guest.expected_status())}"
        ] + tail(native.stdout) + tail(native.stderr)  # fmt: skip
    return []


def tail(data, count=12):
    """The last lines of an output, indented."""
    return ["    | " + line for line in data.decode("utf-8", "backslashreplace").splitlines()[-count:]]


def judge_engine(guest, native, engine):
    """How the engine's run differs from the native one (a list of lines, empty when it does not)."""
    if engine.timed_out:
        return [f"engine: still running after {engine.seconds:.0f} s"] + tail(engine.stdout) + tail(engine.stderr)
    if "engine-only-exit" in guest.notes:
        problems = []
        if engine.status != int(guest.notes["engine-only-exit"]):
            problems.append(
                f"engine: status {harness.describe_status(engine.status)}, "
                f"expected {guest.notes['engine-only-exit']} ({guest.notes['differs']})"
            )
        wanted = guest.notes.get("engine-stderr", "")
        if not re.search(wanted, engine.stderr.decode("utf-8", "replace")):
            problems.append(f"engine: stderr does not match '{wanted}'")
        return problems + (tail(engine.stderr) if problems else [])
    problems = []
    if engine.status != native.status:
        problems.append(
            f"status {harness.describe_status(native.status)} natively, "
            f"{harness.describe_status(engine.status)} under the engine"
        )
    problems += harness.text_diff(native.stdout, engine.stdout, "stdout")
    return problems + (["  stderr under the engine:"] + tail(engine.stderr) if problems and engine.stderr else [])


def without_own_lines(data):
    """What a program wrote to stderr, without the lines that detrec adds there."""
    return b"".join(line for line in data.splitlines(True) if not line.startswith(b"detrec: "))


def is_part_of(part, whole):
    """Whether the bytes of `part` are among those of `whole`, in their order: others have written in between."""
    left = iter(whole)
    return all(any(byte == other for other in left) for byte in part)


def judge_replay(guest, recorded, replayed):
    """How the replay differs from the recorded run (a list of lines, empty when it does not)."""
    if replayed.timed_out:
        return [f"replay: still running after {replayed.seconds:.0f} s"] + tail(replayed.stdout) + tail(replayed.stderr)
    problems = []
    if replayed.status != recorded.status:
        problems.append(
            f"status {harness.describe_status(recorded.status)} recorded, "
            f"{harness.describe_status(replayed.status)} replayed"
        )
    if "recorded-part" in guest.notes:
        if not is_part_of(replayed.stdout, recorded.stdout):
            problems += ["stdout: not a part of what was recorded"]
            problems += harness.text_diff(recorded.stdout, replayed.stdout, "stdout")
    else:
        problems += harness.text_diff(recorded.stdout, replayed.stdout, "stdout")
        problems += harness.text_diff(without_own_lines(recorded.stderr), without_own_lines(replayed.stderr), "stderr")
    return problems + (["  stderr of the replay:"] + tail(replayed.stderr, 30) if problems and replayed.stderr else [])


def check_recording(guest, settings, slice_text, native, limit, tag):
    """A recorded and a replayed run: a list of (variant, problems)."""
    trace = os.path.join(settings.work, re.sub(r"\W", "_", guest.name + tag + slice_text) + ".detrec")
    prefix = [settings.detrec, "record", "-q", "-o", trace] + settings.options
    prefix += (["--slice", slice_text] if slice_text else []) + ["--"]
    variant = f" slice {slice_text}" if slice_text else ""
    try:
        recorded = run_once(guest, prefix, limit * 10, settings.work, tag)
        problems = judge_engine(guest, native, recorded) if "recorded-differs" not in guest.notes else []
        results = [("recorded" + variant, problems)]
        if "not-replayed" in guest.notes:
            return results
        if recorded.timed_out or not os.path.exists(trace):
            return results if problems or not os.path.exists(trace) else [("recorded" + variant, ["no trace"])]
        replay = [settings.detrec, "replay", "-a", trace]
        replayed = run_once(guest, [], limit * 3, settings.work, tag + "_replay", replay)
        return results + [("replayed" + variant, judge_replay(guest, recorded, replayed))]
    finally:
        if os.path.exists(trace):
            os.unlink(trace)


def check(guest, settings, slices):
    """All runs of one guest: a list of (variant, problems)."""
    limit = float(guest.notes.get("timeout", settings.timeout))
    tag = "".join(slices)
    native = run_once(guest, [], limit, settings.work, tag)
    problems = judge_native(guest, native)
    if problems or not settings.detrec:
        return [("native", problems)]
    results = []
    for slice_text in slices:
        if settings.record:
            results += check_recording(guest, settings, slice_text, native, limit, tag)
            continue
        prefix = [settings.detrec, "run", "--engine-only"] + settings.options
        prefix += (["--slice", slice_text] if slice_text else []) + ["--"]
        engine = run_once(guest, prefix, limit * 10, settings.work, tag)
        results.append((f"slice {slice_text}" if slice_text else "engine", judge_engine(guest, native, engine)))
    return results


def skip_reason(guest):
    """Why the guest cannot run on this machine, or None."""
    for need in guest.notes.get("needs", "").split():
        reason = harness.missing_need(need)
        if reason:
            return reason
    return None


def parse_command_line():
    """The options, see the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--manifest", help="the list of guests, written by the build")
    parser.add_argument("--detrec", help="the detrec binary")
    parser.add_argument("--native-only", action="store_true", help="only let each guest check itself natively")
    parser.add_argument("--record", action="store_true", help="record and replay instead of detrec run")
    parser.add_argument("--slice", action="append", default=[], metavar="N[+M]", help="a slice variant; repeatable")
    parser.add_argument("--option", action="append", default=[], help="a further option for detrec run; repeatable")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds a native run may take")
    parser.add_argument("--repeat", type=int, default=1, help="run everything so many times")
    parser.add_argument("--list", action="store_true", help="show the guests' names and stop")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if not options.list and bool(options.detrec) == options.native_only:
        parser.error("give either --detrec or --native-only")
    if options.detrec and not os.access(options.detrec, os.X_OK):
        parser.error(f"{options.detrec} is not there")
    return options


def main():
    options = parse_command_line()
    guests = select(load_manifest(options.manifest) if options.manifest else [], options.names)
    if options.list:
        print("\n".join(guest.name for guest in guests))
        return 0
    harness.become_subreaper()
    passed, failures, skipped = 0, [], []
    with tempfile.TemporaryDirectory(prefix="guests-") as work:
        detrec = os.path.abspath(options.detrec) if options.detrec else ""
        settings = Settings(detrec, options.option, options.timeout, work, options.record)
        runnable = []
        for guest in guests:
            reason = skip_reason(guest)
            if reason:
                skipped.append((guest.name, reason))
            else:
                runnable.append(guest)
        for _ in range(options.repeat):
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                runs = [(g, pool.submit(check, g, settings, options.slice or [""])) for g in runnable]
                for guest, run in runs:
                    for variant, problems in run.result():
                        if problems:
                            failures.append((guest.name, variant, problems))
                            print(f"failed  {guest.name} [{variant}]", flush=True)
                        else:
                            passed += 1
        left = harness.end_orphans()
        if left:
            failures.append(("(all)", "at the end", ["processes were left running: " + " ".join(left)]))
    if options.record:
        for word in RECORDING_NOTES:
            noted = [g for g in runnable if word in g.notes]
            print(f"{len(noted)} guests with @{word}")
            for guest in noted:
                print(f"    {guest.name}: {guest.notes[word]}")
    report(passed, failures, skipped)
    return 0 if passed and not failures else 1


def report(passed, failures, skipped):
    """The table of failures with their differences, then the skipped ones, then the counts."""
    if failures:
        width = max(len(name) for name, _, _ in failures)
        print("\n" + "=" * 100)
        for name, variant, problems in failures:
            print(f"{name:{width}}  [{variant}]  {problems[0]}")
        print("=" * 100)
        for name, variant, problems in failures:
            print(f"\n--- {name} [{variant}]")
            for line in problems:
                print("  " + line)
        print()
    for name, reason in skipped:
        print(f"skipped {name}: {reason}")
    print(f"{passed} passed, {len(failures)} failed")


if __name__ == "__main__":
    sys.exit(main())
