#!/usr/bin/env python3
"""Checks what oshrun shows of jobs that hang: the lines of hanging.txt, and no others.

hanging_test.py OSHRUN PROGRAM [--watchdog] [--write] [NAME...]

A job runs until --timeout ends it, or with --watchdog until SHMEM_WATCHDOG does: the lines are the same, but for who says them.
In hanging.txt numbers of processes and times are left out. --write makes the file new.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

LINES = pathlib.Path(__file__).resolve().parent / "hanging.txt"
PES = 3
MOST_SECONDS = 60
SECONDS = (3, 10, 30)  # until a look at the job: a busy machine may need longer to come where it hangs, or for addr2line


def read_expected():
    expected, name = {}, None
    for line in LINES.read_text().splitlines():
        if line.startswith("  "):
            expected[name].append(line[2:])
        elif line and not line.startswith("#"):
            name = line
            expected[name] = []
    return expected


def written(line):
    line = re.sub(r" \(pid [\d, ]+\)", "", line)
    return re.sub(r",? for [\d.]+( to [\d.]+)? s\b", "", line)


def run(options, name, seconds=SECONDS[0]):
    # The watchdog makes repeated reads known also where PEs do not outnumber cores.
    environment = dict(os.environ, OSHRUN_QUIET="1", SHMEM_SYMMETRIC_SIZE="64m", SHMEM_WATCHDOG="600")
    command = [options.oshrun, "-n", str(PES), "--timeout", str(seconds), options.program, name]
    if options.watchdog:
        environment["SHMEM_WATCHDOG"] = f"{seconds - 1}:abort"
        command[4] = str(MOST_SECONDS)
    job = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS + 30)
    status = 1 if options.watchdog else 124
    lines = [job.stdout] if job.stdout else []
    if job.returncode != status:
        lines.append(f"status {job.returncode}")
    prefix = r"^\[pe \d/\d [^\]]*\] shmemx warning: (pe .*)" if options.watchdog else r"^oshrun: (pe .*)"
    # A loop of tests is reported and ends no job, so that there may be a second table, of a wait.
    lines += {written(match[1]) for match in re.finditer(prefix, job.stderr, re.M)}
    return sorted(lines) if lines else [job.stderr]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("oshrun")
    parser.add_argument("program")
    parser.add_argument("--watchdog", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    expected = read_expected()
    if options.write:
        text = "# See hanging_test.py, which makes this file with --write.\n"
        for name in expected:
            text += f"{name}\n" + "".join(f"  {line}\n" for line in run(options, name))
        LINES.write_text(text)
        return 0
    wrong = False
    for name in options.names or expected:
        for seconds in SECONDS[:1] if wrong else SECONDS:
            lines = run(options, name, seconds)
            if lines == expected[name]:
                break
        if lines != expected[name]:
            wrong = True
            print("\n".join([name] + [f"  - {line}" for line in expected[name]] + [f"  + {line}" for line in lines]))
    if not wrong:
        print(f"{len(options.names or expected)} jobs, as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
