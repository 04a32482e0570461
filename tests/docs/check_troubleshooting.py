#!/usr/bin/env python3
"""Checks docs/troubleshooting.md against the messages in the sources.

- Each message (messages.py) is matched by one that the page lists: the words between its gaps occur in the message, in order.
- Each message that the page lists is in the sources, and has enough words to be recognised.

check_troubleshooting.py [--project DIR]
"""
import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from messages import FOLDERS, GAP, all_messages, text_of

PAGE = "docs/troubleshooting.md"
LEAST_LETTERS = 8


def entries(text):
    """Yields (line number, message) of the first column of each table whose head says 'message'."""
    is_table = False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            is_table = False
        elif line.startswith("| message |"):
            is_table = True
        elif is_table:
            yield from ((number, message) for message in re.findall(r"`([^`]+)`", line.split("|")[1]))


def pattern_of(message):
    parts = [re.escape(part.strip()) for part in message.split(GAP)]
    return re.compile(".*?".join(part for part in parts if part), re.S)


def is_too_short(message):
    return len(re.sub(r"[^A-Za-z]", "", message)) < LEAST_LETTERS and not message.startswith("'")


def check(project):
    page = (project / PAGE).read_text()
    listed = [(number, message, pattern_of(message)) for number, message in entries(page)]
    messages = all_messages(project)
    if not listed or not messages:
        yield f"{PAGE}: {len(listed)} entries, {len(messages)} messages in the sources: this test sees nothing"
        return
    used = set()
    for message in messages:
        matching = [number for number, _, pattern in listed if pattern.search(message.text)]
        used.update(matching)
        if not matching:
            yield f"{message.path}:{message.line}: {PAGE} has no entry for '{message.text}'"
    literals = [text_of(file.read_text()) for folder in FOLDERS for file in sorted((project / folder).rglob("*.[ch]pp"))]
    for number, message, pattern in listed:
        if is_too_short(message):
            yield f"{PAGE}:{number}: '{message}' has too few words"
        elif not any(pattern.search(one.text) for one in messages) and not any(pattern.search(text) for text in literals):
            yield f"{PAGE}:{number}: no source has the message '{message}'"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--project", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    offences = list(check(parser.parse_args().project))
    print("\n".join(offences) or "each message has an entry")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
