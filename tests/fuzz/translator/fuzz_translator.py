#!/usr/bin/env python3
"""Runs random code natively and under the engine and compares, sequence by sequence, all that it leaves.

Each variant under the engine takes the translations of the one before, as far as they are kept (code of files); the last
one is run again, so that one loads what another has translated.

    fuzz_translator.py --random-code build/bin/random_code --detrec build/bin/detrec [--minutes 30] [--seed N]

At a difference it finds the smallest piece of the sequence that still differs, prints it disassembled with the two
results, and saves that in --save. The exit status is 0 when nothing differed.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

VARIANTS = ["", "50+20", "997+3"]
PLACEMENTS = ["low", "low-writable", "low-busy", "low-alias", "high", "high-writable", "high-busy", "low-file", "high-file"]


class Fuzzer:
    """What the command line chose, and how the two sides are run."""

    def __init__(self, options):
        self.options = options
        self.sequences = 0
        self.runs = 0
        self.outside = 0
        self.timeouts = 0
        self.loaded = 0  # blocks that were kept
        self.work = tempfile.TemporaryDirectory(prefix="fuzz-translator-")

    def command(self, seed, first, count, variant, extra=()):
        """The command line of one run; `variant` is None natively, else the engine's --slice."""
        command = [os.path.abspath(self.options.random_code), "--seed", str(seed), "--first", str(first)]
        command += ["--count", str(count)] + (["--exotic"] if self.options.exotic else [])
        if self.options.interrupt:
            command += ["--interrupt", str(self.options.interrupt)]
        for placement in self.options.place:
            command += ["--place", placement]
        command += list(extra)
        if variant is None:
            return command
        engine = [os.path.abspath(self.options.detrec), "run", "--engine-only"]
        return engine + ["--stats"] + (["--slice", variant] if variant else []) + ["--"] + command

    def run(self, seed, first, count, variant, extra=(), timeout=120, kept="off"):
        """The lines that a run prints, and how it ended (its own words when it did not end well). `kept`: the directory for
        translations."""
        command = self.command(seed, first, count, variant, extra)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            cwd=self.work.name, env=dict(os.environ, DETREC_TRANSLATION_CACHE=kept),
        )  # fmt: skip
        complaint = ""
        try:
            out, error = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            complaint = "does not end"
            os.killpg(process.pid, signal.SIGKILL)
            out, error = process.communicate()
        loaded = re.search(rb"^blocks loaded +(\d+)$", error, re.MULTILINE)
        self.loaded += int(loaded[1]) if loaded else 0
        if process.returncode != 0 and not complaint:
            complaint = f"status {process.returncode}: {error.decode('utf-8', 'replace').strip()}"
        return out.decode("utf-8", "replace").splitlines(), complaint

    def batch(self, seed, first, count, variants):
        """Runs some sequences all ways. Returns the differences: (variant, sequence number, description)."""
        native, complaint = self.run(seed, first, count, None)
        if complaint or len(native) != count:
            sys.exit(f"natively, seed {seed}: {len(native)} of {count} sequences; {complaint}")
        skipped = [line.split()[0] for line in native if line.endswith(" outside") or line.endswith(" timeout")]
        self.outside += sum(line.endswith(" outside") for line in native)
        self.timeouts += sum(line.endswith(" timeout") for line in native)
        kept = [line for line in native if line.split()[0] not in set(skipped)]
        extra = ["--skip", ",".join(skipped)] if skipped else []
        self.sequences += len(kept)
        found = []
        translations = tempfile.TemporaryDirectory(prefix="kept-", dir=self.work.name)
        for variant in [*variants, variants[-1]]:
            engine, complaint = self.run(seed, first, count, variant, extra, kept=translations.name)
            self.runs += len(engine)
            for ours, theirs in zip(kept, engine):
                if ours == theirs or self.only_slow(seed, int(ours.split()[0]), variant, theirs):
                    continue
                found.append((variant, int(ours.split()[0]), f"natively {ours}, engine {theirs}"))
            if complaint or len(engine) < len(kept):
                at = int(kept[len(engine)].split()[0]) if len(engine) < len(kept) else first + count - 1
                found.append((variant, at, f"the engine's run ends before sequence {at}: {complaint}"))
        translations.cleanup()
        return found

    def only_slow(self, seed, number, variant, line):
        """Whether the engine's run of a sequence was cut off for taking long, and is as the native one when repeated: a
        machine may do nothing for a while."""
        if not line.endswith(" timeout") or any(self.differs(seed, number, variant, []) for _ in range(2)):
            return False
        self.timeouts += 1
        return True

    # ---- Making a difference small

    def differs(self, seed, number, variant, drop, before=0):
        """Whether the sequence, without some items and after so many sequences before it, still differs."""
        extra = ["--drop", ",".join(map(str, drop))] if drop else []
        native, _ = self.run(seed, number - before, before + 1, None, extra, 20)
        if any(line.endswith((" outside", " timeout")) for line in native[-1:]):
            return False
        skipped = [line.split()[0] for line in native if line.endswith((" outside", " timeout"))]
        if skipped:
            extra += ["--skip", ",".join(skipped)]
        engine, complaint = self.run(seed, number - before, before + 1, variant, extra, 20)
        return bool(complaint) or native[-1:] != engine[-1:]

    def shrink(self, seed, number, variant, before):
        """The items that can be left out while the difference stays."""
        verbose, _ = self.run(seed, number, 1, None, ["--verbose"])
        items = [int(line.split()[1]) for line in verbose if line.startswith("item ")]
        kept, drop = items[:-1], []  # the last one leaves
        size = max(1, len(kept) // 2)
        while kept:
            at = 0
            while at < len(kept):
                trial = kept[at : at + size]
                if self.differs(seed, number, variant, drop + trial, before):
                    drop += trial
                    kept = kept[:at] + kept[at + size :]
                else:
                    at += size
            if size == 1:
                break
            size = max(1, size // 2)
        return sorted(drop)

    def report(self, seed, variant, number, description):
        """Prints and saves one difference, as small as it gets."""
        lines = [f"seed {seed}, sequence {number}, slice '{variant}': {description}"]
        before = 0
        if not self.differs(seed, number, variant, []):
            # It takes what ran before, or it does not happen every time.
            for before in (1, 8, 64, 512, number):
                if before <= number and self.differs(seed, number, variant, [], before):
                    break
            else:
                lines.append("not seen again")
                return self.save(lines, seed, number)
            lines.append(f"only after {before} sequences before it")
        drop = self.shrink(seed, number, variant, before) if before <= 64 else []
        extra = (["--drop", ",".join(map(str, drop))] if drop else []) + ["--verbose"]
        native, _ = self.run(seed, number - before, before + 1, None, extra)
        engine, complaint = self.run(seed, number - before, before + 1, variant, extra, 20)
        native, engine = last_sequence(native), last_sequence(engine)
        lines.append(" ".join(self.command(seed, number - before, before + 1, variant, extra)))
        lines += disassemble(native)
        lines += [line for line in native if line.startswith(("place", "  entry"))] + entry_registers(native)
        lines += differences(native, engine)[: self.options.lines]
        if complaint:
            lines.append(f"engine: {complaint}")
        self.save(lines, seed, number)

    def save(self, lines, seed, number):
        """Prints a report and keeps it."""
        os.makedirs(self.options.save, exist_ok=True)
        path = os.path.join(self.options.save, f"difference-{seed}-{number}.txt")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        print("\n".join(lines) + f"\nsaved as {path}\n", flush=True)


def last_sequence(lines):
    """The part of a verbose output that is about the last sequence."""
    starts = [i for i, line in enumerate(lines) if line.startswith("place ")]
    return lines[starts[-1] :] if starts else lines


def entry_registers(lines):
    """The registers that the sequence starts with."""
    for i, line in enumerate(lines):
        if line.startswith("  entry"):
            return lines[i + 1 : i + 5]
    return []


def differences(native, engine):
    """The lines that differ, native above engine."""
    lines = []
    for i in range(max(len(native), len(engine))):
        ours = native[i] if i < len(native) else "(nothing)"
        theirs = engine[i] if i < len(engine) else "(nothing)"
        if ours != theirs:
            lines += [f"  native {ours.strip()}", f"  engine {theirs.strip()}"]
    return lines


def disassemble(lines):
    """The items of a verbose output as objdump shows them, or as bytes where there is none."""
    result = []
    for line in lines:
        match = re.match(r"item (\d+) ([0-9a-f]+) ([0-9a-f]+) ?(.*)", line)
        if not match:
            continue
        result.append(f"item {match[1]}: {match[4]}")
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes.fromhex(match[3]))
            file.flush()
            try:
                text = subprocess.run(
                    ["objdump", "-D", "-b", "binary", "-mi386:x86-64", "--adjust-vma=0x" + match[2], file.name],
                    capture_output=True, text=True, check=True,
                ).stdout  # fmt: skip
            except (OSError, subprocess.CalledProcessError):
                text = f"0x{match[2]}:\t{match[3]}"
        result += [l for l in text.splitlines() if re.match(r"\s*(0x)?[0-9a-f]+:\t", l)]
    return result


def parse_command_line():
    """The options, see the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random-code", required=True)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("--seed", type=int, help="of the first batch (default: from the time)")
    parser.add_argument("--fixed-seed", type=int, help="a batch with this seed before the others")
    parser.add_argument("--count", type=int, default=1000, help="sequences in a batch")
    parser.add_argument("--minutes", type=float, help="go on with further seeds so long (default: one batch)")
    parser.add_argument("--seconds", type=float, help="the same in seconds")
    parser.add_argument("--place", action="append", default=[], choices=PLACEMENTS)
    parser.add_argument("--slice", action="append", help="only these; '' is none")
    parser.add_argument("--exotic", action="store_true", help="more processor state, and rare flags")
    parser.add_argument("--interrupt", type=int, metavar="MICROSECONDS", help="a signal from outside so often")
    parser.add_argument("--most", type=int, default=10, help="stop after so many differences")
    parser.add_argument("--lines", type=int, default=12, help="of the two results to show")
    parser.add_argument("--save", default="fuzz-translator")
    return parser.parse_args()


def main():
    options = parse_command_line()
    fuzzer = Fuzzer(options)
    variants = options.slice if options.slice is not None else VARIANTS
    seed = options.seed if options.seed is not None else time.time_ns() // 1000 % 1_000_000_000
    end = time.monotonic() + 60 * (options.minutes or 0) + (options.seconds or 0)
    seeds = [options.fixed_seed] if options.fixed_seed is not None else []
    print(f"seeds {', '.join(map(str, seeds + [seed]))} and on", flush=True)
    found = 0
    first_round = True
    while first_round or seeds or time.monotonic() < end:
        if seeds:
            current = seeds.pop()
        else:
            current, first_round = seed, False
            seed += 1
        seen = set()
        for variant, number, description in fuzzer.batch(current, 0, options.count, variants):
            if number in seen:
                continue
            seen.add(number)
            found += 1
            fuzzer.report(current, variant, number, description)
            if found >= options.most:
                break
        if found >= options.most:
            print("enough differences", flush=True)
            break
    print(
        f"{fuzzer.sequences} sequences compared in {fuzzer.runs} runs, {found} differences "
        f"({fuzzer.outside} left out for touching the engine's memory, {fuzzer.timeouts} for not ending), "
        f"{fuzzer.loaded} kept blocks loaded"
    )
    if not fuzzer.loaded and (not options.place or "low-file" in options.place or "high-file" in options.place):
        sys.exit("no kept translation was used")
    if not fuzzer.sequences:
        sys.exit("nothing was compared")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
