#!/usr/bin/env python3
"""Checks that the table of a job that hangs shows the PEs of all hosts, once. table_test.py VHOSTS HANGING"""
import os
import re
import subprocess
import sys

SKIPPED = 77
RUNS = 3  # on a busy machine addr2line may take longer than the PE waits for it
EXPECTED = [
    "pe 0, 1 (hosts h0, h1): waiting in shmem_barrier_all, called at skipped_barrier (hanging.c:N); heap in use: 128 B of 16 MiB",
    "pe 2 (host h1): computing; heap in use: 128 B of 16 MiB",
    "pe 2 is the only one that is not in shmem_barrier_all",
]


def written(line):
    line = re.sub(r", pid [\d, ]+\)", ")", line)
    line = re.sub(r"hanging\.c:\d+", "hanging.c:N", line)
    return re.sub(r",? for [\d.]+( to [\d.]+)? s\b", "", line)


def run(vhosts, program):
    environment = dict(os.environ, SHMEM_WATCHDOG="3:abort", SHMEM_SYMMETRIC_SIZE="16m")
    command = [vhosts, "run", "--hosts", "2", "--pes", "1,2", "--timeout", "60", "--", program, "skipped_barrier"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def main():
    for _ in range(RUNS):
        job = run(*sys.argv[1:3])
        if "skipped: " in job.stdout + job.stderr:
            print(job.stdout + job.stderr)
            return SKIPPED
        lines = sorted(written(line) for line in re.findall(r"shmemx warning: (pe .*)", job.stderr))
        if lines == sorted(EXPECTED):
            print("the table has all PEs")
            return 0
    print("\n".join(["expected:"] + sorted(EXPECTED) + ["found:"] + lines + [job.stdout, job.stderr]))
    return 1


if __name__ == "__main__":
    sys.exit(main())
