#!/usr/bin/env python3
"""page_test.py PAGE PROGRAM: the summary in docs/observing.md is what PROGRAM prints on 4 PEs: the same operations and the
same matrix, and the other lines but for their times and PEs. Needs OSHRUN."""
import os
import re
import subprocess
import sys

page, program = sys.argv[1:]
with open(page, encoding="utf-8") as file:
    blocks = re.findall(r"```console\n(.*?)```", file.read(), re.DOTALL)
shown = next(block for block in blocks if "oshrun -n 4 ./09_halo" in block).splitlines()[1:]
output = subprocess.run([os.environ["OSHRUN"], "-q", "-n", "4", program], env={**os.environ, "SHMEM_STATS": "1"},
                        stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
printed = [line for line in output.splitlines() if not line.startswith("PE ")]  # the program's own lines


def counts(lines):
    """The part that does not depend on time."""
    return lines[1:next(i for i, line in enumerate(lines) if line.startswith("seconds in calls"))]


def forms(lines):
    """The first words of the other lines, without rows of routines, which depend on time."""
    return [line.split()[0] for line in lines if line not in counts(lines) and not line.startswith("  ")]


if counts(shown) != counts(printed):
    sys.exit("the page shows\n" + "\n".join(counts(shown)) + "\nthe program prints\n" + "\n".join(counts(printed)))
if forms(shown) != forms(printed):
    sys.exit(f"the page has the lines {forms(shown)}, the program prints {forms(printed)}")
if not any(line.startswith("  shmem_signal_wait_until ") for line in shown):
    sys.exit("the page shows no routine that waits")
