"""What is measured: the rows of the table, and the inputs they need."""
import random
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"


@dataclass
class Workload:
    """One row: a command with fixed output, run `repeat` times per sample."""

    name: str
    group: str  # "compute", "syscalls", "threads" or "processes"
    command: list
    repeat: int = 1
    goal: float | None = None  # ratio to native that recording is to reach first
    slow: bool = False  # too slow for the comparison tools
    env: dict = field(default_factory=dict)
    sliced: bool = False  # also measured with a preemption every so many ticks (bench.py)

    def program(self):
        """The command's program as an absolute path, or None if it is not installed."""
        return shutil.which(str(self.command[0]))


def write_text(path, megabytes, seed=1):
    """Text of words with a skewed distribution: compresses about as prose does."""
    rng = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgk"
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(2, 11))) for _ in range(8000)]
    weights = [1 / (rank + 3) for rank in range(len(vocabulary))]
    with open(path, "w") as out:
        size = 0
        while size < megabytes * 1e6:
            line = " ".join(rng.choices(vocabulary, weights, k=12)) + ".\n"
            out.write(line)
            size += len(line)


def write_c_source(path, functions):
    """A large C file without includes: loops, switches, structures, calls, floating point."""
    rng = random.Random(2)
    parts = [
        "struct node { struct node *next; int key; double weight; unsigned char tag[16]; };\n"
        "extern int observe(int);\nextern struct node *allocate(unsigned long);\n"
    ]
    for i in range(functions):
        a, b, c = (rng.randint(1, 999) for _ in range(3))
        cases = "".join(
            f"      case {n}: sum += n->tag[{n % 16}] * {rng.randint(1, 99)}; break;\n" for n in range(rng.randint(4, 12))
        )
        callee = f"function_{rng.randint(0, i - 1)}(n, {c % 7})" if i else "0"
        parts.append(
            f"int function_{i}(struct node *n, int depth) {{\n"
            f"  int sum = {a}; double w = {b}.5;\n"
            f"  for (int i = 0; i < {c}; ++i) {{ sum ^= i * {a}; if (sum % {b + 1} == 3) sum += observe(i); }}\n"
            f"  while (n && depth-- > 0) {{\n"
            f"    switch (n->key & 15) {{\n{cases}      default: w = w * n->weight + {c}; break;\n    }}\n"
            f"    if (!n->next) {{ n->next = allocate(sizeof *n); n->next->key = sum; n->next->weight = w; }}\n"
            f"    n = n->next;\n  }}\n"
            f"  return sum + (int)w + {callee};\n}}\n"
        )
    Path(path).write_text("".join(parts))


def sqlite_script(rows):
    return (
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, value INTEGER, ratio REAL);"
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})"
        " INSERT INTO t SELECT i, 'name ' || (i * 7919 % 100003), i * 31 % 1009, i / 7.0 FROM n;"
        "CREATE INDEX by_name ON t(name);"
        "SELECT value % 10, count(*), sum(ratio) FROM t GROUP BY 1 ORDER BY 1;"
        "SELECT count(*) FROM t a JOIN t b ON a.name = b.name WHERE a.id < b.id;"
        "UPDATE t SET value = value + 1 WHERE id % 3 = 0;"
        "SELECT sum(value), max(length(name)) FROM t WHERE name LIKE '%77%';"
    )


def compiler_proper():
    """The path of cc1, or "cc1" where there is no gcc."""
    if shutil.which("gcc") is None:
        return "cc1"
    return subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()


def make_workloads(scratch, bench_programs, scale):
    """All rows. `scale` 1 sizes each for about a second natively; smaller values shrink the work.

    Writes the inputs into `scratch`; `bench_programs` is where the compiled programs are.
    """

    def size(full):
        return max(1, round(full * scale))

    def beginning_of(path, megabytes):
        part = scratch / f"text-{megabytes}"
        part.write_bytes(path.read_bytes()[: max(50_000, int(megabytes * 1e6 * scale))])
        return part

    text, source = scratch / "text", scratch / "big.c"
    write_text(text, max(0.1, 20 * scale))
    write_c_source(source, size(80))
    seeded = {"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"}

    def compute(name, *command, **options):
        return Workload(name, "compute", [str(word) for word in command], env=seeded, goal=1.9, **options)

    def syscalls(name, kind, goal):
        return Workload(name, "syscalls", [str(bench_programs / "system_calls"), kind, str(size(1000))], goal=goal)

    return [
        compute("gzip -9", "gzip", "-9", "-c", text),
        compute("bzip2", "bzip2", "-c", beginning_of(text, 10)),
        compute("xz", "xz", "-c", "-T1", beginning_of(text, 2)),
        compute("sqlite3 300k rows", "sqlite3", ":memory:", sqlite_script(size(300_000))),
        compute("python3", "/usr/bin/python3", PROGRAMS / "mixed.py", size(40)),
        compute("perl", "perl", PROGRAMS / "mixed.pl", size(70)),
        compute("cc1 -O2", compiler_proper(), "-quiet", "-O2", source, "-o", "-"),
        compute("recursive calls", bench_programs / "recursive_calls", 40 if scale >= 1 else 25),
        compute("C++ virtual, map", bench_programs / "virtual_calls", size(1600), sliced=True),
        compute("tight loop", bench_programs / "tight_loop", size(200), sliced=True),
        syscalls("1M getpid", "getpid", 0.2),
        syscalls("1M clock_gettime", "clock_gettime", 3),
        syscalls("1M read of 64 bytes", "read", 2),
        syscalls("1M pipe write+read", "pipe", 2),
        Workload("token by condvar, 100k", "threads", [str(bench_programs / "token"), str(size(100_000))], goal=8),
        Workload("4 threads computing", "threads", [str(bench_programs / "parallel"), str(size(200))], goal=2.6),
        Workload("/bin/true", "processes", ["/bin/true"], repeat=size(50)),
        Workload(
            "bash, 200 x /bin/true",
            "processes",
            ["bash", "-c", f"for i in $(seq {size(200)}); do /bin/true; done"],
            goal=3.5,
        ),
    ]
