"""Finds the messages in the sources: what calls that print or end a job say.

A message is the text of the string literals in the arguments of such a call, in their order; what is only known at run time
is one '…'. Conditional parts are all taken, so that a text may have more words than any line that is printed.
"""
import dataclasses
import pathlib
import re

GAP = "…"
FOLDERS = ("src", "transport", "windows", "interpose", "tools", "include")
# Calls whose text a user may see. Errors of system calls have a form of their own: what was tried, and the system's reason.
CALLS = re.compile(r"\b(fatal|warn|end_process|bad_argument|say|complain|invalid_argument|wrong|Error)\s*([({])|\b(fprintf)\(stderr,")
NOT_CALLS = re.compile(r"(struct|class|void|int|Error)\s+$")
PIECE = re.compile(r'R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"', re.S)
CONVERSION = re.compile(r"%[-+ #0]*[0-9*]*(?:\.[0-9*]+)?(?:hh|h|ll|l|z|t|j)?[diouxXeEfgGcsp]")
CODE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')


@dataclasses.dataclass(frozen=True)
class Message:
    path: str
    line: int
    text: str


def end_of_call(code, begin):
    """Returns the position behind the bracket that closes the one at `begin`; brackets in literals do not count."""
    depth = 0
    position = begin
    while position < len(code):
        piece = PIECE.match(code, position)
        if piece:
            position = piece.end()
            continue
        character = code[position]
        if character == "'" and re.match(r"'(\\.|[^'\\])'", code[position:position + 4]):
            position += len(re.match(r"'(\\.|[^'\\])'", code[position:position + 4])[0])
            continue
        depth += character in "({["
        depth -= character in ")}]"
        position += 1
        if depth == 0:
            return position
    return len(code)


def text_of(arguments):
    """Returns the words of the literals, and a gap where something else stands between or around them."""
    parts = []
    position = 0
    for piece in PIECE.finditer(arguments):
        between = arguments[position:piece.start()]
        if between.strip():
            parts.append(GAP)
        parts.append(piece[1] or piece[2] or "")
        position = piece.end()
    if arguments[position:].strip(" \n,)};"):
        parts.append(GAP)
    text = CONVERSION.sub(GAP, "".join(parts)).replace("%%", "%").replace('\\"', '"').replace("\\n", " ")
    return re.sub(r"\s+", " ", re.sub(rf"{GAP}(\s*{GAP})+", GAP, text)).strip(f" {GAP}")


def without_comments(code):
    """Blanks comments out, but not what looks like one in a literal."""
    return CODE.sub(lambda match: match[0] if match[0][0] == '"' else " " * len(match[0]), code)


def text_of_argument(arguments):
    """Returns the text of bad_argument(routine, name, value, allowed)."""
    named = re.match(r'[^,]*,\s*"(\w+)"(.*)$', arguments, re.S)
    return f"argument '{named[1] if named else GAP}' is {GAP}, allowed are {text_of(named[2] if named else arguments)}"


def messages_in(path, code):
    code = without_comments(code)
    for call in CALLS.finditer(code):
        if NOT_CALLS.search(code[:call.start()][-12:]):
            continue
        begin = call.start() + call[0].index("(") if call[3] else call.end() - 1
        arguments = code[begin + 1:end_of_call(code, begin) - 1]
        text = text_of_argument(arguments) if call[1] == "bad_argument" else text_of(arguments)
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= 2:
            yield Message(path, code.count("\n", 0, call.start()) + 1, text)


def all_messages(project):
    found = []
    for folder in FOLDERS:
        for file in sorted((project / folder).rglob("*.[ch]pp")):
            found += messages_in(str(file.relative_to(project)), file.read_text())
    return found


if __name__ == "__main__":
    for message in all_messages(pathlib.Path(".")):
        print(f"{message.path}:{message.line}: {message.text}")
