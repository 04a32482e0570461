#!/usr/bin/env python3
"""Checks what SHMEM_CHECK says of each mistake of mistakes.c: the lines of mistakes.txt, and no others.

checking_test.py OSHRUN PROGRAM [--pes N] [--page FILE] [--write] [NAME...]

mistakes.txt has the name of a mistake, the status with which the job ends, "mapped" if the lines need other PEs' memory to be
mapped, and indented the lines that it prints. There
LAST stands for the last PE, N for the number of PEs, "host" for the host's name, and ADDRESS for one. --write makes the file new.
--page: C blocks of that page are parts of mistakes.c, and its text blocks are lines of mistakes.txt on 2 PEs.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LINES = HERE / "mistakes.txt"
SECONDS = 60
MOST_RUNS = 3
NO_LINE = re.compile(r" at \S+\+0x[0-9a-f]")


def read_expected():
    expected, lines = {}, None
    for line in LINES.read_text().splitlines():
        if line.startswith("  "):
            lines.append(line[2:])
        elif line and not line.startswith("#"):
            name, status, *where = line.split()
            lines = []
            if not where or not any(variable in os.environ for variable in ("SHMEMX_NODE_PATH", "SHMEMX_PES_PER_NODE")):
                expected[name] = (int(status), lines)
    return expected


def written(line, pes):
    line = re.sub(r"^\[pe (\d+)/(\d+) [^\]]*\]", lambda m: f"[pe {m[1]}/{m[2]} host]", line)
    line = line.replace(f"[pe {pes - 1}/{pes} ", "[pe LAST/N ").replace(f"/{pes} host]", "/N host]")
    line = line.replace(f"0..{pes - 1} (team WORLD)", "0..LAST (team WORLD)")
    line = re.sub(r"0x[0-9a-f]{8,}", "ADDRESS", line)
    line = re.sub(r"^oshrun: pe (\d+) \(pid \d+, host [^)]*\)", lambda m: f"oshrun: pe {'LAST' if int(m[1]) == pes - 1 else m[1]}", line)
    return re.sub(rf"(\bPE|'pe' is|\] pe|behind pe) {pes - 1}\b", r"\1 LAST", line)


def run(options, name):
    environment = dict(os.environ, SHMEM_CHECK="1", OSHRUN_QUIET="1", SHMEM_SYMMETRIC_SIZE="64m")
    job = subprocess.run([options.oshrun, "-n", str(options.pes), options.program, name], env=environment, capture_output=True,
                         text=True, timeout=SECONDS)
    lines = [line for line in (job.stdout + job.stderr).splitlines() if not line.startswith("oshrun: waiting were: ")]
    return job.returncode, [written(line, options.pes) for line in lines]


def lacks_places(lines):
    """On a busy machine addr2line may take longer than the PE waits for it."""
    return any(NO_LINE.search(line) or ("Job ended." in line and "called at" not in line) for line in lines)


def run_with_places(options, name):
    for _ in range(MOST_RUNS):
        status, lines = run(options, name)
        if not lacks_places(lines):
            break
    return status, lines


def differences(options, expected):
    for name in options.names or expected:
        status, lines = run_with_places(options, name)
        if (status, lines) != expected[name]:
            yield f"{name}: status {status}, expected {expected[name][0]}"
            yield from (f"  - {line}" for line in expected[name][1])
            yield from (f"  + {line}" for line in lines)


def page_differences(page, expected):
    sys.path.insert(0, str(HERE.parent / "docs"))
    sys.dont_write_bytecode = True
    from pages import split

    program = "".join((HERE / name).read_text() for name in ("mistakes.c", "more_mistakes.c"))
    known = {line.replace("LAST", "1").replace("/N ", "/2 ") for _, lines in expected.values() for line in lines}
    shown = 0
    for block in split(page.read_text())[0]:
        shown += block.language == "c"
        if block.language == "c" and "\n".join(block.lines) not in program:
            yield f"{page}:{block.number}: this is no part of mistakes.c"
        if block.language == "text":
            yield from (f"{page}:{block.number}: mistakes.txt has no line '{line}'" for line in block.lines if line not in known)
    if shown == 0:
        yield f"{page}: no C code; this test sees nothing"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("oshrun")
    parser.add_argument("program")
    parser.add_argument("--pes", type=int, default=2)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.write:
        mapped = {line.split()[0] for line in LINES.read_text().splitlines() if line.endswith(" mapped")}
        names = re.findall(r"MISTAKE\((\w+)\)[,}]", (HERE / "mistakes.c").read_text())
        results = {name: run(options, name) for name in names}
        LINES.write_text("# See checking_test.py, which makes this file with --write.\n" + "".join(
            f"{name} {status}{' mapped' if name in mapped else ''}\n" + "".join(f"  {line}\n" for line in lines) for name, (status, lines) in results.items()))
        return 0
    expected = read_expected()
    offences = list(differences(options, expected))
    if options.page:
        offences += page_differences(options.page, expected)
    print("\n".join(offences) or f"{len(options.names or expected)} mistakes are reported as expected")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
