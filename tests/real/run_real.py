#!/usr/bin/env python3
"""Runs real programs natively and under the engine and compares stdout, exit status and produced files.

    run_real.py --detrec build/bin/detrec [--quick] [--allow-missing] [--list] [NAME...]

The rows are in commands.txt, the packages they need in packages.txt. Each run happens in a fresh folder of the same path,
filled with the fixtures. A row whose tool is missing is reported and fails the whole run, unless --allow-missing is given.
Rows tagged stretch are run and reported but never counted as failures. The last line is 'N passed, N failed'.
"""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import os
import re
import shlex
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "guests"))

import fixtures  # noqa: E402
import harness  # noqa: E402

REPOSITORY = os.path.abspath(os.path.join(HERE, "..", ".."))
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


@dataclasses.dataclass
class Row:
    """One row of commands.txt."""

    name: str
    tags: dict
    needs: list
    command: str

    def argv(self, work):
        """The command as an argument vector."""
        text = self.command.replace("{repo}", REPOSITORY).replace("{work}", work)
        for shell in ("sh", "bash"):
            if text.startswith(shell + ": "):
                return [shutil.which(shell, path=PATH) or "/bin/" + shell, "-c", text[len(shell) + 2 :]]
        return shlex.split(text)

    def missing(self):
        """The tools that are not on this machine."""
        needed = list(self.needs)
        if not self.command.startswith(("sh: ", "bash: ", "{work}")):
            needed.append(shlex.split(self.command)[0])
        return sorted({tool for tool in needed if not shutil.which(tool, path=PATH)})


def parse_rows(text):
    """The rows of a commands file; raises ValueError on a line that is no row."""
    rows = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        parts = re.split(r"\s*::\s*", line.strip(), maxsplit=3)
        if len(parts) != 4 or not parts[3]:
            raise ValueError(f"not a row: {line}")
        tags = dict(item.split("=", 1) if "=" in item else (item, "") for item in parts[1].split())
        unknown = set(tags) - {"quick", "stretch", "exit", "timeout", "skip"}
        if unknown:
            raise ValueError(f"unknown tags {sorted(unknown)}: {line}")
        rows.append(Row(parts[0], tags, parts[2].split(), parts[3]))
    names = [row.name for row in rows]
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise ValueError(f"names used twice: {sorted(doubled)}")
    return rows


def environment(folder):
    """What the programs find: fixed, with everything that could differ pinned."""
    return {
        "PATH": PATH, "HOME": folder, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb",
        "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "1000000000", "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0",
        "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b",
        "GIT_AUTHOR_DATE": "1000000000 +0000", "GIT_COMMITTER_DATE": "1000000000 +0000", "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip


class Runner:
    """Runs rows; each in its own folder below `base`."""

    def __init__(self, detrec, options, base, rows):
        self.detrec, self.options, self.base = detrec, options, base
        self.template, self.work = os.path.join(base, "template"), os.path.join(base, "work")
        fixtures.make_template(self.template)
        if any("{work}" in row.command for row in rows):
            fixtures.build_programs(self.work)

    def run(self, row, prefix, timeout):
        """One run in a fresh folder with the fixtures."""
        home = os.path.join(self.base, "row-" + row.name)
        folder = os.path.join(home, "cwd")
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self.template, folder, symlinks=True)
        # Not at home, where the row's files are compared; and a row finds what others have translated.
        env = {**environment(folder), "DETREC_TRANSLATION_CACHE": os.path.join(self.base, "translations")}
        outcome = harness.run(prefix + row.argv(self.work), folder, env, b"", timeout)
        skip = [row.tags["skip"]] if "skip" in row.tags else []
        outcome.files = harness.collect_files(folder, skip)
        shutil.rmtree(home, ignore_errors=True)
        return outcome

    def check(self, row):
        """(problems, seconds natively, seconds under the engine)."""
        timeout = float(row.tags.get("timeout", "30"))
        native = self.run(row, [], timeout)
        wanted = int(row.tags.get("exit", "0"))
        if native.timed_out or native.status != wanted:
            what = "timed out" if native.timed_out else f"status {harness.describe_status(native.status)}, expected {wanted}"
            return [f"natively: {what}"] + tail(native.stderr), native.seconds, 0.0
        prefix = [self.detrec, "run", "--engine-only", *self.options, "--"] if self.detrec else []
        engine = self.run(row, prefix, timeout * 10)
        problems = []
        if engine.timed_out:
            problems.append(f"engine: still running after {engine.seconds:.0f} s")
        elif engine.status != native.status:
            problems.append(
                f"status {harness.describe_status(native.status)} natively, "
                f"{harness.describe_status(engine.status)} under the engine"
            )
        problems += harness.text_diff(native.stdout, engine.stdout, "stdout")
        problems += harness.file_differences(native.files, engine.files)
        if problems:
            problems += ["stderr under the engine:"] + tail(engine.stderr)
        return problems, native.seconds, engine.seconds


def tail(data, count=12):
    """The last lines of an output, indented."""
    return ["    | " + line for line in data.decode("utf-8", "backslashreplace").splitlines()[-count:]]


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", help="the detrec binary; without it every row is compared with itself")
    parser.add_argument("--quick", action="store_true", help="only the rows tagged quick")
    parser.add_argument("--allow-missing", action="store_true", help="missing tools do not fail the run")
    parser.add_argument("--option", action="append", default=[], help="a further option for detrec run; repeatable")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="show the rows and stop")
    parser.add_argument("--times", action="store_true", help="show the seconds of every row")
    parser.add_argument("names", nargs="*", help="patterns of row names")
    return parser.parse_args()


def main():
    options = parse_command_line()
    with open(os.path.join(HERE, "commands.txt")) as file:
        rows = parse_rows(file.read())
    if options.quick:
        rows = [row for row in rows if "quick" in row.tags]
    if options.names:
        rows = [row for row in rows if any(fnmatch.fnmatch(row.name, name) for name in options.names)]
    if options.list:
        print("\n".join(row.name for row in rows))
        return 0
    harness.become_subreaper()
    detrec = os.path.abspath(options.detrec) if options.detrec else ""
    missing = [(row, row.missing()) for row in rows if row.missing()]
    rows = [row for row in rows if not row.missing()]
    passed, failed, stretch, seconds = 0, [], [], [0.0, 0.0]
    with tempfile.TemporaryDirectory(prefix="real-") as base:
        runner = Runner(detrec, options.option, base, rows)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for row, running in [(row, pool.submit(runner.check, row)) for row in rows]:
                problems, native, engine = running.result()
                seconds[0] += native
                seconds[1] += engine
                if not problems:
                    passed += 1
                else:
                    (stretch if "stretch" in row.tags else failed).append((row.name, problems))
                if problems or options.times:
                    print(f"{'failed' if problems else 'passed'}  {row.name}  {native:.2f} s, {engine:.2f} s", flush=True)
        left = harness.end_orphans()
    if left:
        failed.append(("(all)", ["processes were left running: " + " ".join(left)]))
    report(failed, stretch, missing, seconds)
    print(f"{passed} passed, {len(failed)} failed")
    return 0 if passed and not failed and (options.allow_missing or not missing) else 1


def report(failed, stretch, missing, seconds):
    """Everything before the last line."""
    for title, rows in (("failed", failed), ("stretch row failed", stretch)):
        for name, problems in rows:
            print(f"\n--- {name} ({title})")
            for line in problems:
                print("  " + line)
    print()
    for row, tools in missing:
        print(f"skipped {row.name}: missing {' '.join(tools)}")
    print(f"seconds, with two rows at a time: {seconds[0]:.1f} natively, {seconds[1]:.1f} under the engine")
    if stretch:
        print(f"{len(stretch)} stretch rows failed: {' '.join(name for name, _ in stretch)}")


if __name__ == "__main__":
    sys.exit(main())
