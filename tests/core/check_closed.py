#!/usr/bin/env python3
"""Does the core's library keep to itself?

    check_closed.py ROOT LIBRARY NM

No variable that can change (a global is state that two runs would share), nothing that reads, writes, tells the time or
makes threads, nothing of another part of the program, no header of one either. A fatal check may print and abort.
"""
import pathlib
import re
import subprocess
import sys

# Plain computation, memory, and what base/check.cc needs.
ALLOWED = re.compile(
    r"abort|fprintf|stderr|snprintf|mem(chr|cmp|cpy|move|set)|str(cmp|len)|strto\w+|localeconv|sqrt|nearbyint|__udivti3|"
    r"_GLOBAL_OFFSET_TABLE_|_Unwind_\w+|__cxa_\w+|__gxx_personality_v0|__dso_handle|__errno_location|"
    r"__libc_single_threaded|__stack_chk_fail|_Z\w+|__\w+_chk|DW\.ref\.\w+")
FORBIDDEN_CXX = re.compile(r"std::(chrono|filesystem|thread|mutex|random_device|basic_\w*fstream|basic_\w*filebuf|cout|cerr|cin)")


def symbols(nm, library, *options):
    out = subprocess.run([nm, *options, library], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return [line.split(maxsplit=2 if line[:1].isalnum() else 1) for line in out.splitlines() if line and not line.endswith(":")]


def main():
    root, library, nm = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    wrong = []
    defined = set()
    for symbol in symbols(nm, library, "--demangle", "--defined-only"):
        kind, name = symbol[-2], symbol[-1]
        defined.add(name)
        # Tables that need relocation lie in writable sections too; they are constants, vtables or type information.
        constant = re.search(r"::k[A-Z]\w*$|^(vtable|typeinfo|construction vtable) |_vtable(E\d*\w*)?$|^DW\.ref\.|^guard variable", name)
        if kind in "bBdDsSgGcC" and not constant:
            wrong.append(f"a variable: {name}")
        if name.startswith("guard variable"):
            wrong.append(f"a static that is made at run time: {name}")
    for symbol in symbols(nm, library, "--undefined-only"):
        if not ALLOWED.fullmatch(symbol[-1]):
            wrong.append(f"needs {symbol[-1]}")
    for symbol in symbols(nm, library, "--undefined-only", "--demangle"):
        name = symbol[-1]
        if FORBIDDEN_CXX.search(name) or (re.match(r"detrec::", name) and not name.startswith("detrec::core::")):
            wrong.append(f"needs {name}")
    for path in sorted((root / "server/core").rglob("*")):
        if path.suffix not in (".h", ".cc") or "host" in path.relative_to(root / "server/core").parts:
            continue
        for header in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            if not header.startswith("server/core/") or header.startswith("server/core/host/"):
                wrong.append(f"{path.relative_to(root)} includes {header}")
    print("\n".join(sorted(set(wrong))) or f"{len(defined)} symbols, no state, no input or output, nothing of other parts")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
