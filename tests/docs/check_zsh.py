#!/usr/bin/env python3
"""What zsh completes by examples/completion/_shmemx, in an interactive shell on a pseudo-terminal.

check_zsh.py --project DIR --bin DIR. Status 77 without zsh.
"""
import argparse
import os
import pathlib
import pty
import re
import select
import shutil
import sys
import tempfile
import time

SECONDS = 60  # after which the shell is taken for dead
LINES = (  # typed up to the tab, and the words that the command then gets
    ("oshrun --timeo", "--timeout"),
    ("oshrun --bind-to so", "--bind-to socket"),
    ("oshrun -n 4 ./hello_of_m", "-n 4 ./hello_of_mine"),
    ("oshrun -n 4 ./hello_of_mine hello_of_m", "-n 4 ./hello_of_mine hello_of_mine"),
    ("shmem_info --group meas", "--group measuring"),
    ("shmem_perf put_la", "put_latency"),
    ("oshcc --showme:incd", "--showme:incdirs"),
    ("oshc++ other_s", "other_source.cpp"),
)


def in_shell(folder, environment):
    """Starts zsh in a folder, and returns the terminal's descriptor."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], environment)
    return terminal


def read_until(terminal, pattern):
    """Returns the match in what the shell prints, or None."""
    text = ""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            text += os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            break
        found = re.search(pattern, text)
        if found:
            return found
    return None


def check(project, programs, folder):
    for name in ("hello_of_mine", "other_source.cpp"):
        (folder / name).touch()
        (folder / name).chmod(0o755)
    environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", TERM="dumb", HOME=str(folder), ZDOTDIR=str(folder))
    terminal = in_shell(folder, environment)
    shown = "oshrun shmem_info shmem_perf oshcc oshc++"
    os.write(terminal, f"fpath=('{project}/examples/completion' $fpath); autoload -U compinit; compinit -u -D\n".encode())
    # In place of the program, a function that prints the words; completion itself asks shmem_perf for its tests.
    prints = '[[ $1 == --list ]] && command $0 --list || print -r -- "got:" "$@" ":end"'
    os.write(terminal, f"for name in {shown}; do functions[$name]='{prints}'; done\n".encode())
    os.write(terminal, b"print ready:end\n")
    if not read_until(terminal, r"\nready:end"):
        return ["zsh does not start"]
    offences = []
    for line, expected in LINES:
        os.write(terminal, f"{line}\t\n".encode())
        got = read_until(terminal, r"\ngot: (.*?) :end")
        if not got or got[1].strip() != expected:
            offences.append(f"'{line}' is completed to '{got and got[1]}', expected '{expected}'")
    os.close(terminal)
    return offences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--project", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if not shutil.which("zsh"):
        print("skipped: no zsh")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        offences = check(options.project, options.bin, pathlib.Path(folder))
    print("\n".join(offences) or f"{len(LINES)} lines are completed")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
