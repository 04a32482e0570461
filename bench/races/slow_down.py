#!/usr/bin/env python3
"""Measures by how many times -fshmem-races slows the examples and kernels down, as a table for docs/races.md.

slow_down.py --oshcc FILE --oshcxx FILE --oshrun FILE [--runs N] [--only REGEX] [--pes N]

Each program is built without and with the detector, and the two are run in turns. Compared are the medians of the CPU
time that the launcher and all PEs use together.
"""
import argparse
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 600
# Name, source, options of the compiler, arguments.
PROGRAMS = (
    ("bfs", "examples/bfs.cpp", "-std=c++17", ""),
    ("gups", "examples/gups.c", "", ""),
    ("heat2d", "examples/heat2d.c", "-lpng -lm", "- 480 320 300"),
    ("isort", "examples/isort.c", "-lm", ""),
    ("pi", "examples/pi.cpp", "-std=c++17", ""),
    ("worksteal", "examples/worksteal.c", "", ""),
    ("cg", "bench/kernels/cg.cpp", "-std=c++20", "--repeat 1"),
    ("ft", "bench/kernels/ft.cpp", "-std=c++20", "--repeat 1"),
    ("is", "bench/kernels/is.cpp", "-std=c++20", "--repeat 1"),
)


def build(options, folder, program, races):
    name, source, flags, _ = program
    path = pathlib.Path(folder) / (name + (".races" if races else ".plain"))
    compiler = options.oshcc if source.endswith(".c") else options.oshcxx
    extra = ["-fshmem-races"] if races else []
    subprocess.run([compiler, "-O2", "-g", *extra, str(TOP / source), "-o", str(path), *shlex.split(flags)], check=True)
    return path


def cpu_seconds(options, path, arguments):
    """Returns the seconds, and the exit status."""
    command = [options.oshrun, "-n", str(options.pes), str(path), *shlex.split(arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, process.returncode


def measure(options, folder, program):
    """Returns the seconds of all runs, by whether the detector watches, and whether it has reported something."""
    paths = {races: build(options, folder, program, races) for races in (False, True)}
    seconds = {False: [], True: []}
    has_reports = False
    for _ in range(options.runs):
        for races, path in paths.items():
            used, status = cpu_seconds(options, path, program[3])
            if status not in ((0, 66) if races else (0,)):
                raise SystemExit(f"slow_down.py: {path.name} ended with {status}")
            has_reports = has_reports or status != 0
            seconds[races].append(used)
    return seconds, has_reports


def row(name, seconds, has_reports):
    cells = [statistics.median(seconds[races]) for races in (False, True)]
    ratios = [with_it / without for without, with_it in zip(seconds[False], seconds[True])]
    spread = f"{min(ratios):.1f}-{max(ratios):.1f}"
    remark = ", reports" if has_reports else ""
    return f"| `{name}`{remark} | {cells[0]:.2f} s | {cells[1]:.2f} s | {cells[1] / cells[0]:.1f} | {spread} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("oshcc", "oshcxx", "oshrun"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pes", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"| program, {options.pes} PEs, CPU time | without | with | times | of single runs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            if re.search(options.only, program[0]):
                print(row(program[0], *measure(options, folder, program)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
