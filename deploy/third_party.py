#!/usr/bin/env python3
"""Writes THIRD-PARTY.md: the libraries that the programs link or compile in, their Debian packages and their licences.

    deploy/third-party                         write THIRD-PARTY.md for the programs in build/release
    deploy/third-party --check                 change nothing; fail when THIRD-PARTY.md is out of date
    deploy/third-party [--check] PROGRAM ...   for the programs of another build

Both fail when a package that is linked, compiled in or loaded has no entry in third_party_table.py, when an entry is no
longer needed, and when a licence is not allowed: permissive licences and the MPL are, the LGPL where the library is linked
dynamically, GPL and AGPL never. Exit status: 0 done, 1 findings, 2 wrong usage.
"""

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import third_party_table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / ".ci"))
import tidy  # noqa: E402  (what is product code, and what it includes, is decided there)
import tidy_cpp  # noqa: E402

PROGRAMS = ("build/release/server/curatord", "build/release/server/curator-sql", "build/release/client/curator",
            "build/release/client/curator-jwks", "build/release/client/curator-gate")
DOCUMENT = "THIRD-PARTY.md"
# What the dashboard's pages are built from, and the notices that the built pages carry.
PAGES_LOCK = "client/gate/web/package-lock.json"
PAGES_NOTICES = "client/gate/web/dist/LICENSES.txt"
TABLE = "deploy/third_party_table.py"
# Folders of /usr/include that a compiler is given by name.
FOLDERS_OF_HEADERS = ("eigen3", "postgresql")

ACCEPTED = {
    "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-Attribution-HPND-disclaimer", "BSL-1.0", "blessing", "curl",
    "ISC", "LicenseRef-MIT-SIPB", "MIT", "MPL-2.0", "OLDAP-2.8", "PostgreSQL", "Zlib",
    "GPL-2.0-only WITH Linux-syscall-note", "GPL-3.0-or-later WITH GCC-exception-3.1",
}  # fmt: skip
IF_LINKED_DYNAMICALLY = {"LGPL-2.0-or-later", "LGPL-2.1-or-later", "LGPL-3.0-or-later"}


# ---- Reading what the system's tools print ------------------------------------------------------------------------------


def needed_sonames(readelf_text):
    """The libraries that a program asks for by name, from `readelf -d`."""
    return re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", readelf_text)


def loaded_paths(ldd_text):
    """Soname to path of everything that a program loads, from `ldd`; the path is "" where none was found."""
    paths = {}
    for line in ldd_text.splitlines():
        named = re.match(r"\s*(\S+) => (?:(/\S+)|not found)", line)
        loader = re.match(r"\s*(/\S+) \(0x", line)
        if named:
            paths[named.group(1)] = named.group(2) or ""
        elif loader:
            paths[Path(loader.group(1)).name] = loader.group(1)
    return paths


def owners(dpkg_text):
    """Path to package, from `dpkg -S`."""
    found = {}
    for line in dpkg_text.splitlines():
        packages, separator, path = line.partition(": ")
        if separator and not packages.startswith("diversion by"):
            found[path] = packages.split(",")[0].split(":")[0]
    return found


def short_version(debian_version, parts):
    """The first parts of an upstream version: 3.0 of 3.0.19-1~deb12u2. Updates of Debian 12 change the rest."""
    upstream = debian_version.partition(":")[2] or debian_version
    upstream = re.split(r"[-+~]|\.dfsg", upstream)[0]
    return ".".join(upstream.split(".")[:parts])


def run(*command):
    """Standard output of a command. Its exit status is no news: dpkg -S reports each unknown path by one."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


# ---- Facts --------------------------------------------------------------------------------------------------------------


@dataclass
class Facts:
    linked: set = field(default_factory=set)  # packages that the programs ask for by name
    loaded: set = field(default_factory=set)  # packages of everything that they load, the linked ones among them
    included: dict = field(default_factory=dict)  # package of headers to one file of ours that includes one
    versions: dict = field(default_factory=dict)  # package to Debian version, of those that are installed
    bundled: list = field(default_factory=list)  # name, version and licence of each package in the dashboard's pages
    problems: list = field(default_factory=list)  # what could not be found out


def system_include_folders():
    usr = Path("/usr/include")
    folders = [usr, *usr.glob("*-linux-gnu*"), *usr.glob("c++/*"), *Path("/usr/lib/gcc").glob("*/*/include")]
    return folders + [usr / name for name in FOLDERS_OF_HEADERS]


def package_of_paths(paths, run_command):
    """Path to package. A package of Debian 12 may name its files in /lib or in /usr/lib, which are one folder."""
    spellings = {}
    for path in paths:
        for spelling in (path, str(Path(path).resolve())):
            spellings[spelling] = path
            if spelling.startswith(("/lib", "/usr/lib")):
                spellings[spelling.removeprefix("/usr") if spelling.startswith("/usr") else "/usr" + spelling] = path
    found = owners(run_command("dpkg", "-S", *sorted(spellings))) if spellings else {}
    return {spellings[spelling]: package for spelling, package in found.items() if spelling in spellings}


def add_program(facts, program, run_command):
    paths = loaded_paths(run_command("ldd", str(program)))
    packages = package_of_paths([path for path in paths.values() if path], run_command)
    needed = needed_sonames(run_command("readelf", "-d", str(program)))
    if not needed:
        facts.problems.append(f"{program}: is no program that links shared libraries")
    for soname in sorted(set(needed) | set(paths)):
        package = packages.get(paths.get(soname, ""))
        if not package:
            facts.problems.append(f"{soname}, which {program} needs: no Debian package has this file")
            continue
        facts.loaded.add(package)
        if soname in needed:
            facts.linked.add(package)


def headers_of_others(root):
    """Header to the first product file that includes it, of headers that are not in the repository or generated."""
    found = {}
    for path in sorted([*(root / "server").rglob("*"), *(root / "client").rglob("*")]):
        name = path.relative_to(root).as_posix()
        if path.suffix not in tidy.CPP_SUFFIXES or tidy.is_test(name):
            continue
        for include in tidy_cpp.includes(path.read_text(encoding="utf-8")):
            ours = (root / include.path, root / "server" / include.path, path.parent / include.path)
            if not include.path.endswith(".pb.h") and not any(place.exists() for place in ours):
                found.setdefault(include.path, name)
    return found


def add_headers(facts, root, folders, run_command):
    headers = headers_of_others(root)
    places = {}
    for header, name in headers.items():
        place = next((folder / header for folder in folders if (folder / header).exists()), None)
        if place:
            places[str(place)] = name
        else:
            where = "/usr/include (FOLDERS_OF_HEADERS in deploy/third_party.py)"
            facts.problems.append(f"{name} includes {header}: not found in {where}")
    packages = package_of_paths(places, run_command)
    for place, name in places.items():
        if place in packages:
            facts.included.setdefault(packages[place], name)
        else:
            facts.problems.append(f"{place}, which {name} includes: no Debian package has this file")


def installed_versions(packages, run_command):
    text = run_command("dpkg-query", "-W", "-f=${db:Status-Status} ${Package} ${Version}\n", *sorted(packages))
    lines = (line.split() for line in text.splitlines())
    return {line[1]: line[2] for line in lines if len(line) == 3 and line[0] == "installed"}


def add_pages(facts, root):
    lock = root / PAGES_LOCK
    if not lock.exists():
        return
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    notices = (root / PAGES_NOTICES).read_text(encoding="utf-8")
    for path, package in sorted(packages.items()):
        if not path or package.get("dev"):
            continue
        name = path.removeprefix("node_modules/")
        facts.bundled.append((name, package["version"], package.get("license", "none")))
        if f"---- {name} {package['version']}\n" not in notices:
            facts.problems.append(f"{name} {package['version']}: {PAGES_NOTICES} does not have its notice")


def facts_about(programs, root, folders, table, run_command):
    facts = Facts()
    for program in programs:
        add_program(facts, program, run_command)
    add_headers(facts, root, folders, run_command)
    add_pages(facts, root)
    facts.versions = installed_versions({name for library in table.LINKED for name in library.packages}, run_command)
    return facts


# ---- Findings -----------------------------------------------------------------------------------------------------------


def is_allowed(licence, dynamically):
    """Whether an SPDX expression leaves a licence that we take: one of each `OR`, all of `AND`. No nesting."""
    allowed = ACCEPTED | (IF_LINKED_DYNAMICALLY if dynamically else set())
    terms = (term.strip("() ") for term in licence.split(" AND "))
    return all(any(choice in allowed for choice in term.split(" OR ")) for term in terms)


def licence_finding(name, licence, dynamically):
    if is_allowed(licence, dynamically):
        return []
    if is_allowed(licence, True):
        return [f"{name}: its licence {licence} needs dynamic linking, and it is compiled in"]
    return [f"{name}: its licence {licence} is not allowed (permissive ones, MPL, LGPL if linked dynamically; no GPL, no AGPL)"]


def missing_entries(facts, table):
    linked = {package for library in table.LINKED for package in library.packages}
    loaded = {entry.package for entry in table.LOADED} | linked
    for package in sorted(facts.linked - linked):
        yield f"{package}: linked, and no entry of LINKED in {TABLE} names it"
    for package in sorted(set(facts.included) - linked - facts.linked):
        yield f"{package}: {facts.included[package]} includes it, and no entry of LINKED in {TABLE} names it"
    for package in sorted(facts.loaded - facts.linked - loaded):
        yield f"{package}: loaded by a library, and no entry of LOADED in {TABLE} names it"


def stale_entries(facts, table):
    here = facts.linked.union(facts.included)
    for library in table.LINKED:
        if library.always:
            continue
        if here.isdisjoint(library.packages):
            yield f"{library.name}: listed in LINKED, but neither linked nor included"
            continue
        for package in sorted(set(library.packages) - here - facts.loaded):
            yield f"{library.name}: names {package} in LINKED, which is neither linked nor included"
    for entry in table.LOADED:
        if entry.package not in facts.loaded or entry.package in facts.linked:
            yield f"{entry.package}: listed in LOADED, but not loaded by a library"


def is_compiled_in(library, facts):
    traces = not set(facts.included).isdisjoint(library.packages) or library.always
    return traces and facts.linked.isdisjoint(library.packages)


def licence_findings(facts, table):
    for library in table.LINKED:
        yield from licence_finding(library.name, library.licence, not is_compiled_in(library, facts))
    for entry in table.LOADED:
        yield from licence_finding(entry.package, entry.licence, True)
    for name, _, licence in facts.bundled:
        yield from licence_finding(name, licence, False)


def findings_of(facts, table):
    return [*facts.problems, *missing_entries(facts, table), *stale_entries(facts, table), *licence_findings(facts, table)]


# ---- The document -------------------------------------------------------------------------------------------------------


def table_lines(titles, rows):
    yield "| " + " | ".join(titles) + " |"
    yield "| " + " | ".join("---" for _ in titles) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def code(words):
    return ", ".join(f"`{word}`" for word in words)


def linked_rows(facts, table):
    for library in sorted(table.LINKED, key=lambda library: library.name.lower()):
        installed = next((facts.versions[name] for name in library.packages if name in facts.versions), "")
        version = short_version(installed, library.version_parts)
        how = "compiled in" if is_compiled_in(library, facts) else "shared"
        yield library.name, code(library.packages), version, library.licence, how, library.use


INTRODUCTION = """# Third-party software

Curator is under the Apache License 2.0 ([LICENSE](LICENSE)). It is built from packages of Debian 12. The dashboard's built pages have
code of other people's packages in them; nothing else here has. `deploy/third-party` writes this page, and `deploy/third-party --check` compares it with the built programs.
Licences are SPDX expressions of what is linked, as read in each package's `/usr/share/doc/PACKAGE/copyright`; a remark says
where the sources say more.

Permissive licences and the MPL are accepted, and the LGPL where a library is linked dynamically. GPL and AGPL are not.
"""


def document(facts, table):
    loaded = ((f"`{entry.package}`", entry.licence, entry.remark) for entry in table.LOADED)
    tools = ((tool.name, code(tool.packages), tool.licence, tool.use) for tool in table.TOOLS)
    pages = [
        "",
        "## Part of the dashboard's pages",
        "",
        f"The built pages have their notices in `{PAGES_NOTICES}`.",
        "",
        *table_lines(("package", "version", "licence"), facts.bundled),
    ]
    lines = [
        INTRODUCTION,
        "## Linked or compiled in by the programs",
        "",
        *table_lines(("library", "packages", "version", "licence", "how", "used for"), linked_rows(facts, table)),
        "",
        "## Loaded by these libraries",
        "",
        *table_lines(("package", "licence", "remark"), loaded),
        *(pages if facts.bundled else []),
        "",
        "## Needed to build and to test only",
        "",
        "No program of Curator links these.",
        "",
        *table_lines(("tool", "packages", "licence", "used for"), tools),
    ]
    return "\n".join(line.replace("|  |", "| |") for line in lines) + "\n"


def report(facts, table, path, check):
    """Prints what is wrong, or writes the document; returns the exit status."""
    found = findings_of(facts, table)
    text = document(facts, table)
    if check and not found and (not path.exists() or path.read_text(encoding="utf-8") != text):
        found.append(f"{path.name} is out of date: run deploy/third-party and commit what it writes")
    for finding in found:
        print(f"third-party: {finding}", file=sys.stderr)
    if found:
        return 1
    if not check:
        path.write_text(text, encoding="utf-8")
    print(f"third-party: {len(table.LINKED)} libraries, {len(table.LOADED)} packages that they load: all licences allowed")
    return 0


def main(arguments):
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="deploy/third-party", description=__doc__, formatter_class=raw)
    parser.add_argument("--check", action="store_true", help=f"change nothing; fail when {DOCUMENT} is out of date")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"default: {' '.join(PROGRAMS)}")
    options = parser.parse_args(arguments)
    programs = [Path(name) for name in options.programs] or [ROOT / name for name in PROGRAMS]
    for program in programs:
        if not program.is_file():
            parser.error(f"{program} is not there: build it, or name the programs of another build")
    facts = facts_about(programs, ROOT, system_include_folders(), third_party_table, run)
    return report(facts, third_party_table, ROOT / DOCUMENT, options.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
