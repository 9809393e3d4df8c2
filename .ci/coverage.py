#!/usr/bin/env python3
"""Which lines and branches of the product the tests run, by module.

  tests/coverage                              builds the preset `coverage`, runs every test, prints the table
  tests/coverage --report                     prints the table of the last run, without building or running
  tests/coverage --report --uncovered MODULE    lists file:line ranges that no test ran, e.g. of dp/kernel or client/cli
  tests/coverage -- -R Ledger                 what follows "--" goes to ctest: the table of some tests

Tests and what only tests use are not counted. A process that is killed writes nothing, so what only such a process ran
counts as not run. A line with the comment "not covered: REASON" is left out of the figures, as is a line of which only
what cleans up after an exception is compiled, mostly a closing brace; the body of a `catch` counts. Needs gcov of the compiler.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MODULES = ["base", "host", "dp/domain", "dp/accounting", "dp/noise", "dp/data", "dp/queries", "dp/sensitivity",
           "dp/workload", "dp/kernel", "dp/synthesis", "codec", "records", "ledger", "service", "rpc", "app", "client", "client/cli"]
OF_TESTS = re.compile(r"(_test\.(cc|h)$|/testing/|/conformance/|/testing\w*\.h$)")
EXCUSE = re.compile(r"//.*\bnot covered: \S")
CATCH = re.compile(r"\bcatch\s*\([^)]*\)\s*\{")


def module_of(path):
    """The module of a source file; none for files of tests and whatever is not in server/ or client/."""
    if OF_TESTS.search(path):
        return None
    if path.startswith("client/"):
        return "client/cli" if path.startswith("client/cli/") else "client"
    if not path.startswith("server/"):
        return None
    below = path.removeprefix("server/")
    return next((module for module in MODULES if below.startswith(f"{module}/")), "app")


def lines_of_body(text, start):
    """The numbers of the lines from `start`, behind an opening brace, to the one that closes it."""
    depth, end = 1, start
    while depth > 0 and end < len(text):
        depth += (text[end] == "{") - (text[end] == "}")
        end += 1
    first = text.count("\n", 0, start) + 1
    return range(first, first + text.count("\n", start, end) + 1)


class Coverage:
    """Lines and branches of files, summed over all objects that were compiled from them."""

    def __init__(self, root):
        self._root = Path(root)
        self._files = {}  # path: {line: [count, branches]}
        self._excused = {}  # path: lines
        self._catches = {}  # path: lines

    def add(self, document):
        """What gcov says of one object file. Ways of exceptions are neither lines nor branches: there are none of ours."""
        for file in document["files"]:
            path = os.path.normpath(os.path.join(document["current_working_directory"], file["file"]))
            path = os.path.relpath(path, self._root)
            if module_of(path) is None:
                continue
            lines = self._files.setdefault(path, {})
            for line in file["lines"]:
                if line["count"] == 0 and not line["unexecuted_block"] and line["line_number"] not in self._caught(path):
                    continue  # gcov leaves the ways of exceptions out of its unexecuted blocks
                known = lines.setdefault(line["line_number"], [0, []])
                known[0] += line["count"]
                ways = [branch["count"] for branch in line["branches"] if not branch["throw"]]
                if len(ways) > len(known[1]):
                    known[1] += [0] * (len(ways) - len(known[1]))
                for way, count in enumerate(ways):
                    known[1][way] += count

    def _excuses(self, path):
        if path not in self._excused:
            text = (self._root / path).read_text().splitlines()
            self._excused[path] = {number for number, line in enumerate(text, 1) if EXCUSE.search(line)}
        return self._excused[path]

    def _caught(self, path):
        """The lines of the bodies that catch an exception: those are code of ours."""
        if path not in self._catches:
            text = (self._root / path).read_text()
            self._catches[path] = {number for match in CATCH.finditer(text) for number in lines_of_body(text, match.end())}
        return self._catches[path]

    def lines(self, module):
        """(path, line, count, branches) of a module, without the excused ones."""
        for path in sorted(self._files):
            if module_of(path) == module:
                for number, (count, branches) in sorted(self._files[path].items()):
                    if number not in self._excuses(path):
                        yield path, number, count, branches

    def table(self):
        """The modules with their figures, aligned."""
        rows = [("module", "lines", "run", "", "branches", "taken", "")]
        totals = [0, 0, 0, 0]
        for module in MODULES:
            figures = [0, 0, 0, 0]
            for _, _, count, branches in self.lines(module):
                taken = sum(1 for way in branches if way > 0)
                for position, number in enumerate((1, count > 0, len(branches), taken)):
                    figures[position] += number
            totals = [total + figure for total, figure in zip(totals, figures)]
            rows.append(self._row(module, figures))
        rows.append(self._row("all", totals))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return "\n".join("  ".join(f"{cell:{width}}" if column == 0 else f"{cell:>{width}}"
                                   for column, (cell, width) in enumerate(zip(row, widths))) for row in rows)

    @staticmethod
    def _row(name, figures):
        lines, run, branches, taken = figures

        def share(part, whole):
            return f"{100 * part / whole:.1f}%" if whole else "-"

        return (name, f"{lines:,}", f"{run:,}", share(run, lines), f"{branches:,}", f"{taken:,}", share(taken, branches))

    def uncovered(self, module):
        """Ranges of lines that no test ran. Lines between them that are no code do not end a range."""
        ranges = []
        last_path, is_open = None, False
        for path, number, count, _ in self.lines(module):
            if path != last_path or count > 0:
                is_open = False
            last_path = path
            if count > 0:
                continue
            if is_open:
                ranges[-1][2] = number
            else:
                ranges.append([path, number, number])
                is_open = True
        return [f"{path}:{first}" + (f"-{last}" if last > first else "") for path, first, last in ranges]


def gcov(build, root, notes):
    """What gcov says of one object file: of the sources below `root` alone."""
    output = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", "--relative-only",
                             "--source-prefix", str(root), str(notes)],
                            cwd=build, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines() if line.strip()]


def measure(root, build):
    """Reads all object files. A quick merge: threads wait for gcov, which does the work."""
    objects = sorted(notes for notes in build.rglob("*.gcno") if notes.with_suffix(".o").exists())  # others are left over
    coverage = Coverage(root)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for documents in pool.map(lambda notes: gcov(build, root, notes), objects):
            for document in documents:
                coverage.add(document)
    return coverage


def build_all(root):
    """False, after one line that names the command, when something does not build."""
    for command in (["deploy/install-packages", "test"], ["cmake", "--preset", "coverage", "--log-level=WARNING"],
                    ["cmake", "--build", "--preset", "coverage"], ["ninja", "-C", "build/coverage", "-t", "cleandead"]):
        if subprocess.run(command, cwd=root).returncode != 0:
            print(f"FAILED: {' '.join(command)}", file=sys.stderr)
            return False
    return True


def run_tests(root, build, ctest_arguments):
    """False when a test failed; the figures are printed all the same."""
    for counts in build.rglob("*.gcda"):
        counts.unlink()
    return subprocess.run(["ctest", "--preset", "coverage", f"-j{os.cpu_count()}", *ctest_arguments], cwd=root).returncode == 0


def main(arguments):
    parser = argparse.ArgumentParser(prog="tests/coverage", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="of the last run")
    parser.add_argument("--uncovered", metavar="MODULE", choices=MODULES, help=f"one of {', '.join(MODULES)}")
    parser.add_argument("ctest", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    root = Path(__file__).resolve().parent.parent
    os.environ.setdefault("CURATOR_SHARED", str((root / "../shared").resolve()))
    build = root / "build" / "coverage"
    if options.report and not any(build.rglob("*.gcda")):
        parser.error("nothing has run yet: call it without --report first")
    if not options.report and not build_all(root):
        return 1
    passed = options.report or run_tests(root, build, options.ctest)
    coverage = measure(root, build)
    print("\n".join(coverage.uncovered(options.uncovered)) if options.uncovered else coverage.table())
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
