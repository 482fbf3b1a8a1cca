#!/usr/bin/env python3
"""Breaks chosen lines of the core, one a group, and expects a failing test for each.

    mutate.py ROOT WORKDIR [GROUP ...]

Works on a copy of server/core and tests/core in WORKDIR, which is kept for the next time. Status 1 when a mutant
survives, 2 when the unchanged tree fails or a line to change is not there.
"""
import pathlib
import shutil
import subprocess
import sys

# group: (file in server/core, line, broken line). The first occurrence is changed.
MUTANTS = {
    "TIME": ("core_turn.cc", "if (may_charge && last_charged_) {", "if (may_charge) {"),
    "TURN": ("core_turn.cc", "++r.epoch;", ";"),
    "RUNQ": ("sched/run_queue.cc", "% 200 != 0", "% 201 != 0"),
    "FORK": ("core_threads.cc", "flags.has(CloneFlags::kChildClearTid) ? child_tid_address : 0", "child_tid_address"),
    "VFORK": ("core_turn.cc", "if (!barrier.child) return true;", "if (!barrier.child) return false;"),
    "TIMED": ("sched/timed_events.cc", "it->second.deadline = event.deadline + it->second.interval;",
              "it->second.deadline = event.deadline;"),
    "FUTEX": ("sched/futex_table.cc", "if (fuzz == nullptr && chosen.size() == count) break;", ";"),
    "PARK": ("core_park.cc", "parked.cycle = ticket.cycle;", ";"),
    "RTIMER": ("signal/real_timers.cc", "t.sequence = notice.sequence;", ";"),
    "SIG": ("core_signal.cc", "if (fenced) fences_.erase(fence);", ";"),
    "CHILD": ("core_signal.cc", "completed_[key] = {it->second.completion, it->second.result};", ";"),
    "EXEC": ("core_exec.cc", "given_up_.insert(caller);", ";"),
    "EXIT": ("core_threads.cc", "waits_.mark_exited(process);", ";"),
    "WAIT": ("core_turn.cc", "if (ready.child || !ready.any)", "if (ready.child)"),
    "RPC": ("core_admission.cc", "const bool dead = dead_or_stale(call.sender, call.as);", "const bool dead = false;"),
    "PORT": ("pools/pools.cc", "next_ = port;", ";"),
    "TRACE": ("replay/replayer.cc", "cursor_ = at + 1;", "cursor_ = at;"),
    "PREEMPT": ("replay/slices.cc", "++next_change_;", ";"),
}

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(mutants LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_CXX_FLAGS "-O0 -g0")
include(CTest)
include(cmake/targets.cmake)
add_subdirectory(server/core)
add_subdirectory(tests/core)
set_target_properties(core_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
"""


def sync(source, target):
    """Copies what differs, so that unchanged files are not built again."""
    for path in source.rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(source)
            if not copy.exists() or copy.read_bytes() != path.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)


def build_and_test(work):
    built = subprocess.run(["ninja", "-C", work / "build", "-j2", "core_tests"], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    if built.returncode:
        return "does not build:\n" + built.stdout[-2000:]
    try:
        run = subprocess.run([work / "build/bin/core_tests", "--gtest_fail_fast", "--gtest_brief=1"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "hangs"
    if run.returncode == 0:
        return None
    failed = [line for line in run.stdout.splitlines() if "FAILED  ]" in line]
    return failed[0].strip() if failed else f"status {run.returncode}: {run.stdout.strip().splitlines()[-1]}"


def main():
    root, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    groups = sys.argv[3:] or list(MUTANTS)
    work.mkdir(parents=True, exist_ok=True)
    for part in ("cmake", "server/core", "tests/core"):
        sync(root / part, work / part)
    top = work / "CMakeLists.txt"
    if not top.exists() or top.read_text() != CMAKE:
        top.write_text(CMAKE)
    subprocess.run(["cmake", "-S", work, "-B", work / "build", "-G", "Ninja"], check=True, stdout=subprocess.DEVNULL)
    broken = build_and_test(work)
    if broken:
        print(f"the unchanged tree: {broken}")
        return 2
    survivors = 0
    for group in groups:
        name, line, mutant = MUTANTS[group]
        path = work / "server/core" / name
        text = path.read_text()
        if line not in text:
            print(f"{group}: {name} has no line {line!r}")
            return 2
        path.write_text(text.replace(line, mutant, 1))
        try:
            verdict = build_and_test(work)
        finally:
            path.write_text(text)
        if verdict is None or verdict.startswith("does not build"):
            survivors += 1
            print(f"{group}: SURVIVED {line!r} {verdict or ''}", flush=True)
        else:
            print(f"{group}: killed by {verdict}", flush=True)
    print(f"{len(groups) - survivors} of {len(groups)} mutants killed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
