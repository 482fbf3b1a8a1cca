#!/usr/bin/env python3
"""detrec with an engine of another build: refused with status 125 and a message that says why.

    versions.py --detrec build/bin/detrec
"""

import argparse
import os
import re
import struct
import sys
import tempfile

import common
from common import harness

MAGIC = 0x4C524544
DIFFERENT = re.compile(rb"detrec: detrec and detrec-guest are of different builds \(versions (\w+) and (\w+)\)")


def start_engine(engine, folder, magic, version):
    """The engine, started with a launch page that says so."""
    page = os.memfd_create("page", 0)
    os.write(page, struct.pack("<II", magic, version).ljust(1 << 20, b"\0"))
    inner = f"exec 50<>/proc/{os.getpid()}/fd/{page}; exec -a detrec-guest \"$@\""
    command = ["/bin/bash", "-c", inner, "-", engine, "50", "/bin/true", "true"]
    outcome = harness.run(command, folder, {}, b"", 20)
    os.close(page)
    return outcome


def refused(outcome, expected):
    """Problems of a refusal."""
    problems = []
    if outcome.timed_out or outcome.status != 125:
        problems.append(f"status {harness.describe_status(outcome.status)}, expected 125")
    if not expected(outcome.stderr):
        problems.append("the message does not say it")
    return problems + ["| " + line for line in outcome.stderr.decode("utf-8", "replace").splitlines()[:4] if problems]


def engine_of_another_build(engine, version, to):
    """A copy of the engine that takes itself for another version."""
    with open(engine, "rb") as file:
        image = file.read()
    own, other = struct.pack("<I", version), struct.pack("<I", version ^ 1)
    if own not in image:
        sys.exit("the engine does not contain its version")
    with open(to, "wb") as file:
        file.write(image.replace(own, other))
    os.chmod(to, 0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    options = parser.parse_args()
    harness.become_subreaper()
    score = common.Score()
    with tempfile.TemporaryDirectory(prefix="versions-") as work:
        recorder = common.Recorder(options.detrec, work)
        engine = os.path.join(os.path.dirname(recorder.detrec), "detrec-guest")
        folder = recorder.fresh("engine")
        score.add("no launch page", refused(start_engine(engine, folder, MAGIC + 1, 0), lambda text: b"not by hand" in text))
        outcome = start_engine(engine, folder, MAGIC, 0x1234)
        score.add("the page of another version", refused(outcome, DIFFERENT.search))
        said = DIFFERENT.search(outcome.stderr)
        if said:
            trace = os.path.join(work, "true.detrec")
            recorder.record(["/bin/true"], trace)
            other = os.path.join(work, "other-guest")
            engine_of_another_build(engine, int(said[2], 16), other)
            environment = {**common.ENVIRONMENT, "DETREC_GUEST": other}
            for words in (["record", "-o", os.path.join(work, "new.detrec"), "/bin/true"], ["replay", "-a", trace],
                          ["replay", "--stdio", trace], ["run", "--engine-only", "/bin/true"]):  # fmt: skip
                outcome = harness.run([recorder.detrec, *words], folder, environment, b"", 20)
                score.add(" ".join(words[:2]), refused(outcome, DIFFERENT.search))
    return score.conclude()


if __name__ == "__main__":
    sys.exit(main())
