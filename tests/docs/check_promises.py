#!/usr/bin/env python3
"""Checks docs/promises.md: each promise has a state; kept ones name tests that exist, others a reason.

Tests are those that `ctest -N` lists for a build. A name that has a word of an optional package (OPTIONAL) is not missed where no
test has that word.

check_promises.py --project DIR (--build DIR [--ctest PROGRAM] | --tests FILE)
"""
import argparse
import pathlib
import re
import subprocess
import sys

PAGE = "docs/promises.md"
STATES = ("kept", "in part", "not kept")
OPTIONAL = ("mpich", "openmpi", "ucx", "ofi", "strict", "cluster", "epochs", "clang")


def rows(text):
    """Yields (line number, cells) of the tables of promises."""
    is_table = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            is_table = False
        elif cells[0] == "promise":
            is_table = True
        elif is_table and not set(line) <= set("|- "):
            yield number, cells


def is_missing(name, tests):
    if name in tests:
        return False
    absent = [word for word in OPTIONAL if word in re.split(r"[.+]+", name) and not any(word in test for test in tests)]
    return not absent


def check(text, tests):
    count = 0
    for number, cells in rows(text):
        count += 1
        if len(cells) != 4 or cells[1] not in STATES:
            yield f"{PAGE}:{number}: a row has a promise, a state ({', '.join(STATES)}), tests, and a reason or remark"
            continue
        names = re.findall(r"`([^`]+)`", cells[2])
        yield from (f"{PAGE}:{number}: there is no test {name}" for name in names if is_missing(name, tests))
        if cells[1] != "not kept" and not names:
            yield f"{PAGE}:{number}: '{cells[1]}' without a test"
        if cells[1] != "kept" and not cells[3]:
            yield f"{PAGE}:{number}: '{cells[1]}' without a reason"
    if count == 0:
        yield f"{PAGE}: no promise; this test sees nothing"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--project", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    parser.add_argument("--ctest", default="ctest")
    parser.add_argument("--tests", type=pathlib.Path)
    options = parser.parse_args()
    if options.tests:
        tests = set(options.tests.read_text().split())
    else:
        listing = subprocess.run([options.ctest, "--test-dir", options.build, "-N"], capture_output=True, text=True, check=True)
        tests = set(re.findall(r"^ *Test *#\d+: (\S+)", listing.stdout, re.M))
    offences = list(check((options.project / PAGE).read_text(), tests))
    print("\n".join(offences) or "each promise has its tests or its reason")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
