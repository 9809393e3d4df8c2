"""Reads C++ just well enough for tidy.py: blanks out comments and literals, finds includes and functions."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    //[^\n]*(?:\\\n[^\n]*)*            # line comment
  | /\*.*?\*/                          # block comment
  | R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"   # raw string
  | "(?:[^"\\\n]|\\.)*"                # string
  | (?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)+'   # character, and not a digit separator
    """,
    re.VERBOSE | re.DOTALL,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n[^\n]*)*", re.MULTILINE)
_ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
_CONTAINER = re.compile(r"^(?:(?:inline|typedef|static|const|constexpr)\s+)*(?:namespace|class|struct|union|enum|extern)\b")


@dataclass(frozen=True)
class Include:
    line: int
    path: str
    system: bool  # <...> rather than "..."


@dataclass(frozen=True)
class Comment:
    """A line that holds nothing but a comment after two slashes."""

    line: int
    column: int  # of the slashes
    text: str  # what follows them


@dataclass(frozen=True)
class Declaration:
    """A type, function or constant that is declared or defined at namespace or class scope."""

    line: int
    name: str
    first_line: int  # where its text begins; `line` is where its head ends


@dataclass(frozen=True)
class Function:
    line: int
    lines: int  # from the first line of its head to its closing brace
    head: str


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_only(text):
    """The text with comments and literals blanked out; every line keeps its number."""

    def replace(match):
        token = match.group(0)
        return _blank(token) if token.startswith("/") else '"' + _blank(token)[1:-1] + '"'

    return _TOKEN.sub(replace, text)


def _comments(text):
    return (match for match in _TOKEN.finditer(text) if match.group(0).startswith("/"))


def lines_with_comments(text):
    """The numbers of all lines on which there is some comment."""
    numbers = set()
    for match in _comments(text):
        first = text.count("\n", 0, match.start()) + 1
        numbers.update(range(first, first + match.group(0).count("\n") + 1))
    return numbers


def comment_blocks(text):
    """The comments that are alone on their lines, those of adjacent lines at one column together."""
    blocks = []
    for match in _comments(text):
        start = text.rfind("\n", 0, match.start()) + 1
        if not match.group(0).startswith("//") or text[start : match.start()].strip():
            continue
        comment = Comment(text.count("\n", 0, start) + 1, match.start() - start, match.group(0)[2:])
        last = blocks[-1][-1] if blocks else None
        if last and (last.line + 1, last.column) == (comment.line, comment.column):
            blocks[-1].append(comment)
        else:
            blocks.append([comment])
    return blocks


def comment_above(text, line):
    """The comment that ends directly above the line, with its lines joined by blanks; "" if there is none."""
    for block in comment_blocks(text):
        if block[-1].line == line - 1:
            return " ".join(comment.text.strip() for comment in block)
    return ""


def includes(text):
    # Read from the raw text, because code_only() blanks the paths; a commented-out include does not match at line start.
    return [
        Include(text.count("\n", 0, match.start(2)) + 1, match.group(2), match.group(1) == "<")
        for match in _INCLUDE.finditer(text)
    ]


def _without_template(head):
    while head.startswith("template"):
        depth, end = 0, 0
        for end, char in enumerate(head):
            depth += (char == "<") - (char == ">")
            if char == ">" and depth == 0:
                break
        head = head[end + 1 :].strip()
    return head


def _is_container(head):
    head = _without_template(head)
    return bool(_CONTAINER.match(head)) and not (head.startswith("extern") and "(" in head)


def _is_function(head):
    return "(" in head and not head.endswith("=")


@dataclass
class _Statement:
    """A declaration or definition at namespace or class scope: its text up to ";" or the brace, and where it ends."""

    kind: str  # "declaration", "function" or "container"
    head: str
    first: int  # position of its first character
    head_end: int
    end: int  # of its ";" or closing brace


def _statements(code):
    """Those of code_only(), those of a container after the container. A heuristic: it counts braces."""
    code = _PREPROCESSOR.sub(lambda match: _blank(match.group(0)), code)
    code = _ACCESS.sub(lambda match: _blank(match.group(0)), code)
    found, scopes, start = [], [], 0
    for match in re.finditer("[{};]", code):
        char, position = match.group(0), match.start()
        text = code[start:position]
        if char != "}" and all(scope and scope.kind == "container" for scope in scopes):
            head = text.strip()
            kind = "declaration"
            if char == "{":
                kind = "container" if _is_container(head) else "function" if _is_function(head) else ""
            if not kind:  # an initializer: the declaration continues after it
                scopes.append(None)
                continue
            first = start + len(text) - len(text.lstrip())
            found.append(_Statement(kind, " ".join(head.split()), first, position, position))
        if char == "{":
            scopes.append(found[-1] if found and found[-1].head_end == position else None)
        elif char == "}" and scopes:
            scope = scopes.pop()
            if not scope:
                continue  # of an initializer, or within a body
            scope.end = position
        start = position + 1
    return found


def functions(text):
    """Functions with a body, at namespace or class scope."""
    code = code_only(text)

    def line(position):
        return code.count("\n", 0, position) + 1

    return [
        Function(line(statement.first), line(statement.end) - line(statement.first) + 1, statement.head)
        for statement in _statements(code)
        if statement.kind == "function"
    ]


_ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\b(?:ABSL_\w+|alignas)\([^()]*\)")
_TYPE = re.compile(r"^(?:class|struct|union|enum(?: class| struct)?) (\w+)|^using (\w+) =")
_NO_DECLARATION = re.compile(r"^(?:using|typedef|friend|namespace|extern|static_assert)\b")
_FUNCTION = re.compile(r"([\w:~]+) ?\(")
_CONSTANT = re.compile(r"\b(k[A-Z]\w*)(?:\[[^\]]*\])* ?$")


def _declared(head):
    """The type, function or constant that a statement introduces; none for what is used without its name."""
    head = _ATTRIBUTE.sub("", _without_template(head)).strip()
    a_type = _TYPE.match(head)
    if a_type:
        return a_type.group(1) or a_type.group(2)
    if _NO_DECLARATION.match(head) or re.search(r"\boverride\b|\boperator\b", head):
        return None
    function = _FUNCTION.search(head)
    if function and "=" not in head[: function.start()]:
        name = function.group(1).split("::")[-1]
        is_constructor = not head[: function.start()].strip() or "~" in name
        return None if is_constructor else name
    constant = _CONSTANT.search(re.split("[={]", head)[0])
    return constant.group(1) if constant else None


def declarations(code):
    """Of code_only(). Constructors, destructors, operators, overriders and friends are left out: no name calls them."""
    for statement in _statements(code):
        name = _declared(statement.head)
        if name:
            line, first_line = (code.count("\n", 0, position) + 1 for position in (statement.head_end, statement.first))
            yield Declaration(line, name, first_line)
