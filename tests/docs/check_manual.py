#!/usr/bin/env python3
"""Checks the pages and the header that are made of the tables and of docs/man/families.

- Every routine that the library exports has a page for man: one with its prototype, or a line that leads to one.
- Nothing else has a page, but the names of generics and the overview.
- The page of a routine is complete: sections on errors, order and threads, an example, a sentence.
- The HTML pages have the same prototypes, and their links lead somewhere.
- The installed shmem.h declares every routine of the standard once, behind a comment.

check_manual.py --manual DIR [--symbols FILE]
"""
import argparse
import pathlib
import re
import sys

SECTIONS = ("NAME", "SYNOPSIS", "ROUTINES", "DESCRIPTION", "ERRORS", "COMPLETION AND ORDER", "THREADS", "EXAMPLE", "PROTOTYPES",
            "SEE ALSO")
LEADS = re.compile(r"^\.so man3/(\w+)\.3\n$")
REFERENCE = re.compile(r"^\.BR (\S+) \(3\)", re.M)
DECLARATION = re.compile(r"^SHMEMX_API [^(\n]*\b(\w+)\(", re.M)
COMMENTED = re.compile(r"^/\*\* [^\n]+ \*/\nSHMEMX_API [^(\n]*\b(\w+)\(", re.M)
TWICE = re.compile(r"#ifdef __cplusplus\nSHMEMX_API [^\n]*\n#else\n(SHMEMX_API [^\n]*\n)#endif\n")  # complex types, in C++ and in C


def routines(symbols):
    """Returns the names that need a page: no profiling names, no data, none for the linker."""
    return {name for name in symbols.split() if not re.match(r"pshmem|SHMEM_|_Fork|mlockall", name)}


def check_pages(manual, names):
    pages = {path.stem: path.read_text() for path in (manual / "man3").glob("*.3")}
    generics = {match for text in pages.values() for match in re.findall(r"^\\fB(shmem_\w+)\([^*\n]*\)\\fR$", text, re.M)}
    for name in sorted(set(pages) - names - generics):
        yield f"{name}.3: the library has no such routine"
    for name in sorted(names):
        text = pages.get(name, "")
        leads = LEADS.match(text)
        page = pages.get(leads[1], "") if leads else text
        if not re.search(rf"^\\fB[^(\n]*\b{name}\([^\n]*;\\fR$", page.partition(".SH PROTOTYPES")[2], re.M):
            yield f"{name}: no page has its prototype"
    for name, text in sorted(pages.items()):
        if LEADS.match(text):
            continue
        for section in SECTIONS:
            if f"\n.SH {section}\n" not in text:
                yield f"{name}.3: no section {section}"
        for other in REFERENCE.findall(text):
            if other not in pages:
                yield f"{name}.3: there is no page {other}"
        for line in re.findall(r"^\\fB.*\w\(.*;\\fR$", text, re.M):
            if re.search(r"[^,\\] ", line):
                yield f"{name}.3: a line may break within a parameter: {line}"


def check_html(manual, names):
    html = manual / "html"
    index = (html / "index.html").read_text()
    for name in sorted(names):
        page = re.search(rf'<a href="(\w+\.html)">{name}</a>', index)
        if not page or not (html / page[1]).exists() or f"{name}(" not in (html / page[1]).read_text():
            yield f"index.html: {name} has no page with its prototype"
    for path in sorted(html.glob("*.html")):
        for target in set(re.findall(r'href="([^"]+)"', path.read_text())):
            if not (html / target).exists():
                yield f"{path.name}: '{target}' leads nowhere"


def check_header(manual, names):
    text = TWICE.sub(r"\1", (manual / "include/shmem.h").read_text())
    declared = DECLARATION.findall(text)
    standard = {name for name in names if not name.startswith("shmemx_")}
    for name in sorted(standard ^ set(declared)):
        yield f"shmem.h: {name} is declared, but not exported" if name in declared else f"shmem.h: {name} is not declared"
    if len(declared) != len(set(declared)):
        yield "shmem.h: a routine is declared twice"
    for name in sorted(set(declared) - set(COMMENTED.findall(text))):
        yield f"shmem.h: {name} has no comment"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--manual", type=pathlib.Path, required=True)
    parser.add_argument("--symbols", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[1] / "abi/symbols.txt")
    options = parser.parse_args()
    names = routines(options.symbols.read_text())
    offences = [*check_pages(options.manual, names), *check_html(options.manual, names), *check_header(options.manual, names)]
    print("\n".join(offences) or f"{len(names)} routines have pages and prototypes")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
