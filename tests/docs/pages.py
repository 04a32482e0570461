"""Reads the Markdown pages: fenced blocks, paragraphs, links, headings."""
import re

FENCE = re.compile(r"^ *```(\w*)$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$")


class Block:
    """A fenced block: its language, its lines, and the line of the page that it begins in."""

    def __init__(self, language, number):
        self.language = language
        self.number = number
        self.lines = []


def split(text):
    """Returns the fenced blocks of a page, and its other lines as (number, line)."""
    blocks, others, open_block = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and open_block is None:
            open_block = Block(fence[1], number)
        elif fence and not fence[1]:
            blocks.append(open_block)
            open_block = None
        elif open_block is not None:
            open_block.lines.append(line)
        else:
            others.append((number, line))
    if open_block is not None:
        raise ValueError(f"line {open_block.number}: the block is not closed")
    return blocks, others


def paragraphs(lines):
    """Yields (number, text) of each paragraph and list item. Rows of tables, headings and indented code are none."""
    text, first = [], 0
    for number, line in lines + [(0, "")]:
        is_prose = line.strip() and not line.startswith(("|", "#", "    "))
        if text and (not is_prose or re.match(r" *([-*]|[0-9]+\.) ", line)):
            yield first, " ".join(text)
            text = []
        if is_prose:
            first = first if text else number
            text.append(line.strip())


def tables(lines):
    """Yields (number, cells, is it the first row of a table?) of each row, but not of the dashes below the first one."""
    previous = 0
    for number, line in lines:
        if not line.startswith("|"):
            continue
        is_head = number != previous + 1
        previous = number
        if set(line) - set("|-: "):
            cells = re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", "code", line.strip()))[1:-1]
            yield number, [cell.strip() for cell in cells], is_head


def anchor(heading):
    """Returns the name by which a heading is linked."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def anchors(text):
    found = set()
    for _, line in split(text)[1]:
        match = HEADING.match(line)
        if match:
            found.add(anchor(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1])))
    return found
