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


def functions(text):
    """Functions with a body, at namespace or class scope. A heuristic: it counts braces."""
    code = _PREPROCESSOR.sub(lambda match: _blank(match.group(0)), code_only(text))
    code = _ACCESS.sub(lambda match: _blank(match.group(0)), code)
    found, scopes, start = [], [], 0
    for position, char in enumerate(code):
        inside_containers = all(kind == "container" for kind, _, _ in scopes)
        if char == "{":
            head = code[start:position].strip()
            kind = "other"
            if inside_containers and _is_container(head):
                kind = "container"
            elif inside_containers and _is_function(head):
                kind = "function"
            first = start + len(code[start:position]) - len(code[start:position].lstrip())
            scopes.append((kind, code.count("\n", 0, first) + 1, " ".join(head.split())))
            start = position + 1
        elif char == "}":
            if scopes:
                kind, line, head = scopes.pop()
                if kind == "function":
                    found.append(Function(line, code.count("\n", 0, position) + 2 - line, head))
            start = position + 1
        elif char == ";":
            start = position + 1
    return found
