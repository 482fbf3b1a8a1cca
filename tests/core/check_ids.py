#!/usr/bin/env python3
"""Which ids of the core's specification have no place in code or tests?

    check_ids.py ROOT            compares with the list in docs/core.md; status 1 when they differ
    check_ids.py ROOT --list     prints the ids without a place

tests/core/ids.txt holds every scenario and requirement id. A scenario has its place when a GoogleTest carries it in its
name (S-TURN-1 as S_TURN_1); a requirement when server/core or tests/core name it (TURN-1, "TURN-1 .. TURN-3", or
TURN_1 in the name of a test).
The others have to be exactly those of the table "Left out" in docs/core.md: rows `| ids | why |`, where ids are
separated by commas and A-1..A-4 is a range.
"""
import pathlib
import re
import sys

ID = r"[A-Z]+-\d+"


def expand(group, first, last):
    return {f"{group}-{n}" for n in range(int(first), int(last) + 1)}


def named_in(text):
    found = set(re.findall(rf"(?<![A-Z0-9-]){ID}", text))
    for group, first, last in re.findall(r"\b([A-Z]+)-(\d+) \.\. \1-(\d+)", text):
        found |= expand(group, first, last)
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    wanted = (root / "tests/core/ids.txt").read_text().split()
    tests, requirements = set(), set()
    for path in sorted((root / "tests/core").glob("*.cc")):
        text = path.read_text()
        for name in re.findall(r"^TEST\(\w+,\s*(\w+)\)", text, re.M):
            for group, number in re.findall(r"(?:^|_)S_([A-Z]+)_(\d+)(?=_|$)", name):
                tests.add(f"S-{group}-{number}")
            for group, number in re.findall(r"(?:^|_)(?<!S_)([A-Z]+)_(\d+)(?=_|$)", name):
                requirements.add(f"{group}-{number}")
        # A range in the comment at a file's head says what the file is about, not what is tested.
        text = re.sub(rf"{ID} \.\. {ID}", "", text)
        requirements |= set(re.findall(rf"(?<![A-Z0-9-]){ID}", text))
    for suffix in ("*.h", "*.cc"):
        for path in sorted((root / "server/core").rglob(suffix)):
            requirements |= named_in(path.read_text())
    missing = {i for i in wanted if (i not in tests if i.startswith("S-") else i not in requirements)}
    if "--list" in sys.argv:
        print("\n".join(sorted(missing, key=lambda i: (i.rsplit("-", 1)[0], int(i.rsplit("-", 1)[1])))))
        return 0
    text = (root / "docs/core.md").read_text()
    section = text.split("## Left out", 1)[1].split("\n## ", 1)[0]
    listed = set()
    for row in re.findall(r"^\| ([A-Z].*?) \| .+ \|$", section, re.M):
        for item in row.split(","):
            match = re.fullmatch(rf"((?:S-)?[A-Z]+)-(\d+)(?:\.\.(?:S-)?[A-Z]+-(\d+))?", item.strip())
            if match:
                listed |= expand(match[1], match[2], match[3] or match[2])
    for title, ids in (("without a place and not in docs/core.md", missing - listed),
                       ("in docs/core.md, but they have a place", (listed & set(wanted)) - missing),
                       ("in docs/core.md, but unknown", listed - set(wanted))):
        if ids:
            print(f"{title}: {' '.join(sorted(ids))}")
    if missing != listed:
        return 1
    scenarios = [i for i in wanted if i.startswith("S-")]
    left = [i for i in scenarios if i in missing]
    print(f"{len(scenarios) - len(left)} of {len(scenarios)} scenarios have a test, {len(left)} are left out; "
          f"{len(wanted) - len(scenarios) - len(missing) + len(left)} of {len(wanted) - len(scenarios)} requirements named")
    return 0


if __name__ == "__main__":
    sys.exit(main())
