"""Finds the functions and classes of a C or C++ source by its brackets and key words.

This reads the formatted sources of this project, not all of C++: macros are not expanded, and bodies of functions are
skipped. Brackets that do not match are reported as an error of the file.
"""
import re

# What is replaced before reading: comments, literals, preprocessor lines.
REPLACED = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?\*/'
    r'|(?P<literal>R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')"
    r'|^[ \t]*\#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
TOKEN = re.compile(
    r'\s*(operator\s*(?:\(\s*\)|\[\s*\]|->\*?|""\s*\w+|[-+*/%^&|~!=<>,]{1,3})|[A-Za-z_]\w*|[0-9][\w.\']*'
    r'|""|::|->|<<|<=|>=|==|!=|&&|\|\||\.\.\.|\[\[|\S)')
BRACKET = re.compile(r'[(){}\[\]]')
IN_LIST = re.compile(r'->|<=|>=|<<|[<>;({\[)}\]]')   # what matters in a list of template arguments
NAME = re.compile(r'[A-Za-z_]\w*$')
CLASS_KEYS = {"class", "struct", "union", "enum"}
NO_MEMBER = {"using", "typedef", "friend", "static_assert", "_Static_assert", "static", "extern", "template"}
BUILTIN = {"bool", "char", "short", "int", "long", "signed", "unsigned"}   # what an unnamed bit-field ends with
WITH_BRACKETS = {"alignas", "_Alignas", "decltype", "__attribute__", "explicit", "noexcept", "requires"}


class Function:
    def __init__(self, name, lines, parameters):
        self.name, self.lines, self.parameters = name, lines, parameters


class Class:
    def __init__(self, name):
        self.name, self.members, self.functions, self.bools, self.sources = name, 0, 0, 0, 0


class File:
    """What was found in one file. member_definitions holds (scope, qualifier) of functions defined outside their class."""

    def __init__(self, lines):
        self.lines, self.functions, self.classes, self.member_definitions, self.errors = lines, [], [], [], []


class Unmatched(Exception):
    pass


def strip(text):
    """Returns the text without comments and preprocessor lines, and with "" for each literal. Line ends stay."""
    return REPLACED.sub(lambda match: '""' if match["literal"] else "\n" * match[0].count("\n"), text)


def without_else(text):
    """Returns the text with only the first part of each #if."""
    lines, hidden = [], []
    for line in text.split("\n"):
        directive = re.match(r"\s*#\s*(if|el|endif)", line)
        if directive and directive[1] == "if":
            hidden.append(False)
        elif directive and hidden:
            hidden[-1] = True
            if directive[1] == "endif":
                hidden.pop()
        lines.append("" if any(hidden) else line)
    return "\n".join(lines)


class Reader:
    """Reads one file. A statement is a list of (token, position); brackets count as one token: "()", "[]", "{}", "<>"."""

    def __init__(self, text, facts, path):
        self.text, self.facts, self.path = text, facts, path
        self.ends = {}
        opened = []
        for match in re.finditer(r"[{}]", text):
            if match[0] == "{":
                opened.append(match.start())
            elif not opened:
                raise Unmatched
            else:
                self.ends[opened.pop()] = match.start()
        if opened:
            raise Unmatched

    def end_of(self, position):
        """Returns the position of the bracket that closes the one at `position`."""
        if position in self.ends:
            return self.ends[position]
        depth = 0
        for match in BRACKET.finditer(self.text, position):
            depth += 1 if match[0] in "({[" else -1
            if depth == 0:
                return match.start()
        raise Unmatched

    def end_of_list(self, position):
        """Returns the position of the '>' that ends the template arguments at `position`, or None if there are none."""
        depth = 0
        while match := IN_LIST.search(self.text, position):
            token, position = match[0], match.end()
            if token in (";", ")", "}", "]"):
                return None
            if token in ("(", "{", "["):
                position = self.end_of(match.start()) + 1
            elif token in ("<", ">"):
                depth += 1 if token == "<" else -1
                if depth == 0:
                    return match.start()
        return None

    def tokens(self, position, end):
        """Yields (token, position) of what lies in [position, end), without attributes."""
        while position < end and (match := TOKEN.match(self.text, position)) and match.start(1) < end:
            token, start, position = match[1], match.start(1), match.end()
            if token == "[[":   # attribute
                position = self.end_of(start) + 1
                continue
            if token in ("(", "["):
                position = self.end_of(start) + 1
                token += ")" if token == "(" else "]"
            elif token == "<" and (last := self.end_of_list(start)) is not None:
                token, position = "<>", last + 1
            elif token == "{":
                position = self.end_of(start) + 1
            yield token, start

    def count_parameters(self, bracket):
        end = self.end_of(bracket)
        inner = [token for token, _ in self.tokens(bracket + 1, end)]
        return 0 if inner in ([], ["void"]) else inner.count(",") + 1

    def read_scope(self, start, end, names, owner):
        """Reads the statements of a namespace or class in [start, end). `owner` is the class, or None."""
        statement = []
        for token, position in self.tokens(start, end):
            if token == ";":
                if owner is not None:
                    self.count_declared(statement, owner)
                statement = []
            elif token == ":" and len(statement) == 1 and statement[0][0] in ("public", "private", "protected"):
                statement = []
            elif token == "{":
                statement = self.read_brace(position, statement, names, owner)
            elif token == "()" and statement and statement[-1][0] in WITH_BRACKETS:
                statement[-1] = ("decltype()" if statement[-1][0] == "decltype" else "attribute()", statement[-1][1])
            else:
                statement.append((token, position))

    def read_brace(self, position, statement, names, owner):
        """Reads what a brace opens; returns the statement that goes on behind it."""
        words = words_of(statement)
        kind = "value" if owner is not None and "=" in words else kind_of_brace(words)
        end = self.ends[position]
        if kind == "namespace":
            inner = [word for word in words if NAME.match(word) and word not in ("namespace", "inline", "extern")]
            if not inner and "extern" not in words:
                inner = ["(" + self.path.split("/")[-1].split(".")[0] + ")"]   # unnamed: the file stands for it
            self.read_scope(position + 1, end, (*names, *inner), None)
            return []
        if kind == "class":
            return self.read_class(position, words, names, owner)
        if kind == "function":
            self.note_function(statement, end, names, owner)
            return []
        return [*statement, ("{}", position)]

    def read_class(self, position, words, names, owner):
        end = self.ends[position]
        if "enum" in words:
            return [("{}", position)]
        name = class_name(words)
        if not name and owner is not None and TOKEN.match(self.text, end + 1)[1] == ";":
            self.read_scope(position + 1, end, names, owner)   # its members are the owner's
            return []
        names = (*names, *(name or "(unnamed)").split("::"))
        found = Class("::".join(without_project(names)))
        self.read_scope(position + 1, end, names, found)
        self.facts.classes.append(found)
        return [("{}", position)]

    def note_function(self, statement, end, names, owner):
        tokens = [token for token, _ in statement]
        bracket = tokens.index("()") if "()" in tokens else 0
        parameters = self.count_parameters(statement[bracket][1]) if bracket else 0
        name = tokens[bracket - 1] if bracket else "lambda"
        if bracket > 1 and tokens[bracket - 2] == "~":
            name = "~" + name
        if owner is not None:
            owner.functions += 1
        qualifier, at = [], bracket - 2
        if at > 0 and tokens[at] == "~":
            at -= 1
        while at > 0 and tokens[at] == "::":
            at -= 2 if tokens[at - 1] == "<>" else 1
            qualifier.insert(0, tokens[at])
            at -= 1
        lines = self.text.count("\n", statement[0][1], end) + 1
        self.facts.functions.append(Function("::".join((*qualifier, name)), lines, parameters))
        if qualifier:
            self.facts.member_definitions.append((without_project(names), without_project(qualifier)))

    def count_declared(self, statement, owner):
        """Counts what a statement of a class declares."""
        words = words_of(statement)
        if is_function(words):
            value = words[words.index("=") + 1:] if "=" in words else []
            owner.functions += "friend" not in words and value not in (["default"], ["delete"])
            return
        if not words or NO_MEMBER.intersection(words):
            return
        declared = declarators(words)
        owner.members += len(declared)
        if self.is_bool(statement):
            owner.bools += sum(1 for declarator in declared if not {"*", "&", "()"}.intersection(declarator))

    def is_bool(self, statement):
        words = [word for word, _ in statement]
        if "atomic" in words and "<>" in words:
            start = statement[words.index("<>")][1]
            return self.text[start + 1:self.end_of_list(start)].strip() == "bool"
        return bool({"bool", "_Bool", "atomic_bool"}.intersection(words))


def without_project(names):
    return tuple(name for name in names if name != "shmemx")


def words_of(statement):
    """Returns the tokens of a statement without the head of a template and attributes."""
    words = [token for token, _ in statement if token != "attribute()"]
    return ["template", *words[2:]] if words[:2] == ["template", "<>"] else words


def before(words, *ends):
    """Returns the words before the first of `ends`."""
    return words[:min((words.index(end) for end in ends if end in words), default=len(words))]


def is_function(words):
    """Tells whether a declaration in a class is one of a function: a pointer to one, (*name)(...), is a member."""
    head = before(words, "=", "{}")
    if any(word.startswith("operator") for word in head):
        return "using" not in head
    if "()" not in head or NO_MEMBER.intersection(head) - {"static", "template", "friend"}:
        return False
    return head[head.index("()") + 1:head.index("()") + 2] != ["()"]


def declarators(words):
    """Returns the declarators of a member declaration, each as a list of words. The first one has the type."""
    parts, part = [], []
    for word in words:
        if word == ",":
            parts.append(part)
            part = []
        else:
            part.append(word)
    parts.append(part)
    found = []
    for position, part in enumerate(parts):
        part = before(part, "=", ":")   # a value, the width of a bit-field
        names = [word for word in part if NAME.match(word) and word not in CLASS_KEYS or word in ("decltype()", "()")]
        # The first part has a type and a name. Behind a class's body there are only names.
        needed = 2 if position == 0 and words[0] != "{}" else 1
        if len(names) >= needed and names[-1] not in BUILTIN:
            found.append(part)
    return found


def class_name(words):
    """Returns the name in the head of a class, or '' if it has none."""
    key = next(position for position, word in enumerate(words) if word in CLASS_KEYS)
    rest = before(words[key + 1:], ":")
    return "".join(word for word in rest if word not in ("final", "<>", *CLASS_KEYS))


def kind_of_brace(words):
    """Tells what a brace behind `words` opens: namespace, class, function or value."""
    if words in (["namespace"], ["extern", '""']) or words[:1] == ["namespace"] or words[:2] == ["inline", "namespace"]:
        return "namespace"
    if "=" in words:
        value = words[words.index("=") + 1:]
        return "function" if value[:1] == ["[]"] and value[-1] in ("[]", "()", "mutable", "noexcept") else "value"
    head = before(words, ":")
    if CLASS_KEYS.intersection(head) and "()" not in head:
        key = max(position for position, word in enumerate(head) if word in CLASS_KEYS)
        names = [word for word in head[key + 1:] if NAME.match(word) and word != "final"]
        return "class" if len(names) < 2 or "::" in head[key:] else "value"   # struct option options {...}
    if "()" not in words:
        return "value"
    in_list = ":" in words[words.index("()"):]   # a constructor's
    return "value" if in_list and words[-1] not in ("()", "{}") else "function"


def read_file(text, path):
    """Returns the facts about a source."""
    for select in (str, without_else):   # parts behind #else may open a bracket a second time
        facts = File(text.count("\n"))
        shown = strip(select(text))
        try:
            Reader(shown, facts, path).read_scope(0, len(shown), (), None)
            return facts
        except Unmatched:
            continue
    facts.errors.append("its brackets do not match")
    return facts
