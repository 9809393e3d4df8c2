#!/usr/bin/env python3
"""Checks the style rules that no compiler checks.

  directions   which module may include which (docs/ARCHITECTURE.md)
  table        which code may include the sealed table, directly or through another header: the one door to private records
  libraries    which modules may use protobuf, gRPC, SQL drivers, clocks, threads and logging
  randomness   which code may generate random bits
  principals   which code may make a principal of a stored name instead of an authenticated call
  admission    no floating point in the code that decides whether a charge fits a budget or how much noise covers a query
  threads      no detached thread
  size         limits on the lines of a file and of a function
  words        no notes about unfinished work
  comments     tables, lists and sentences in comments keep their layout, within 110 columns
  pairs        every .cc has a header, or is a program or a test
  unused       headers, and what they declare, are used by the product, not only by tests
  units        no small unit without a test whose only user is in the same folder
  circles      no cycles of includes between folders

Prints each finding as path:line: [rule] message. Exit status: 0 clean, 1 findings, 2 wrong usage.
"""

import argparse
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import tidy_comments
import tidy_cpp
import tidy_tree

MOST_FILE_LINES = 800
MOST_FUNCTION_LINES = 70

SKIPPED_FOLDERS = re.compile(r"^(build.*|node_modules|\.git|\.cache|\.quickstart|__pycache__)$")
CPP_SUFFIXES = (".h", ".cc")
TEXT_SUFFIXES = CPP_SUFFIXES + (".py", ".proto", ".sql", ".cmake", ".md", ".json", ".txt", "")

# What a module may include besides itself: modules ("dp/domain") or single headers ("dp/noise/bit_source.h").
_DP = ["dp/domain", "dp/accounting", "dp/noise", "dp/data", "dp/queries", "dp/sensitivity", "dp/workload", "dp/kernel",
       "dp/synthesis"]
_QUERIES = ["base", "dp/domain", "dp/accounting", "dp/noise", "dp/queries", "dp/sensitivity"]
MAY_INCLUDE = {
    "base": [],
    "host": ["base", "dp/noise/bit_source.h"],
    "dp/domain": ["base"],
    "dp/accounting": ["base", "dp/domain"],
    "dp/noise": ["base", "dp/domain", "dp/accounting/units.h"],
    "dp/data": ["base", "dp/domain"],
    "dp/queries": ["base", "dp/domain"],
    "dp/sensitivity": ["base", "dp/domain", "dp/accounting", "dp/noise/noise_spec.h", "dp/queries"],
    "dp/workload": _QUERIES,
    "dp/kernel": [*_QUERIES, "dp/data"],
    # Synthesizers see private queries and what is known of them from public facts, never the door itself.
    "dp/synthesis": ["base", "dp/domain", "dp/accounting", "dp/noise/bit_source.h", "dp/noise/noise_spec.h", "dp/queries",
                     "dp/sensitivity", "dp/kernel/private_queries.h", "dp/kernel/selection_score.h", "dp/kernel/utility", "dp/data"],
    "codec": ["base", *_DP],
    "records": ["base", "dp/domain", "dp/data"],
    "ledger": ["base"],
    "auth": ["base"],
    "config": ["base", "auth"],
    "directory": ["base", "ledger"],
    "audit": ["base", "ledger"],
    "service": ["base", "host", "codec", "records", "ledger", "auth", "directory", *_DP],
    "rpc": ["base", "auth", "audit", "config", "directory", "service", "codec", "records", "ledger", *_DP],
    "http": ["base", "rpc"],
    "metrics": ["base", "ledger", "audit/audit_record.h", "rpc/call_measures.h", "rpc/call_observer.h"],
    "app": ["base", "host", "auth", "audit", "config", "directory", "codec", "records", "ledger", "service", "rpc", "metrics", "http",
            *_DP],
    "main": ["base", "host", "app"],
    "client": ["base/status_macros.h", "base/text.h"],
}

# Single files that may include more than their module.
FILES_MAY_INCLUDE = [
    # Tests of synthesizers make the kernels whose queries they pass on.
    (re.compile(r"^server/dp/synthesis/(.*/)?(\w+_test\.cc|testing/\w+\.(h|cc))$"), ["dp/kernel"]),
    # The command line makes bins and their labels from a schema as the server does (docs/adr/0006).
    (re.compile(r"^client/cli/"), ["dp/domain", "rpc/convert_attribute.h"]),
    # It divides a file into fields as an import does, to make a template of a schema.
    (re.compile(r"^client/cli/schema/"), ["records/byte_stream.h", "records/csv_reader.h"]),
    # `curator calc` runs the calculators of dp/accounting without a server, on events in their wire form (docs/adr/0006).
    # Sources of imports have URLs as the ledger has.
    (re.compile(r"^client/cli/sources/"), ["base/postgres_url.h"]),
    # The program that fetches issuers' keys writes what the server's reader accepts.
    (re.compile(r"^client/jwks/"), ["auth"]),
    # The gate's configuration is read as strictly as the server's.
    (re.compile(r"^client/gate/settings\.cc$"), ["auth/strict_json.h"]),
    (re.compile(r"^client/cli/(commands/calc|syntax/calc_\w+)\.(h|cc)$"), ["dp/accounting", "rpc/convert_event.h"]),
]

TEST_FILE = re.compile(r"_test\.cc$|^(tests|bench)/|/(testing|conformance)/|/testing\w*\.(h|cc)$")
TABLE_HEADER = "dp/data/sealed_table.h"
TABLE_READERS = ("dp/kernel", "dp/data", "records")
# The owner's exact view of the records: opened in one place, used in one.
OWNER_VIEW = {"dp/kernel/owner/owner_view.h", "service/owner/owner_actions.h"}
OWNER_VIEW_USERS = re.compile(r"^server/(dp/kernel/owner/owner_view|service/owner/owner_\w+)\.(h|cc)$")


@dataclass(frozen=True)
class Library:
    """Headers of a third-party library, and the modules that may use it."""

    name: str
    headers: re.Pattern
    modules: tuple  # modules, or folders below them


LIBRARIES = [
    Library("protobuf", re.compile(r"^google/(protobuf|rpc)/|\.pb\.h$"), ("rpc", "http", "app", "main", "client")),
    Library("gRPC", re.compile(r"^(grpc|grpcpp|grpc\+\+)/"), ("rpc", "http", "app", "main", "client")),
    Library("PostgreSQL", re.compile(r"^pqxx(/|$)"), ("ledger/postgres", "client/cli/sources")),
    Library("libpq", re.compile(r"^libpq|^postgres_ext"), ()),  # the ledger speaks libpqxx (docs/adr/0052)
    Library("SQLite", re.compile(r"^sqlite3"), ("ledger/sqlite",)),
    Library("prometheus-cpp", re.compile(r"^prometheus/"), ("metrics",)),
    Library("libpg_query", re.compile(r"^pg_query"), ("client/sql",)),
    Library("libcurl", re.compile(r"^curl/"), ("client/https",)),
    Library("Boost", re.compile(r"^boost/"), ("client/gate",)),
]
# dp is pure: what it computes depends on its arguments alone.
IMPURE = re.compile(r"^(chrono|ctime|time\.h|sys/time\.h|thread|future|iostream|absl/time/clock\.h|spdlog/.*)$")

_GENERATORS = r"std::(mt19937(_64)?|minstd_rand0?|random_device|default_random_engine|\w+_distribution|shuffle)\b"
_CALLS = r"(s?rand|d?rand48|random|getentropy|arc4random\w*|RAND_(priv_)?bytes{})\s*\("
RANDOMNESS = re.compile(_GENERATORS + r"|\b" + _CALLS.format("|getrandom"))
# The client makes request ids: they must be unique, and they come from the system.
CLIENT_RANDOMNESS = re.compile(_GENERATORS + r"|\b" + _CALLS.format(""))
RANDOM_DEVICE = re.compile(r"/dev/u?random\b")
RANDOM_MODULES = ("dp/noise", "host")

STORED_PRINCIPAL = re.compile(r"\bOfStoredRow\s*\(")
STORED_PRINCIPAL_USERS = re.compile(r"^server/(base/principal\.h|ledger/.*|service/release_once\.(h|cc))$")
ADMISSION = re.compile(r"^server/(dp/accounting/(units|rule|event)\w*|dp/sensitivity/.*|ledger/.*|service/release_once\w*)\.(h|cc)$")
FLOATING_POINT = re.compile(r"\b(double|float)\b")
FORBIDDEN_WORDS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
DETACH = re.compile(r"(\.|->)\s*detach\s*\(")
PROGRAM = re.compile(r"^(int|auto) main\(", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.message}"


def is_test(path):
    """Whether a file is not part of the product: tests, fixtures, conformance suites, benchmarks."""
    return bool(TEST_FILE.search(path))


def place_of(path):
    """The folder of a file, below server/: "dp/noise", "ledger/sqlite", "app", "client/cli"; "" outside of the modules."""
    parts = path.split("/")
    if parts[0] == "client":
        return "/".join(parts[:-1])
    if parts[0] != "server":
        return ""
    if len(parts) == 2:
        return "app" if parts[1].startswith("app") else "main"
    return "/".join(parts[1:-1])


def within(place, modules):
    return any(place == module or place.startswith(module + "/") for module in modules)


def module_of(place):
    """The module that a folder belongs to: the innermost one; "" if none."""
    return max((module for module in MAY_INCLUDE if within(place, [module])), key=len, default="")


def included_place(include, including_place):
    """The folder that an include names; "" for third-party headers."""
    if include.system or include.path.endswith(".pb.h"):
        return ""
    folder, _, name = include.path.rpartition("/")
    if not folder:
        return "app" if name == "app.h" else including_place
    return folder if module_of(folder) else ""


def check_direction(path, include):
    place = place_of(path)
    module, target = module_of(place), included_place(include, place)
    if module and is_test(include.path):
        return None if is_test(path) else f"{module} must not include {include.path}: only tests may"
    if not module or not target:
        return None
    allowed = MAY_INCLUDE[module] + [more for files, modules in FILES_MAY_INCLUDE if files.search(path) for more in modules]
    if within(target, [module]) and module_of(target) == module or within(target, allowed) or include.path in allowed:
        return None
    return f"{module} must not include {include.path}: it may include {', '.join(allowed) or 'no other module'}"


def table_headers(root):
    """The headers that give access to the sealed table: its own, and those of TABLE_READERS that include one of them."""
    included_by = {}
    for module in TABLE_READERS:
        for path in sorted((root / "server" / module).rglob("*.h")):
            name = path.relative_to(root / "server").as_posix()
            for include in tidy_cpp.includes(path.read_text(encoding="utf-8", errors="replace")):
                included_by.setdefault(include.path, []).append(name)
    found, left = {TABLE_HEADER}, [TABLE_HEADER]
    while left:
        for name in included_by.get(left.pop(), []):
            if name not in found:
                found.add(name)
                left.append(name)
    return found


def table_findings(path, text, closed_headers):
    if is_test(path):
        return
    for include in tidy_cpp.includes(text):
        if include.path in OWNER_VIEW and not OWNER_VIEW_USERS.search(path):
            message = f"{path} must not include {include.path}: only service/owner may use the owner's exact view"
            yield Finding(path, include.line, "table", message)
    if within(place_of(path), TABLE_READERS):
        return
    for include in tidy_cpp.includes(text):
        if include.path in closed_headers:
            message = f"{path} must not include {include.path}: only {', '.join(TABLE_READERS)} read private records"
            yield Finding(path, include.line, "table", message)


def check_libraries(path, include):
    place = place_of(path)
    if not place or is_test(path):
        return None
    if place.startswith("dp/") and IMPURE.match(include.path):
        return f"dp is pure and must not include {include.path}"
    for library in LIBRARIES:
        if library.headers.search(include.path) and not within(place, library.modules):
            return f"{library.name} ({include.path}) may be used only in {', '.join(library.modules)}"
    return None


INCLUDE_CHECKS = {"directions": check_direction, "libraries": check_libraries}


def include_findings(path, text):
    for include in tidy_cpp.includes(text):
        for rule, check in INCLUDE_CHECKS.items():
            message = check(path, include)
            if message:
                yield Finding(path, include.line, rule, message)


def pattern_findings(path, text, pattern, rule, message):
    for match in pattern.finditer(text):
        yield Finding(path, text.count("\n", 0, match.start()) + 1, rule, message.format(match.group(0).strip()))


def allows_randomness(path):
    place = place_of(path)
    return not place or is_test(path) or within(place, RANDOM_MODULES)


def random_calls(path):
    return CLIENT_RANDOMNESS if within(place_of(path), ["client"]) else RANDOMNESS


def code_findings(path, text):
    code = tidy_cpp.code_only(text)
    if not allows_randomness(path):
        # The kernel's random device is named in a string, which code_only() blanks.
        for pattern, where in ((random_calls(path), code), (RANDOM_DEVICE, text)):
            yield from pattern_findings(path, where, pattern, "randomness", "{}: only dp/noise generates random bits")
    if not is_test(path) and not STORED_PRINCIPAL_USERS.match(path):
        yield from pattern_findings(path, code, STORED_PRINCIPAL, "principals", "{}: only the ledger's work on stored rows makes a principal without authentication")
    if ADMISSION.match(path) and not is_test(path):
        yield from pattern_findings(path, code, FLOATING_POINT, "admission", "{} in a file that decides whether a charge fits a budget or how much noise covers a query")
    yield from pattern_findings(path, code, DETACH, "threads", "a detached thread may outlive the objects that it uses")


def size_findings(path, text):
    lines = text.count("\n")
    if lines > MOST_FILE_LINES:
        yield Finding(path, lines, "size", f"{lines} lines; at most {MOST_FILE_LINES}")
    for function in tidy_cpp.functions(text):
        if function.lines > MOST_FUNCTION_LINES:
            message = f"a function of {function.lines} lines; at most {MOST_FUNCTION_LINES}: {function.head[:60]}"
            yield Finding(path, function.line, "size", message)


def comment_findings(path, text):
    for line, message in tidy_comments.findings(text):
        yield Finding(path, line, "comments", message)


def pair_findings(path, text, root):
    if is_test(path) or PROGRAM.search(text) or (root / path).with_suffix(".h").exists():
        return
    # One of a family of files that implement one shared header, such as the rules of accounting.
    place = place_of(path)
    if place and any(included_place(include, place) == place for include in tidy_cpp.includes(text)):
        return
    yield Finding(path, 1, "pairs", "a .cc without a header: it has no header of its own, includes none of its folder, and is neither a program nor a test")


def findings_of(root, path, closed_headers):
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    if not path.startswith(".ci/tidy"):
        yield from pattern_findings(path, text, FORBIDDEN_WORDS, "words", "{}: finish the work, or record the decision in docs/adr")
    if path.endswith(CPP_SUFFIXES):
        yield from include_findings(path, text)
        yield from table_findings(path, text, closed_headers)
        yield from code_findings(path, text)
        yield from size_findings(path, text)
        yield from comment_findings(path, text)
    if path.endswith(".cc"):
        yield from pair_findings(path, text, root)


def text_files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not SKIPPED_FOLDERS.match(name))
        for name in sorted(names):
            if Path(name).suffix in TEXT_SUFFIXES and name != ".git":
                yield str((Path(folder) / name).relative_to(root))


def check_files(root):
    """The findings that each file alone shows."""
    closed_headers = table_headers(root)
    return sorted(finding for path in text_files(root) for finding in findings_of(root, path, closed_headers))


def check_whole(root):
    """The findings that need all files together."""
    paths = [path for path in text_files(root) if path.endswith(CPP_SUFFIXES)]
    texts = {path: (root / path).read_text(encoding="utf-8", errors="replace") for path in paths}
    tests = {path for path in paths if is_test(path) or not path.startswith(("server/", "client/"))}
    return sorted(Finding(path, line, rule, message)
                  for rule, path, line, message in tidy_tree.findings(tidy_tree.Tree(texts, tests)))


def check_tree(root):
    return check_files(root) + check_whole(root)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parent.parent, help="the repository")
    root = Path(parser.parse_args(arguments).root)
    if not root.is_dir():
        parser.error(f"{root} is not a folder")
    findings = check_tree(root)
    for finding in findings:
        print(finding)
    files = sum(1 for _ in text_files(root))
    print(f"tidy: {files} files, {len(findings)} findings", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
