"""Tests of third_party.py: a planted program, planted packages, and one thing wrong at a time."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import third_party
import third_party_table
from third_party_table import Library, Loaded, Tool

READELF = """
Dynamic section at offset 0x2d90 contains 29 entries:
  Tag        Type                         Name/Value
 0x0000000000000001 (NEEDED)             Shared library: [libz.so.1]
 0x0000000000000001 (NEEDED)             Shared library: [libmpfr.so.6]
 0x000000000000000c (INIT)               0x1000
"""
LDD = """\tlinux-vdso.so.1 (0x00007ffc1a5f0000)
\tlibz.so.1 => /planted/libz.so.1 (0x00007f0000000000)
\tlibmpfr.so.6 => /planted/libmpfr.so.6 (0x00007f0000100000)
\tlibgmp.so.10 => /planted/libgmp.so.10 (0x00007f0000200000)
"""
OWNERS = {
    "/planted/libz.so.1": "zlib1g",
    "/planted/libmpfr.so.6": "libmpfr6",
    "/planted/libgmp.so.10": "libgmp10",
    "/planted/libreadline.so.8": "libreadline8",
}
VERSIONS = {"zlib1g": "1:1.2.13.dfsg-1", "libmpfr6": "4.2.0-1", "cli-dev": "2.1.2+ds-1"}

ZLIB = Library("zlib", ("zlib1g", "zlib1g-dev"), "Zlib", "compressed files")
MPFR = Library("MPFR", ("libmpfr6",), "LGPL-3.0-or-later", "rounding")
CLI = Library("CLI", ("cli-dev",), "BSD-3-Clause", "command lines")
GMP = Loaded("libgmp10", "LGPL-3.0-or-later OR GPL-2.0-or-later")
READLINE = Library("readline", ("libreadline8",), "GPL-3.0-or-later", "editing lines")
TOOL = Tool("Ninja", ("ninja-build",), "Apache-2.0", "build")


def table(linked=(ZLIB, MPFR, CLI), loaded=(GMP,)):
    return SimpleNamespace(LINKED=linked, LOADED=loaded, TOOLS=(TOOL,))


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "repository"
        self.headers = Path(folder.name) / "include"
        self.path = self.root / "THIRD-PARTY.md"
        self.readelf, self.ldd = READELF, LDD
        self.owners, self.versions = dict(OWNERS), dict(VERSIONS)
        (self.root / "server").mkdir(parents=True)
        (self.root / "client").mkdir()
        self.headers.mkdir()
        self.plant_header("cli.h", "cli-dev")
        self.plant_header("zlib.h", "zlib1g-dev")
        self.plant_source("server/main.cc", '#include <cli.h>\n#include <zlib.h>\n#include "curator.pb.h"\n')

    def plant_header(self, name, package):
        (self.headers / name).write_text("")
        self.owners[str(self.headers / name)] = package

    def plant_source(self, name, text):
        (self.root / name).write_text(text)

    def plant_linked(self, soname):
        self.readelf += f" 0x0000000000000001 (NEEDED)             Shared library: [{soname}]\n"
        self.plant_loaded(soname)

    def plant_loaded(self, soname):
        self.ldd += f"\t{soname} => /planted/{soname} (0x00007f0000300000)\n"

    def run_planted(self, *command):
        if command[0] == "readelf":
            return self.readelf
        if command[0] == "ldd":
            return self.ldd
        if command[0] == "dpkg":
            return "".join(f"{self.owners[path]}:amd64: {path}\n" for path in command[2:] if path in self.owners)
        return "".join(f"installed {name} {self.versions[name]}\n" for name in command[3:] if name in self.versions)

    def report(self, planted_table, check=True):
        """Exit status, and what was printed on standard error."""
        facts = third_party.facts_about(["curatord"], self.root, [self.headers], planted_table, self.run_planted)
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            status = third_party.report(facts, planted_table, self.path, check)
        return status, errors.getvalue()

    def write(self, planted_table):
        self.assertEqual(self.report(planted_table, check=False), (0, ""))

    def assert_refused(self, planted_table, *words):
        for check in (True, False):
            status, errors = self.report(planted_table, check)
            self.assertEqual((status, errors.count("\n")), (1, 1), errors)
            for word in words:
                self.assertIn(word, errors)

    def assert_out_of_date(self, planted_table):
        self.assertEqual(
            self.report(planted_table),
            (1, "third-party: THIRD-PARTY.md is out of date: run deploy/third-party and commit what it writes\n"),
        )


class Licences(Planted):
    def test_what_is_written_passes_the_check(self):
        self.write(table())
        self.assertEqual(self.report(table()), (0, ""))

    def test_a_gpl_library_that_is_linked_is_caught(self):
        self.plant_linked("libreadline.so.8")
        self.assert_refused(table(linked=(ZLIB, MPFR, CLI, READLINE)), "readline", "GPL-3.0-or-later is not allowed")

    def test_a_gpl_library_that_another_library_loads_is_caught(self):
        self.plant_loaded("libreadline.so.8")
        loaded = (GMP, Loaded("libreadline8", "GPL-3.0-or-later"))
        self.assert_refused(table(loaded=loaded), "libreadline8", "GPL-3.0-or-later is not allowed")

    def test_gpl_headers_that_are_compiled_in_are_caught(self):
        gpl = Library("CLI", ("cli-dev",), "GPL-2.0-only", "command lines")
        self.assert_refused(table(linked=(ZLIB, MPFR, gpl)), "CLI", "GPL-2.0-only is not allowed")

    def test_lgpl_code_that_is_compiled_in_is_caught(self):
        lgpl = Library("CLI", ("cli-dev",), "LGPL-2.1-or-later", "command lines")
        self.assert_refused(table(linked=(ZLIB, MPFR, lgpl)), "CLI", "needs dynamic linking")

    def test_lgpl_code_that_is_generated_into_a_program_is_caught(self):
        generated = Library("health", ("grpc-proto",), "LGPL-2.1-or-later", "health service", always=True)
        self.assert_refused(table(linked=(ZLIB, MPFR, CLI, generated)), "health", "needs dynamic linking")

    def test_expressions_are_allowed_by_what_they_leave_to_choose(self):
        for licence, expected in (
            ("MIT", True),
            ("LGPL-2.1-or-later", True),
            ("LGPL-3.0-or-later OR GPL-2.0-or-later", True),
            ("(MIT OR GPL-2.0-only) AND Zlib", True),
            ("GPL-3.0-or-later WITH GCC-exception-3.1", True),
            ("GPL-3.0-or-later WITH Bison-exception-2.2", False),
            ("MIT AND GPL-2.0-only", False),
            ("AGPL-3.0-or-later", False),
            ("Unheard-Of", False),
            ("", False),
        ):
            self.assertEqual(third_party.is_allowed(licence, True), expected, licence)
        self.assertFalse(third_party.is_allowed("LGPL-2.1-or-later", False))

    def test_every_licence_of_the_real_table_is_allowed(self):
        entries = [*third_party_table.LINKED, *third_party_table.LOADED]
        refused = [entry for entry in entries if not third_party.is_allowed(entry.licence, True)]
        self.assertEqual(refused, [])

    def test_no_package_of_the_real_table_is_listed_twice(self):
        packages = [name for library in third_party_table.LINKED for name in library.packages]
        packages += [entry.package for entry in third_party_table.LOADED]
        packages += [name for tool in third_party_table.TOOLS for name in tool.packages]
        self.assertEqual(len(packages), len(set(packages)))


class Entries(Planted):
    def test_a_linked_library_without_an_entry_is_caught(self):
        self.plant_linked("libreadline.so.8")
        self.assert_refused(table(), "libreadline8: linked, and no entry of LINKED")

    def test_headers_without_an_entry_are_caught(self):
        self.plant_header("flow.h", "libflow-dev")
        self.plant_source("client/draw.cc", "#include <flow.h>\n")
        self.assert_refused(table(), "libflow-dev: client/draw.cc includes it, and no entry of LINKED")

    def test_headers_that_tests_alone_include_need_no_entry(self):
        self.plant_header("gtest.h", "libgtest-dev")
        self.plant_source("client/draw_test.cc", "#include <gtest.h>\n")
        self.write(table())

    def test_a_package_that_a_library_loads_without_an_entry_is_caught(self):
        self.plant_loaded("libreadline.so.8")
        self.assert_refused(table(), "libreadline8: loaded by a library, and no entry of LOADED")

    def test_a_library_that_is_only_loaded_is_not_listed_as_linked(self):
        gmp = Library("GMP", ("libgmp10",), "LGPL-3.0-or-later", "fractions")
        self.assert_refused(table(linked=(ZLIB, MPFR, CLI, gmp), loaded=()), "GMP: listed in LINKED, but neither")

    def test_an_entry_that_is_no_longer_needed_is_caught(self):
        editline = Library("editline", ("libedit2",), "BSD-3-Clause", "editing lines")
        self.assert_refused(table(linked=(ZLIB, MPFR, CLI, editline)), "editline: listed in LINKED, but neither")
        self.assert_refused(table(loaded=(GMP, Loaded("libffi8", "MIT"))), "libffi8: listed in LOADED, but not loaded")

    def test_a_package_of_an_entry_that_is_no_longer_needed_is_caught(self):
        self.plant_source("server/main.cc", "#include <cli.h>\n")
        self.assert_refused(table(), "zlib: names zlib1g-dev in LINKED, which is neither linked nor included")

    def test_an_entry_of_what_leaves_no_trace_is_kept(self):
        generated = Library("health", ("grpc-proto",), "Apache-2.0", "health service", always=True)
        self.write(table(linked=(ZLIB, MPFR, CLI, generated)))

    def test_a_library_that_is_not_found_is_caught(self):
        self.ldd += "\tliblost.so.1 => not found\n"
        self.assert_refused(table(), "liblost.so.1, which curatord needs: no Debian package")

    def test_a_library_that_no_package_brought_is_caught(self):
        self.plant_linked("libmine.so.1")
        self.assert_refused(table(), "libmine.so.1, which curatord needs: no Debian package")

    def test_a_header_that_is_not_found_is_caught(self):
        self.plant_source("client/draw.cc", "#include <lost.h>\n")
        self.assert_refused(table(), "client/draw.cc includes lost.h: not found")

    def test_a_file_that_is_no_program_is_caught(self):
        self.readelf = self.ldd = ""
        status, errors = self.report(table())
        self.assertEqual(status, 1)
        self.assertIn("curatord: is no program that links shared libraries", errors)


class Pages(Planted):
    """Packages whose code is in the dashboard's built pages."""

    def plant_pages(self, licence="MIT", notice="---- chart 1.2.3\n"):
        lock = {"packages": {"": {"license": "Apache-2.0"},
                             "node_modules/chart": {"version": "1.2.3", "license": licence},
                             "node_modules/builder": {"version": "9.0.0", "license": "GPL-3.0-only", "dev": True}}}
        for name, text in ((third_party.PAGES_LOCK, json.dumps(lock)), (third_party.PAGES_NOTICES, notice)):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def test_they_are_in_the_document_and_what_builds_them_is_not(self):
        self.plant_pages()
        self.write(table())
        self.assertIn("| chart | 1.2.3 | MIT |", self.path.read_text())
        self.assertNotIn("builder", self.path.read_text())

    def test_a_licence_that_is_not_allowed_is_caught(self):
        self.plant_pages(licence="GPL-3.0-only")
        self.assert_refused(table(), "chart", "GPL-3.0-only is not allowed")

    def test_a_licence_that_needs_dynamic_linking_is_caught(self):
        self.plant_pages(licence="LGPL-2.1-or-later")
        self.assert_refused(table(), "chart", "needs dynamic linking")

    def test_a_package_whose_notice_the_pages_lack_is_caught(self):
        self.plant_pages(notice="---- chart 1.2.2\n")
        self.assert_refused(table(), "chart 1.2.3", "does not have its notice")


class Document(Planted):
    def test_a_missing_document_is_out_of_date(self):
        self.assert_out_of_date(table())

    def test_a_changed_document_is_out_of_date(self):
        self.write(table())
        self.path.write_text(self.path.read_text().replace("| Zlib |", "| MIT |"))
        self.assert_out_of_date(table())

    def test_an_entry_that_was_added_since_makes_it_out_of_date(self):
        self.write(table())
        self.plant_linked("libreadline.so.8")
        editline = Library("editline", ("libreadline8",), "BSD-3-Clause", "editing lines")
        self.assert_out_of_date(table(linked=(ZLIB, MPFR, CLI, editline)))

    def test_the_check_writes_nothing(self):
        self.report(table())
        self.assertFalse(self.path.exists())

    def test_a_refused_library_leaves_the_document_as_it_was(self):
        self.write(table())
        before = self.path.read_text()
        self.plant_linked("libreadline.so.8")
        self.report(table(linked=(ZLIB, MPFR, CLI, READLINE)), check=False)
        self.assertEqual(self.path.read_text(), before)

    def test_an_update_of_debian_leaves_it_up_to_date_and_a_new_release_does_not(self):
        self.write(table())
        self.versions["libmpfr6"] = "4.2.9-1+deb12u3"
        self.assertEqual(self.report(table()), (0, ""))
        self.versions["libmpfr6"] = "4.3.0-1"
        self.assert_out_of_date(table())

    def test_it_says_how_each_library_gets_in(self):
        self.write(table())
        text = self.path.read_text()
        self.assertIn("| zlib | `zlib1g`, `zlib1g-dev` | 1.2 | Zlib | shared | compressed files |\n", text)
        self.assertIn("| CLI | `cli-dev` | 2.1 | BSD-3-Clause | compiled in | command lines |\n", text)
        self.assertIn("| `libgmp10` | LGPL-3.0-or-later OR GPL-2.0-or-later | |\n", text)
        self.assertIn("| Ninja | `ninja-build` | Apache-2.0 | build |\n", text)


class Output(unittest.TestCase):
    def test_versions_lose_what_updates_change(self):
        for debian, parts, expected in (
            ("3.0.19-1~deb12u2", 2, "3.0"),
            ("1:1.2.13.dfsg-1", 2, "1.2"),
            ("2:6.2.1+dfsg1-1.1", 2, "6.2"),
            ("15.18-0+deb12u1", 1, "15"),
            ("20220623.1-1+deb12u2", 1, "20220623"),
            ("3.41-2", 2, "3.41"),
            ("2.1+ds-1", 2, "2.1"),
            ("9.1~rc1-1", 2, "9.1"),
        ):
            self.assertEqual(third_party.short_version(debian, parts), expected)

    def test_the_loader_and_missing_libraries_are_read(self):
        text = "\tlibx.so.1 => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f1c00000000)\n"
        self.assertEqual(
            third_party.loaded_paths(text), {"libx.so.1": "", "ld-linux-x86-64.so.2": "/lib64/ld-linux-x86-64.so.2"}
        )

    def test_owners_are_read_without_architectures_and_diversions(self):
        text = "diversion by dash from: /bin/sh\nlibc6:amd64, libc6-dev:amd64: /lib/x.so\nzlib1g:amd64: /lib/z.so\n"
        self.assertEqual(third_party.owners(text), {"/lib/x.so": "libc6", "/lib/z.so": "zlib1g"})


class CommandLine(unittest.TestCase):
    def exit_status(self, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()):
            with self.assertRaises(SystemExit) as end:
                third_party.main(list(arguments))
        return end.exception.code, errors.getvalue()

    def test_help_is_no_error(self):
        self.assertEqual(self.exit_status("--help"), (0, ""))

    def test_wrong_usage_and_a_program_that_was_not_built_say_what_to_do(self):
        self.assertEqual(self.exit_status("--chekc")[0], 2)
        status, errors = self.exit_status("--check", "build/nowhere/curatord")
        self.assertEqual(status, 2)
        self.assertIn("build/nowhere/curatord is not there: build it", errors)


if __name__ == "__main__":
    unittest.main()
