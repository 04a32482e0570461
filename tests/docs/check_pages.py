#!/usr/bin/env python3
"""Checks the Markdown pages that users read.

- Links to files of the project, and to headings, lead somewhere: in the top folder's pages and in docs/.
- docs/README.md names every page of docs/.
- README.md has at most 90 lines. Pages for users, the first table of docs/README.md and those of the top folder, have no paragraph
  above 120 words. In their tables each column has a title, and a row has no more words than a paragraph.
- Variables that those pages set are described in docs/config.md.
- Sizes in docs/tuning.md are those of the code: in a row that ends in `name`, `file`, the size or number in bold is the value of
  that constant in that file.

check_pages.py [--project DIR]
"""
import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from pages import LINK, anchors, paragraphs, split, tables

README_LINES = 90
PARAGRAPH_WORDS = 120
FOR_NEWCOMERS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/README.md", "docs/tutorial.md", "docs/migration.md",
                 "docs/tuning.md")
SETTING = re.compile(r"(?<!-D)\b(SHMEMX?_[A-Z_]+)=")
OTHER_SETTINGS = ("SHMEMX_CC", "SHMEMX_MPI_FLAVOR", "SHMEMX_MPI_RMA")  # of the compiler wrappers and of shmemx-rma
UNITS = {"": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "ns": 1, "us": 1000, "ms": 1000000}
LAST_CELL = re.compile(r"\| *`(\w+)`, *`([\w./]+)` *\|$")
BOLD = re.compile(r"\*\*([0-9.,]+) ?(\w*)\*\*")


def check_links(project, page, text):
    for number, line in split(text)[1]:
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, heading = target.partition("#")
            file = (page.parent / path) if path else page
            if not (project / file).exists():
                yield f"{page}:{number}: '{target}' leads nowhere"
            elif heading and heading not in anchors((project / file).read_text()):
                yield f"{page}:{number}: {file} has no heading '#{heading}'"


def constant(text, name):
    """Returns the value of a constexpr integer, or None. Its expression has numbers and shifts only."""
    match = re.search(rf"\b{name} *= *([^;,]+);", text)
    if not match:
        return None
    expression = re.sub(r"std::\w+\{(\w+)\}", r"\1", match[1]).replace("'", "")
    return eval(expression) if re.fullmatch(r"[0-9 <*+()]+", expression) else None


def check_sizes(project, page, text):
    count = 0
    for number, line in enumerate(text.splitlines(), 1):
        place = LAST_CELL.search(line)
        if not place:
            continue
        count += 1
        shown = BOLD.search(line)
        if not shown or shown[2] not in UNITS:
            yield f"{page}:{number}: no size in bold"
            continue
        name, file = place.groups()
        value = constant((project / file).read_text(), name) if (project / file).exists() else None
        if value != float(shown[1].replace(",", "")) * UNITS[shown[2]]:
            yield f"{page}:{number}: {name} of {file} is {value}, not {shown[0]}"
    if count == 0:
        yield f"{page}: no table with constants; this test sees nothing"


def for_users(project):
    """Returns the pages of FOR_NEWCOMERS, and those that docs/README.md has for users."""
    users = (project / "docs/README.md").read_text().partition("## For developers")[0]
    named = (f"docs/{target}" for target in LINK.findall(users))
    return set(FOR_NEWCOMERS) | {page for page in named if "/../" not in page and page.endswith(".md")}


def check_users(project, page, text):
    for number, paragraph in paragraphs(split(text)[1]):
        words = len(paragraph.split())
        if words > PARAGRAPH_WORDS:
            yield f"{page}:{number}: a paragraph of {words} words, {PARAGRAPH_WORDS} are allowed"
    for number, cells, is_head in tables(split(text)[1]):
        words = sum(len(cell.split()) for cell in cells)
        if words > PARAGRAPH_WORDS:
            yield f"{page}:{number}: a row of {words} words, {PARAGRAPH_WORDS} are allowed"
        if is_head and "" in cells:
            yield f"{page}:{number}: a column without a title"
    described = set(re.findall(r"^## (\w+)$", (project / "docs/config.md").read_text(), re.M))
    for name in sorted(set(SETTING.findall(text)) - described - set(OTHER_SETTINGS)):
        yield f"{page}: docs/config.md does not describe {name}"


def check(project):
    pages = [path.relative_to(project) for path in sorted(project.glob("*.md")) + sorted(project.glob("docs/**/*.md"))]
    named = {target.partition("#")[0] for target in LINK.findall((project / "docs/README.md").read_text())}
    users = for_users(project)
    for page in pages:
        text = (project / page).read_text()
        yield from check_links(project, page, text)
        if page.parent == pathlib.Path("docs") and page.name != "README.md" and page.name not in named:
            yield f"docs/README.md does not name {page}"
        if str(page) in users:
            yield from check_users(project, page, text)
    lines = len((project / "README.md").read_text().splitlines())
    if lines > README_LINES:
        yield f"README.md: {lines} lines, {README_LINES} are allowed"
    for page in FOR_NEWCOMERS:
        if pathlib.Path(page) not in pages:
            yield f"{page} is missing"
    yield from check_sizes(project, "docs/tuning.md", (project / "docs/tuning.md").read_text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--project", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    offences = list(check(parser.parse_args().project))
    print("\n".join(offences) or "links, index, sizes and paragraphs are as they should be")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
