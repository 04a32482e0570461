#!/usr/bin/env python3
"""Does what the installed README and tutorial say, as a user of a machine whose files are below a folder (fresh_machine.sh).

follow_pages.py --machine DIR
"""
import argparse
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
from check_blocks import read
from check_tutorial import examples

DOCUMENTS = "usr/share/doc/shmemx"
HOME = "/home/newcomer"
FOLDER = f"{HOME}/my programs"  # nothing may depend on a plain path
MANUAL = ("shmem_put", "shmem_long_p", "7 shmemx", "oshrun", "oshcc")


class Newcomer:
    def __init__(self, machine):
        self.machine = machine
        self.count = 0
        self.offences = []

    def run(self, command, expected=None):
        """Runs a command in the user's folder. Lines of output are compared in any order."""
        self.count += 1
        job = subprocess.run(["chroot", "--userspec=newcomer:newcomer", self.machine, "env", "-i", f"HOME={HOME}", "LANG=C.UTF-8",
                              "PATH=/usr/bin:/bin", "OSHRUN_QUIET=1", "sh", "-ec", f'cd "{FOLDER}"; {command}'],
                             capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        if job.returncode != 0 or (expected is not None and sorted(job.stdout.splitlines()) != sorted(expected)):
            self.offences.append(f"'{command}' ended with {job.returncode} and printed\n{job.stdout}{job.stderr}")

    def blocks(self, page, languages):
        """Returns the blocks of an installed page that run on every machine."""
        blocks, _ = read(page, (self.machine / DOCUMENTS / page).read_text())
        return [block for block in blocks if block.language in languages and block.mark in (None, "file")]

    def follow_readme(self):
        program = self.blocks("README.md", ("c",))[0]
        (self.machine / FOLDER[1:] / program.text).write_text("\n".join(program.lines) + "\n")
        commands = self.blocks("README.md", ("sh",))[0]
        output = self.blocks("README.md", ("text",))[1]
        self.run("\n".join(commands.lines), output.lines)

    def follow_tutorial(self):
        self.run(f"cp /{DOCUMENTS}/examples/tutorial/* .")
        for block in self.blocks("docs/tutorial.md", ("sh", "console")):
            if block.language == "sh":
                self.run("\n".join(block.lines))
                continue
            for command, expected in examples(block):
                self.run(command, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine", type=pathlib.Path, required=True)
    machine = parser.parse_args().machine
    newcomer = Newcomer(machine)
    subprocess.run(["chroot", "--userspec=newcomer:newcomer", machine, "mkdir", FOLDER], check=True)
    newcomer.follow_readme()
    newcomer.follow_tutorial()
    for page in MANUAL:
        newcomer.run(f"man {page} | grep -q .")
    print("\n".join(newcomer.offences) or f"{newcomer.count} commands do what the pages say")
    return 1 if newcomer.offences or newcomer.count < 15 else 0


if __name__ == "__main__":
    sys.exit(main())
