#!/usr/bin/env python3
"""Checks that a page shows what the programs of a folder are and print: docs/tutorial.md and examples/tutorial, or others.

check_tutorial.py [--project DIR]                  every block of C or C++ is a part of one program, and each program is shown
check_tutorial.py [--project DIR] --run BIN FOLDER every console block prints what the page shows: BIN holds oshrun, FOLDER
                                                   the built programs

A console block holds commands after "$ ", each followed by its output. Lines of output are compared in any order, as PEs
print at the same time.
"""
import argparse
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
from pages import split

SUFFIXES = (".c", ".cpp")


def is_part(lines, whole):
    return any(whole[at : at + len(lines)] == lines for at in range(len(whole) - len(lines) + 1))


def check_code(page, blocks, folder):
    programs = {path.name: path.read_text().splitlines() for path in sorted(folder.glob("*.c*")) if path.suffix in SUFFIXES}
    shown = set()
    offences = []
    for block in blocks:
        if f".{block.language}" not in SUFFIXES:
            continue
        sources = [name for name, lines in programs.items() if is_part(block.lines, lines)]
        shown.update(sources)
        if not block.lines or not sources:
            offences.append(f"{page}:{block.number}: this code is in no program of {folder}: {' / '.join(block.lines[:2])}")
    offences += [f"{page}: no part of {name} is shown" for name in programs if name not in shown]
    return offences, f"{len(programs)} programs shown in {page}"


def examples(block):
    """Yields (command, lines of output) of a console block."""
    command, output = None, []
    for line in block.lines + ["$ "]:
        if not line.startswith("$ "):
            output.append(line)
            continue
        if command:
            yield command, output
        command, output = line[2:], []


def check_output(page, blocks, binaries, folder):
    environment = dict(os.environ, PATH=f"{binaries}{os.pathsep}{os.environ['PATH']}", OSHRUN_QUIET="1")
    offences = []
    count = 0
    for block in blocks:
        for command, expected in examples(block) if block.language == "console" else ():
            count += 1
            job = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
            if job.returncode != 0 or sorted(job.stdout.splitlines()) != sorted(expected):
                offences.append(f"{page}:{block.number}: '{command}' ended with {job.returncode} and printed\n{job.stdout}{job.stderr}")
    if count == 0:
        offences.append(f"{page} has no commands; this test sees nothing")
    return offences, f"{count} commands print what {page} shows"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--project", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--page", default="docs/tutorial.md")
    parser.add_argument("--sources", default="examples/tutorial")
    parser.add_argument("--run", nargs=2, metavar=("BIN", "FOLDER"))
    options = parser.parse_args()
    page = options.page
    blocks, _ = split((options.project / page).read_text())
    if options.run:
        offences, summary = check_output(page, blocks, *options.run)
    else:
        offences, summary = check_code(page, blocks, options.project / options.sources)
    print("\n".join(offences) or summary)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
