#!/usr/bin/env python3
"""Breaks chosen lines of the core, one a group, and expects a failing test for each.

    mutate.py ROOT BUILD [GROUP ...]

BUILD is a Ninja build of ROOT in which core_tests is up to date; neither tree is changed. Status 1 when a mutant
survives, 2 when the unchanged tree fails or a line to change is not there.
"""
import pathlib
import shlex
import subprocess
import sys
import tempfile

# group: (file in server/core, line, broken line). The first occurrence is changed.
MUTANTS = {
    "TIME": ("steps/turn.cc", "if (may_charge && last_charged_) {", "if (may_charge) {"),
    "TURN": ("steps/turn.cc", "++r.epoch;", ";"),
    "RUNQ": ("sched/run_queue.cc", "% 200 != 0", "% 201 != 0"),
    "FORK": ("steps/threads.cc", "flags.has(CloneFlags::kChildClearTid) ? child_tid_address : 0", "child_tid_address"),
    "VFORK": ("steps/turn.cc", "if (!barrier.child) return true;", "if (!barrier.child) return false;"),
    "TIMED": ("sched/timed_events.cc", "it->second.deadline = event.deadline + it->second.interval;",
              "it->second.deadline = event.deadline;"),
    "FUTEX": ("sched/futex_table.cc", "if (fuzz == nullptr && chosen.size() == count) break;", ";"),
    "PARK": ("steps/park.cc", "parked.cycle = ticket.cycle;", ";"),
    "RTIMER": ("signal/real_timers.cc", "t.sequence = notice.sequence;", ";"),
    "SIG": ("steps/signal.cc", "if (fenced) fences_.erase(fence);", ";"),
    "CHILD": ("steps/signal.cc", "completed_[key] = {it->second.completion, it->second.result};", ";"),
    "EXEC": ("steps/exec.cc", "given_up_.insert(caller);", ";"),
    "EXIT": ("steps/threads.cc", "waits_.mark_exited(process);", ";"),
    "WAIT": ("steps/turn.cc", "if (ready.child || !ready.any)", "if (ready.child)"),
    "RPC": ("steps/admission.cc", "const bool dead = dead_or_stale(call.sender, call.as);", "const bool dead = false;"),
    "PORT": ("pools/pools.cc", "next_ = port;", ";"),
    "TRACE": ("replay/replayer.cc", "cursor_ = at + 1;", "cursor_ = at;"),
    "PREEMPT": ("replay/slices.cc", "++next_change_;", ";"),
}


class Build:
    """An up-to-date build of core_tests. A mutant is one object, linked before the library that defines it too."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        commands = self.ninja("-t", "commands", "core_tests").splitlines()
        compile_line = next(c for c in reversed(commands) if "/server/core/" in c and " -c " in c)
        words = shlex.split(compile_line)
        self.compiler = []
        skip = False
        for word in words:
            if skip or word in ("-o", "-c", "-MT", "-MF"):
                skip = not skip
            elif word != "-MD":
                self.compiler.append(word)
        link = next(c for c in reversed(commands) if " -o bin/core_tests" in c)
        self.link = shlex.split(link.split("&&")[1] if "&&" in link else link)

    def ninja(self, *args):
        return subprocess.run(["ninja", "-C", self.build, *args], check=True, stdout=subprocess.PIPE, text=True).stdout

    def link_with(self, source, work):
        """The test program with `source` in place of the library's own; None when it does not compile."""
        objects = [str(work / "mutant.o")]
        compiled = subprocess.run([*self.compiler, "-Wno-error", "-O0", "-g0", "-o", objects[0], "-c", str(source)], cwd=self.build)
        if compiled.returncode:
            return None
        at = self.link.index("-o")
        command = self.link[:at] + objects + ["-Wl,--allow-multiple-definition", "-o", str(work / "mutant")]
        subprocess.run(command + self.link[at + 2:], cwd=self.build, check=True)
        return work / "mutant"


def verdict_of(program):
    """How the tests fail; None when they pass."""
    try:
        run = subprocess.run([program, "--gtest_fail_fast", "--gtest_brief=1"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "a hang"
    if run.returncode == 0:
        return None
    failed = [line for line in run.stdout.splitlines() if "FAILED  ]" in line]
    return failed[0].strip() if failed else f"status {run.returncode}: {run.stdout.strip().splitlines()[-1]}"


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    groups = sys.argv[3:] or list(MUTANTS)
    broken = verdict_of(build / "bin/core_tests")
    if broken:
        print(f"the unchanged tree fails: {broken}")
        return 2
    tools = Build(root, build)
    survivors = 0
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        for group in groups:
            name, line, mutant = MUTANTS[group]
            text = (root / "server/core" / name).read_text()
            if line not in text:
                print(f"{group}: {name} has no line {line!r}")
                return 2
            source = work / pathlib.Path(name).name
            source.write_text(text.replace(line, mutant, 1))
            program = tools.link_with(source, work)
            verdict = verdict_of(program) if program else None
            if verdict is None:
                survivors += 1
                print(f"{group}: SURVIVED {line!r}", flush=True)
            else:
                print(f"{group}: killed by {verdict}", flush=True)
    print(f"{len(groups) - survivors} of {len(groups)} mutants killed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
