#!/usr/bin/env python3
"""Checks that the table of a job that hangs shows the PEs of all hosts, once.

table_test.py VHOSTS HANGING            as SHMEM_WATCHDOG prints it
table_test.py VHOSTS HANGING OSHRUN     as `oshrun --status` shows it on a host of the job, also without an answer of a PE
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

SKIPPED = 77
RUNS = 3  # on a busy machine addr2line may take longer than the PE waits for it
LIMIT = 100  # seconds until a PE has to show what is expected
EXPECTED = [
    "pe 0, 1 (hosts h0, h1): waiting in shmem_barrier_all, called at skipped_barrier (hanging.c:N); heap in use: 128 B of 16 MiB",
    "pe 2 (host h1): computing; heap in use: 128 B of 16 MiB",
    "pe 2 is the only one that is not in shmem_barrier_all",
]
STOPPED = [EXPECTED[0], "pe 2 (host h1): does not answer", EXPECTED[2]]


def written(line):
    line = re.sub(r", pid [\d, ]+\)", ")", line)
    line = re.sub(r"hanging\.c:\d+", "hanging.c:N", line)
    return re.sub(r",? for [\d.]+( to [\d.]+)? s\b", "", line)


def command_of(vhosts, program):
    return [vhosts, "run", "--hosts", "2", "--pes", "1,2", "--timeout", "150", "--", program, "skipped_barrier"]


def run(vhosts, program):
    environment = dict(os.environ, SHMEM_WATCHDOG="3:abort", SHMEM_SYMMETRIC_SIZE="16m")
    return subprocess.run(command_of(vhosts, program), env=environment, capture_output=True, text=True, timeout=180)


def process_of(pe, job):
    """The process of that PE, as this namespace numbers it."""
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (directory / "environ").read_bytes().split(b"\0")
            is_program = b"hanging" in (directory / "cmdline").read_bytes().split(b"\0")[0]
        except OSError:
            continue
        if is_program and b"TABLE_JOB=%d" % job in words and b"PMI_RANK=%d" % pe in words:
            return int(directory.name)
    return None


def show_until(oshrun, process, expected):
    """Requests the table by the process of a PE, or of what has started the job, until it shows what is expected."""
    end = time.monotonic() + LIMIT
    lines = []
    while time.monotonic() < end:
        status = subprocess.run([oshrun, "--status", str(process)], capture_output=True, text=True, timeout=60)
        lines = sorted(written(line) for line in (status.stdout + status.stderr).splitlines())
        if lines == sorted(expected):
            return True
        time.sleep(0.2)
    print("\n".join(["expected:"] + sorted(expected) + ["found:"] + lines))
    return False


def check_status(vhosts, program, oshrun):
    environment = dict(os.environ, SHMEM_SYMMETRIC_SIZE="16m", TABLE_JOB=str(os.getpid()))
    job = subprocess.Popen(command_of(vhosts, program), env=environment, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    try:
        while not all(process_of(pe, os.getpid()) for pe in range(3)):
            if job.poll() is not None:
                print(job.stdout.read())
                return SKIPPED
            time.sleep(0.1)
        processes = [process_of(pe, os.getpid()) for pe in range(3)]
        if not all(show_until(oshrun, process, EXPECTED) for process in [job.pid] + processes):
            return 1
        os.kill(processes[2], signal.SIGSTOP)
        if not show_until(oshrun, processes[0], STOPPED):
            return 1
        print("every PE shows all PEs")
        return 0
    finally:
        job.terminate()
        job.wait()


def main():
    if len(sys.argv) > 3:
        return check_status(*sys.argv[1:4])
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
