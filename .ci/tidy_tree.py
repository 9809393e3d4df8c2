"""Rules about the whole tree: unused declarations and headers, small units with one user, folders that include each other.

A unit is x.h with x.cc, or one of them. A product file is one that tidy.is_test() does not name.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import tidy_cpp

SMALL_UNIT_LINES = 120
# In the comment directly above a declaration: it is kept for tests, as a reference implementation that they compare with.
KEPT_FOR_TESTS = "For tests:"
# Units that may be unused, each with the reason.
KEPT_UNUSED = {
    "server/dp/accounting/calculators/parallel":
        "parallel composition under substitution, proved and tested; whether an account will charge by it is not decided",
}
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def unit_of(path):
    return path.rsplit(".", 1)[0]


def folder_of(path):
    return path.rpartition("/")[0]


@dataclass
class Tree:
    """The C++ files of a tree by their paths, and which of them are no part of the product."""

    texts: dict
    tests: set

    def product(self):
        return [path for path in self.texts if path not in self.tests]

    def included(self, path, name):
        """The file that an include of `name` in `path` means; None for those of others."""
        candidates = (f"server/{name}", name, f"{folder_of(path)}/{name}")
        return next((candidate for candidate in candidates if candidate in self.texts), None)

    def includes(self, path):
        """The files of the tree that `path` includes, with the lines."""
        for include in tidy_cpp.includes(self.texts[path]):
            file = self.included(path, include.path)
            if file is not None:
                yield file, include.line


def _names_used(code):
    """How often each identifier occurs other than as the name that a declaration or a definition introduces."""
    names = Counter(_IDENTIFIER.findall(code))
    names.subtract(declaration.name for declaration in tidy_cpp.declarations(code))
    return names


def unused_declarations(tree):
    """(path, line, message) of what a header declares and no product code names, unless a comment keeps it for tests."""
    code = {path: tidy_cpp.code_only(text) for path, text in tree.texts.items()}
    used, used_by_tests = Counter(), set()
    for path in tree.texts:
        if path in tree.tests:
            used_by_tests.update(_IDENTIFIER.findall(code[path]))
        else:
            used.update(_names_used(code[path]))
    for path in tree.product():
        if not path.endswith(".h") or unit_of(path) in KEPT_UNUSED:
            continue
        for declaration in tidy_cpp.declarations(code[path]):
            if used[declaration.name] > 0:
                continue
            if declaration.name not in used_by_tests:
                yield path, declaration.line, f"{declaration.name} is declared, but nothing uses it: delete it"
            elif KEPT_FOR_TESTS not in tidy_cpp.comment_above(tree.texts[path], declaration.first_line):
                yield path, declaration.line, (f"{declaration.name} is declared, but only tests use it: move it to testing/, or, if it "
                                               f'is a reference that they compare with, write "{KEPT_FOR_TESTS}" in the comment above it')


def _users(tree):
    """For each unit, the other units of the product that include its header."""
    users = defaultdict(set)
    for path in tree.product():
        for file, _ in tree.includes(path):
            if unit_of(file) != unit_of(path):
                users[unit_of(file)].add(unit_of(path))
    return users


def unused_files(tree):
    """(path, 1, message) of headers that no other unit of the product includes."""
    users = _users(tree)
    for path in tree.product():
        if path.endswith(".h") and not users[unit_of(path)] and unit_of(path) not in KEPT_UNUSED:
            yield path, 1, "no other product file includes this header: delete it, or move it to testing/"


def small_units(tree):
    """(path, 1, message) of small units with a single user, in their own folder, and without a test of their own."""
    users = _users(tree)
    for path in tree.product():
        unit = unit_of(path)
        if not path.endswith(".h") or f"{unit}_test.cc" in tree.texts or len(users[unit]) != 1:
            continue
        user = next(iter(users[unit]))
        lines = sum(tree.texts.get(f"{unit}{suffix}", "").count("\n") for suffix in (".h", ".cc"))
        if lines < SMALL_UNIT_LINES and folder_of(user) == folder_of(unit):
            yield path, 1, (f"a unit of {lines} lines, without a test of its own, that only {Path(user).name} uses: move it into that "
                            f"file; at least {SMALL_UNIT_LINES} lines, a test or a second user justify a separate unit")


def circles(tree):
    """(path, line, message) of includes that are part of a cycle of folders.

    A folder and its subfolders may include each other: a registry stands above what it lists.
    """
    arrows, places = defaultdict(set), {}
    for path in tree.product():
        for file, line in tree.includes(path):
            here, there = folder_of(path), folder_of(file)
            if not (f"{here}/".startswith(f"{there}/") or f"{there}/".startswith(f"{here}/")):
                arrows[here].add(there)
                places.setdefault((here, there), (path, line))
    for here, there in sorted(places):
        if here in _reached(arrows, there):
            path, line = places[here, there]
            yield path, line, f"{here} includes {there}, which includes {here}, directly or through others: move what both need below them"


def _reached(arrows, folder):
    found, left = {folder}, [folder]
    while left:
        for target in arrows[left.pop()] - found:
            found.add(target)
            left.append(target)
    return found


RULES = {"unused": (unused_declarations, unused_files), "units": (small_units,), "circles": (circles,)}


def findings(tree):
    """(rule, path, line, message) of all rules."""
    for rule, checks in RULES.items():
        for check in checks:
            for path, line, message in check(tree):
                yield rule, path, line, message
