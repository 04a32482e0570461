#!/usr/bin/env python3
"""Checks the sizes of files, functions and classes.

Files have at most 450 lines, functions at most 45 lines and 6 parameters. Classes and structs of the library have at most
12 data members and 4 bools, and their functions are defined in one .cpp. exceptions.txt names what may be larger, and
why; a line there that is not needed, or allows more than there is, is an offence as well.

check_sizes.py [--project DIR] [--only FOLDER] [--exceptions FILE] [--update] [--largest N]

--update rewrites the numbers of exceptions.txt and removes lines that are not needed; new lines are written by hand.
--largest prints the N largest classes instead: members, functions, bools, sources.

Static members, and those that a macro makes, are not counted. Members of unnamed unions and structs count as their class's.
Lambdas and local classes are part of the function around them. Routines of the standards have the parameters that those
give them.
"""
import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from declarations import read_file

FOLDERS = ("include", "src", "windows", "transport", "interpose", "tools", "tests", "bench", "examples")
LIBRARY = ("src", "windows", "transport", "interpose")  # where classes are measured
ANY_PARAMETERS = re.compile(r"(include|src/api|interpose/api)/|src/races/(routines_|openmp)|tests/(interpose/tool|support/strict_provider/(calls|memory))[.]cpp")
LIMITS = {"lines": 450, "function": 45, "parameters": 6, "members": 12, "bools": 4, "sources": 1}
# In exceptions.txt: "path lines", "path function lines", "Class members|bools|sources count", "Class layout".
EXCEPTION = re.compile(r"(?P<what>\S.*?) +(?P<count>[0-9]+|layout) *: *(?P<reason>\S.*)$")


class Exceptions:
    """The list of what may be larger. Each line is an offence unless exactly what it allows is there."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text().splitlines() if path.exists() else []
        self.by_name = {}
        self.used = {}   # line number: the count that was found
        self.malformed = []
        for number, line in enumerate(self.lines):
            if not line.strip() or line.startswith("#"):
                continue
            match = EXCEPTION.match(line)
            if match:
                self.by_name[match["what"]] = (number, match["count"])
            else:
                self.malformed.append(f"{path.name}: '{line}' is not 'what count: reason'")

    def allowed(self, what, found, limit):
        """Returns the limit for `what`, of which `found` are there."""
        number, count = self.by_name.get(what, (None, limit))
        if number is None or found <= limit:
            return limit
        self.used[number] = found
        return int(count)

    def has_layout(self, name):
        """Tells whether the members of a class are a layout that others see, and notes that the line is needed."""
        number, count = self.by_name.get(name, (None, None))
        if count == "layout":
            self.used[number] = "layout"
            return True
        return False

    def offences(self):
        yield from self.malformed
        for what, (number, count) in self.by_name.items():
            if number not in self.used:
                yield f"{self.path.name}: '{what}' needs no exception any more; remove the line (--update does)"
            elif count != "layout" and self.used[number] < int(count):
                yield f"{self.path.name}: '{what}' has {self.used[number]}, not {count}; lower it (--update does)"

    def update(self):
        """Writes the found counts into the file and leaves out what is not needed."""
        kept = []
        for number, line in enumerate(self.lines):
            match = None if line.startswith("#") else EXCEPTION.match(line)
            if match and number not in self.used:
                continue
            if match and match["count"] != "layout" and self.used[number] < int(match["count"]):
                line = f"{match['what']} {self.used[number]}: {match['reason']}"
            kept.append(line)
        self.path.write_text("\n".join(kept) + "\n")


def sources_of_classes(files, classes):
    """Returns for each class the .cpp files that define a function of it."""
    sources = {}
    for path, facts in files.items():
        for scope, qualifier in facts.member_definitions if path.endswith(".cpp") else ():
            outer = scope
            while True:
                name = "::".join((*outer, *qualifier))
                if name in classes:
                    sources.setdefault(name, set()).add(path)
                    break
                if not outer:
                    break
                outer = outer[:-1]
    return sources


def check_files(files, exceptions, offences):
    for path, facts in files.items():
        if facts.lines > exceptions.allowed(path, facts.lines, LIMITS["lines"]):
            offences["files"].append(f"{path}: {facts.lines} lines, {LIMITS['lines']} are allowed")
        for function in facts.functions:
            what = f"{path} {function.name}"
            limit = exceptions.allowed(what, function.lines, LIMITS["function"])
            if function.lines > limit:
                offences["functions"].append(f"{path}: {function.name} has {function.lines} lines, {limit} are allowed")
            if function.parameters > LIMITS["parameters"] and not ANY_PARAMETERS.match(path):
                offences["parameters"].append(f"{path}: {function.name} has {function.parameters} parameters, "
                                              f"{LIMITS['parameters']} are allowed")


def check_classes(classes, exceptions, offences):
    for name, (path, facts) in classes.items():
        if exceptions.has_layout(name):
            continue
        for kind in ("members", "bools", "sources"):
            found = getattr(facts, kind)
            limit = exceptions.allowed(f"{name} {kind}", found, LIMITS[kind])
            if found > limit:
                offences["classes"].append(f"{path}: {name} has {found} {kind}, {limit} are allowed")


def read_project(project, only):
    files = {}
    for folder in FOLDERS:
        for path in sorted((project / folder).rglob("*")):
            name = path.relative_to(project).as_posix()
            if path.suffix in (".h", ".hpp", ".c", ".cpp") and (not only or name == only or name.startswith(only + "/")):
                files[name] = read_file(path.read_text(), name)
    return files


def find_classes(files):
    """Returns {qualified name: (path, facts)} of the library's classes, with the number of their .cpp files."""
    classes = {}
    for path, facts in files.items():
        if path.split("/")[0] in LIBRARY:
            for found in facts.classes:   # of a template and its specialisations, the largest
                if found.name not in classes or classes[found.name][1].members < found.members:
                    classes[found.name] = (path, found)
    for name, sources in sources_of_classes(files, classes).items():
        classes[name][1].sources = len(sources)
    return classes


def print_largest(classes, count):
    print(f"{'members':>7} {'functions':>9} {'bools':>5} {'sources':>7}  class")
    largest = sorted(classes.items(), key=lambda item: (-item[1][1].members, -item[1][1].functions, item[0]))
    for name, (path, facts) in largest[:count]:
        print(f"{facts.members:7} {facts.functions:9} {facts.bools:5} {facts.sources:7}  {name} ({path})")


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", type=pathlib.Path, default=here.parent.parent)
    parser.add_argument("--only", default="", help="one folder; exceptions that are not needed are not looked for")
    parser.add_argument("--exceptions", type=pathlib.Path, default=here / "exceptions.txt")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--largest", type=int, metavar="N")
    arguments = parser.parse_args()
    files = read_project(arguments.project, arguments.only.rstrip("/"))
    if not files:
        sys.exit(f"sizes: no source seen under {arguments.project}/{arguments.only}; this test sees nothing")
    classes = find_classes(files)
    if arguments.largest:
        return print_largest(classes, arguments.largest)
    exceptions = Exceptions(arguments.exceptions)
    offences = {"files": [], "functions": [], "parameters": [], "classes": [], "exceptions": []}
    offences["files"] += [f"{path}: {error}" for path, facts in files.items() for error in facts.errors]
    check_files(files, exceptions, offences)
    check_classes(classes, exceptions, offences)
    if arguments.update:
        exceptions.update()
    elif not arguments.only:
        offences["exceptions"] += exceptions.offences()
    failing = [f" {kind}: {len(found)} found\n  " + "\n  ".join(found) for kind, found in offences.items() if found]
    if failing:
        sys.exit("sizes:\n" + "\n".join(failing))
    functions = sum(len(facts.functions) for facts in files.values())
    print(f"{len(files)} files, {functions} functions, {len(classes)} classes, all within limits")


if __name__ == "__main__":
    main()
