"""The files that the rows of commands.txt find in their folder, and the programs built once for all of them.

Everything generated is made from fixed seeds, so that a failure can be repeated; the RSA key alone is new in every run
of the runner, and the same for both sides of a comparison.
"""

import json
import os
import random
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = (
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore "
    "magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat"
).split()


def make_template(folder):
    """Fills `folder` with the fixtures."""
    shutil.copytree(os.path.join(HERE, "fixtures"), folder, dirs_exist_ok=True)
    rng = random.Random(20240229)

    def write(name, content):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    lines = [" ".join(rng.choice(WORDS) for _ in range(rng.randint(3, 14))) for _ in range(5000)]
    write("text.txt", "\n".join(lines) + "\n")
    write("numbers.txt", "".join(f"{i} {i * 7919 % 10007} {rng.random() * 1000:.4f}\n" for i in range(20000)))
    write("random.bin", rng.randbytes(400000) + bytes(50000) + b"abcd" * 20000)
    items = [{"name": f"item{i}", "value": rng.randint(0, 999), "tags": rng.sample(WORDS, 3)} for i in range(2000)]
    write("data.json", json.dumps({"items": items}))
    write("picture.ppm", b"P6 96 64 255\n" + bytes((x * y + c * 40) & 255 for y in range(64) for x in range(96) for c in range(3)))
    for name in ("a.txt", "b.txt", "sub/f1", "sub/f2", "sub/deep/f3", "other/g"):
        write("tree/" + name, " ".join(rng.choice(WORDS) for _ in range(200)) + "\n")
    for root, folders, names in os.walk(folder):
        for name in folders + names:
            os.utime(os.path.join(root, name), (1000000000, 1000000000))
    openssl = shutil.which("openssl")
    if openssl:
        key = subprocess.run([openssl, "genrsa", "1024"], capture_output=True, check=True).stdout
        write("key.pem", key)


def build_programs(folder):
    """Builds the programs that rows name by {work}; what cannot be built is missing then, and its rows are reported."""
    os.makedirs(folder, exist_ok=True)

    def build(name, compiler, source, *options):
        command = [compiler, "-g", "-O1", *options, "-o", os.path.join(folder, name), os.path.join(HERE, "fixtures", source)]
        result = subprocess.run(command + ["-lm"], capture_output=True, text=True)
        if result.returncode != 0:
            print(f"cannot build {name}: {result.stderr.strip().splitlines()[-1:]}")

    build("program-pie", "gcc", "program.c", "-pie", "-fPIE")
    build("program-no-pie", "gcc", "program.c", "-no-pie", "-fno-pie")
    build("program-static", "gcc", "program.c", "-static")
    build("program-debug", "gcc", "program.c", "-O0", "-no-pie", "-fno-pie")
    build("program-asan", "g++", "program.cc", "-std=c++20", "-fsanitize=address")
    build("program-ubsan", "g++", "program.cc", "-std=c++20", "-fsanitize=undefined")
    build("program-threads", "gcc", "threads.c", "-pthread")
    for name, command in (
        ("go", ["go", "build", "-o", os.path.join(folder, "program-go"), os.path.join(HERE, "fixtures", "work.go")]),
        ("ocaml", ["ocamlopt", "-o", os.path.join(folder, "program-ocaml"), os.path.join(folder, "work.ml")]),
    ):
        if shutil.which(command[0]):
            # ocamlopt puts its other products beside the source.
            shutil.copy(os.path.join(HERE, "fixtures", "work.ml"), folder)
            cache = {"HOME": folder, "GOCACHE": os.path.join(folder, "go-cache"), "GO111MODULE": "off"}
            result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **cache}, cwd=folder)
            if result.returncode != 0:
                print(f"cannot build the {name} program: {result.stderr.strip().splitlines()[-1:]}")
    javac = shutil.which("javac")
    if javac:
        os.makedirs(os.path.join(folder, "java"), exist_ok=True)
        subprocess.run([javac, "-d", os.path.join(folder, "java"), os.path.join(HERE, "fixtures", "Work.java")], check=False)
