#!/usr/bin/env python3
"""Compiles the programs of a folder with -fshmem-races, runs them, and compares what the detector reports with what the
programs say of themselves.

The first line of a program is
  /* races: always|sometimes|none; class: NAME; pes: N[; flags: FLAGS] */
Lines that race end with "// race 1", "// race 2" or "// race 1 and 2": a report must name a line of each number.

always     a report in every run, which names the marked lines; the job does not end with 0
none       no report in any run, and the job ends with 0
sometimes  a report in half of the runs at least, and of these there are four at least
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS = 60
REPORT = "data race"
RUNS_OF_SOMETIMES = 4
HEADER = re.compile(r"/\* races: (always|sometimes|none); class: (\w+); pes: (\d+)(?:; flags: (\S.*))? \*/")
MARK = re.compile(r"// race ([12])( and 2)?$")

Program = collections.namedtuple("Program", "path verdict kind pes flags marks")
Run = collections.namedtuple("Run", "status text")  # status None: the time was over


class BadProgram(Exception):
    pass


def marks_of(lines):
    marks = {1: set(), 2: set()}
    for number, line in enumerate(lines, 1):
        mark = MARK.search(line)
        if mark:
            marks[int(mark[1])].add(number)
            if mark[2]:
                marks[2].add(number)
    return marks


def read_program(path, text):
    lines = text.splitlines()
    header = HEADER.fullmatch(lines[0]) if lines else None
    if not header:
        raise BadProgram(f"{path.name}: the first line is no header")
    verdict, kind, pes, flags = header.groups()
    marks = marks_of(lines)
    if not path.name.startswith(kind + "_"):
        raise BadProgram(f"{path.name}: the name does not begin with the class {kind}")
    if verdict == "none" and (marks[1] or marks[2]):
        raise BadProgram(f"{path.name}: a correct program has marked lines")
    if verdict != "none" and not (marks[1] and marks[2]):
        raise BadProgram(f"{path.name}: a program that races marks both lines")
    return Program(path, verdict, kind, int(pes), (flags or "").split(), marks)


def reported(run):
    return REPORT in run.text


def lines_named(program, text):
    return {int(number) for number in re.findall(rf"(?<!\w){re.escape(program.path.name)}:(\d+)", text)}


def complaint_of_run(program, run):
    """What is wrong with one run by itself, or None."""
    if run.status is None:
        return f"did not end in {SECONDS} s"
    if not reported(run):
        return None if run.status == 0 else f"ended with {run.status} without a report"
    if program.verdict == "none":
        return "a correct program is reported"
    if run.status == 0:
        return "ended with 0 despite a report"
    named = lines_named(program, run.text)
    for number, lines in program.marks.items():
        if not lines & named:
            return f"no report names line {' or '.join(map(str, sorted(lines)))} (race {number})"
    return None


def judge(program, runs):
    """The complaints about all runs of a program: (text, output of the run)."""
    complaints = [(text, run.text) for run in runs if (text := complaint_of_run(program, run))]
    found = sum(reported(run) for run in runs)
    missed = next((run.text for run in runs if not reported(run)), "")
    if program.verdict == "always" and found < len(runs):
        complaints.append((f"races always, reported in {found} of {len(runs)} runs", missed))
    if program.verdict == "sometimes" and 2 * found < len(runs):
        complaints.append((f"races sometimes, reported in {found} of {len(runs)} runs", missed))
    return complaints


def clean_environment():
    return {name: value for name, value in os.environ.items() if not re.match(r"SHMEM|SMA_|OSHRUN|OMP_", name)}


def build(options, program, folder):
    """The built program, or None and what the compiler has said."""
    compiler = options.oshcxx if program.path.suffix == ".cpp" else options.oshcc
    output = pathlib.Path(folder) / program.path.name.replace(".", "_")
    command = [compiler, "-fshmem-races", "-g", "-O1", *program.flags, str(program.path), "-o", str(output)]
    job = subprocess.run(command, capture_output=True, text=True)
    return (output if job.returncode == 0 else None), job.stdout + job.stderr


def run(options, program, binary):
    command = [options.oshrun, "-n", str(program.pes), str(binary)]
    try:
        job = subprocess.run(command, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired as late:
        return Run(None, (late.stderr or b"").decode(errors="replace"))
    return Run(job.returncode, job.stderr)


def check(options, program):
    with tempfile.TemporaryDirectory(prefix="races.") as folder:
        binary, text = build(options, program, folder)
        if binary is None:
            return [("does not compile", text)]
        count = max(options.runs, RUNS_OF_SOMETIMES) if program.verdict == "sometimes" else options.runs
        return judge(program, [run(options, program, binary) for _ in range(count)])


def table(results):
    """Rows of class, racy programs that are found, correct ones that pass."""
    counts = {}
    for program, complaints in results:
        row = counts.setdefault(program.kind, [0, 0, 0, 0])
        column = 2 if program.verdict == "none" else 0
        row[column] += not complaints
        row[column + 1] += 1
    counts["all"] = [sum(column) for column in zip(*counts.values())]
    yield "| class | racy found | correct passed |"
    yield "|---|---:|---:|"
    for kind, row in counts.items():
        yield f"| {kind} | {row[0]} of {row[1]} | {row[2]} of {row[3]} |"


def programs_of(options):
    for path in sorted(options.programs.iterdir()):
        if path.suffix in (".c", ".cpp") and re.search(options.only, path.stem):
            yield read_program(path, path.read_text())


def arguments():
    parser = argparse.ArgumentParser()
    for tool in ("oshcc", "oshcxx", "oshrun"):
        parser.add_argument("--" + tool, required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", default="", help="a regular expression for the names")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="print the verdicts by class")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        programs = list(programs_of(options))
    except BadProgram as bad:
        sys.exit(str(bad))
    if not programs:
        sys.exit(f"{options.programs}: no program is chosen")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(zip(programs, pool.map(lambda program: check(options, program), programs)))
    for program, complaints in results:
        for text, output in complaints:
            print(f"{program.path.name}: {text}")
            print("".join(f"    {line}\n" for line in output.splitlines()[:40]), end="")
    if options.table:
        print("\n".join(table(results)))
    failed = sum(bool(complaints) for _, complaints in results)
    print(f"{len(results) - failed} of {len(results)} programs as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
