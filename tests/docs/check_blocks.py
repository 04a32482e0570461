#!/usr/bin/env python3
"""Runs every block of code of the pages that users read, and says how many there are of each kind.

check_blocks.py [--project DIR] --build DIR [--compiler CC] [PAGE...]

Every block is fenced and has a language. What happens to it:
  c cpp     a part of a program of the project, which the tests run; else a whole program (it has a main), compiled and run
            on 4 PEs; else compiled in the context that the page names
  sh        run by bash in a folder of the page, line by line the same shell, with the installed tree in PATH
  console   each "$ " line is run, and prints what follows
  fortran rust python   a part of a program of the project
  json      parsed
  cmake     configured and built as a project against the installed tree; a part of one as if behind add_executable(program program.c)
  text      a picture or an output, not looked at
  others    offences, unless the page says that they are not run

The line before a fence may hold a comment "<!-- block: ... -->", which a reader of the page does not see:
  not run: REASON     the block is counted, with the reason
  in CONTEXT          tests/docs/contexts/CONTEXT with the block in the place of its line /* BLOCK */ is compiled
  needs PROGRAM...    not run where a program is missing
  hosts NAME...       a sh block that runs on virtual hosts, which take the place of those names; "needs PROGRAM..." may follow
  file NAME           the block is also written to the page's folder, for the commands of the page
  output varies       a console block whose output is not compared
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from check_tutorial import examples, is_part
from hosts import Hosts
from pages import FENCE

MARK = re.compile(r"^<!-- block: (not run|in|needs|hosts|file|output varies):? ?(.*?) -->$")
SOURCES = {"c": (".c",), "cpp": (".cpp",), "fortran": (".f90",), "rust": (".rs",), "python": (".py",)}
FOLDERS = ("examples", "tests/death", "tests/launch")
SECONDS = 240


class Block:
    def __init__(self, page, number, language, mark):
        self.place = f"{page}:{number}"
        self.language = language
        self.mark, self.text = mark or (None, "")
        self.lines = []


def read(page, text):
    """Returns the blocks of a page and its offences. Indented code is an offence: nothing says what it is."""
    blocks, offences, block, previous = [], [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if block is not None:
            if fence:
                block = None
            else:
                block.lines.append(line)
        elif fence:
            found = MARK.match(previous)
            block = Block(page, number, fence[1], found and found.groups())
            blocks.append(block)
            if previous.startswith("<!-- block:") and not found:
                offences.append(f"{page}:{number - 1}: this comment is none that check_blocks.py knows: {previous}")
        elif line.startswith("    ") and not previous.strip():
            offences.append(f"{page}:{number}: indented code; give it a fence and a language")
        previous = line
    return blocks, offences


class Pages:
    def __init__(self, options, scratch):
        self.project = options.project.resolve()
        self.build = options.build.resolve() if options.build else None
        self.scratch = scratch
        self.prefix = scratch / "installed"
        self.counts = collections.Counter()
        self.reasons = []
        self.sources = [path for folder in FOLDERS for path in (self.project / folder).rglob("*.*") if path.is_file()]
        self.hosts = Hosts(self.build, scratch)
        self.environment = dict(os.environ, PREFIX=str(self.prefix), OSHRUN_QUIET="1")
        if self.build:
            self.install()

    def install(self):
        subprocess.run(["cmake", "--install", self.build, "--prefix", self.prefix], check=True, stdout=subprocess.DEVNULL)
        config = next(self.prefix.rglob("shmemx.pc")).parent
        self.environment["PKG_CONFIG_PATH"] = str(config)
        self.environment["PATH"] = f"{self.prefix}/bin{os.pathsep}{os.environ['PATH']}"

    def folder(self, page):
        """Makes the folder of a page: sources for a page that builds them, else built programs, and what commands name."""
        folder = self.scratch / re.sub(r"\W", "_", page)
        folder.mkdir()
        if not self.build:
            return folder
        if page == "docs/tutorial.md":
            shutil.copytree(self.project / "examples/tutorial", folder, dirs_exist_ok=True)
            return folder
        for part in ("tutorial", "cpp", "tasks"):
            for program in (self.build / "examples" / part).glob("*"):
                if program.is_file() and os.access(program, os.X_OK):
                    shutil.copy(program, folder)
        shutil.copy(self.build / "examples/tutorial/02_put_get", folder / "program")
        shutil.copy(self.project / "examples/tutorial/02_put_get.c", folder / "program.c")
        shutil.copytree(self.project / "tools", folder / "tools")
        for source in ("profile/profile.c", "languages/ring.f90", "languages/ring.rs"):
            shutil.copy(self.project / "examples" / source, folder)
        return folder

    def run(self, folder, command, environment=None):
        """Returns what is wrong, and the output."""
        try:
            job = subprocess.run(command, cwd=folder, env=environment or self.environment, capture_output=True, text=True, timeout=SECONDS,
                                 stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return f"takes longer than {SECONDS} s", ""
        if job.returncode != 0:
            return f"ended with {job.returncode}:\n{job.stdout}{job.stderr}", job.stdout
        return None, job.stdout

    def compile(self, folder, name, text, options):
        (folder / name).write_text(text)
        wrapper = "oshc++" if name.endswith(".cpp") else "oshcc"
        standard = "-std=c++20" if name.endswith(".cpp") else "-std=c11"
        return self.run(folder, [wrapper, standard, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *options, name])[0]

    def code(self, block, folder):
        endings = SOURCES[block.language]
        if any(path.suffix in endings and is_part(block.lines, path.read_text().splitlines()) for path in self.sources):
            self.counts[f"{block.language}: parts of the project's programs"] += 1
            return None
        if block.language not in ("c", "cpp"):
            return "is no part of a program of the project"
        name = "block" + endings[0]
        text = "\n".join(block.lines) + "\n"
        if re.search(r"\bmain\(", text):
            self.counts[f"{block.language}: whole programs, run"] += 1
            return self.compile(folder, name, text, ["-o", "block"]) or self.run(folder, ["oshrun", "-n", "4", "./block"])[0]
        if block.mark != "in":
            return "is in no program of the project, and its context is not named"
        context = (self.project / "tests/docs/contexts" / block.text).read_text()
        if "/* BLOCK */" not in context:
            return f"{block.text} has no line /* BLOCK */"
        self.counts[f"{block.language}: compiled in a context"] += 1
        return self.compile(folder, name, context.replace("/* BLOCK */", text), ["-c"])

    def sh(self, block, folder):
        if block.mark == "hosts":
            self.counts["sh: run on virtual hosts"] += 1
            names = block.text.partition(" needs ")[0].split()
            return self.run(folder, *self.hosts.command(names, "\n".join(block.lines), self.environment))[0]
        self.counts["sh: run"] += 1
        return self.run(folder, ["bash", "-e", "-o", "pipefail", "-c", "\n".join(block.lines)])[0]

    def console(self, block, folder):
        commands = list(examples(block))
        if not commands:
            return "has no command"
        self.counts["console: run" + (", output varies" if block.mark == "output varies" else " and compared")] += 1
        for command, expected in commands:
            wrong, output = self.run(folder, ["bash", "-c", command])
            if wrong:
                return wrong
            if block.mark != "output varies" and sorted(output.splitlines()) != sorted(expected):
                return f"'{command}' prints\n{output}"
        return None

    def json(self, block, _):
        self.counts["json: parsed"] += 1
        try:
            json.loads("\n".join(block.lines))
        except ValueError as error:
            return str(error)
        return None

    def cmake(self, block, folder):
        self.counts["cmake: built"] += 1
        project = folder / "project"
        project.mkdir(exist_ok=True)
        for source in folder.glob("*.c"):
            shutil.copy(source, project)
        text = "\n".join(block.lines) + "\n"
        if "project(" not in text:
            text = "cmake_minimum_required(VERSION 3.16)\nproject(page C)\nadd_executable(program program.c)\n" + text
        (project / "CMakeLists.txt").write_text(text)
        return (self.run(folder, ["cmake", "-S", "project", "-B", "made", f"-DCMAKE_PREFIX_PATH={self.prefix}"])[0] or
                self.run(folder, ["cmake", "--build", "made"])[0])

    def missing(self, block):
        """Returns why a block cannot run on this machine, or None."""
        needed = {"needs": block.text, "hosts": block.text.partition(" needs ")[2]}.get(block.mark, "")
        absent = " ".join(name for name in needed.split() if not shutil.which(name))
        if absent:
            return f"{absent} is missing here"
        return self.hosts.why_not() if block.mark == "hosts" else None

    def check(self, block, folder):
        """Returns what is wrong with a block, or None."""
        if block.mark == "not run":
            self.counts[f"{block.language}: not run"] += 1
            self.reasons.append(f"  {block.place}: {block.text}")
            return None if block.text else "gives no reason"
        missing = self.missing(block)
        if missing:
            self.counts[f"{block.language}: not run here"] += 1
            self.reasons.append(f"  {block.place}: {missing}")
            return None
        if block.mark == "file":
            (folder / block.text).write_text("\n".join(block.lines) + "\n")
        if block.language == "text":
            self.counts["text: pictures and outputs"] += 1
            return None
        if block.language in SOURCES:
            return self.code(block, folder)
        look = {"sh": self.sh, "console": self.console, "json": self.json, "cmake": self.cmake}.get(block.language)
        return look(block, folder) if look else f"the language '{block.language}' is none that the tests can run"

    def check_page(self, page):
        blocks, offences = read(page, (self.project / page).read_text())
        folder = self.folder(page) if blocks else None
        for block in blocks:
            wrong = self.check(block, folder)
            if wrong:
                offences.append(f"{block.place}: {wrong}")
        return offences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--project", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=pathlib.Path, help="without it nothing is installed, and oshcc is the one in PATH")
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    tops = [name for name in ("README.md", "CONTRIBUTING.md") if (options.project / name).exists()]
    pages = options.pages or tops + sorted(f"docs/{path.name}" for path in options.project.glob("docs/*.md"))
    with tempfile.TemporaryDirectory() as scratch:
        checks = Pages(options, pathlib.Path(scratch))
        offences = [offence for page in pages for offence in checks.check_page(page)]
        for kind, count in sorted(checks.counts.items()):
            print(f"{count:4} {kind}")
        print("\n".join(checks.reasons + offences))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
