"""Figures of coverage: what is summed up, what is left out, and that a line which no test runs is found."""

import contextlib
import io
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import coverage

HAS_COMPILER = unittest.skipUnless(shutil.which("g++") and shutil.which("gcov"), "needs a compiler and its gcov")


def line(number, count, branches=(), only_exceptions=False):
    return {"line_number": number, "count": count, "unexecuted_block": count == 0 and not only_exceptions,
            "branches": [{"count": ways, "throw": throw} for ways, throw in branches]}


class CoverageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def coverage_of(self, objects):
        """`objects`: for each, {path: lines}. The files are made, line by line, unless they are there."""
        result = coverage.Coverage(self.root)
        for files in objects:
            for path in files:
                (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                if not (self.root / path).exists():
                    (self.root / path).write_text("\n" * 20)
            result.add({"current_working_directory": str(self.root),
                        "files": [{"file": path, "lines": lines} for path, lines in files.items()]})
        return result

    def test_knows_the_module_of_a_file(self):
        for path, module in {"server/dp/kernel/kernel.cc": "dp/kernel", "server/records/csv_reader.cc": "records",
                           "server/dp/data/x.h": "dp/data", "server/app.cc": "app", "client/client.cc": "client",
                           "client/cli/main.cc": "client/cli", "server/records/testing/stored_datasets.h": None,
                           "server/dp/kernel/kernel_test.cc": None, "tests/testing/nightly.cc": None,
                           "server/ledger/conformance/invariants.cc": None}.items():
            self.assertEqual(coverage.module_of(path), module, path)

    def test_a_line_that_one_object_runs_is_run(self):
        path = "server/base/a.h"
        result = self.coverage_of([{path: [line(3, 0), line(4, 0)]}, {path: [line(3, 2), line(4, 0)]}])
        self.assertEqual(result.uncovered("base"), ["server/base/a.h:4"])

    def test_ranges_span_lines_without_code_and_end_at_lines_that_run(self):
        lines = [line(2, 0), line(3, 0), line(7, 0), line(8, 1), line(9, 0)]
        result = self.coverage_of([{"server/base/a.cc": lines, "server/base/b.cc": [line(2, 0)]}])
        self.assertEqual(result.uncovered("base"),
                         ["server/base/a.cc:2-7", "server/base/a.cc:9", "server/base/b.cc:2"])

    def test_an_excused_line_is_left_out(self):
        (self.root / "server/base").mkdir(parents=True)
        (self.root / "server/base/a.cc").write_text("one();\ntwo();  // not covered: there is no such enum\n")
        result = self.coverage_of([{"server/base/a.cc": [line(1, 1), line(2, 0)]}])
        self.assertEqual(result.uncovered("base"), [])

    def test_a_line_that_only_exceptions_reach_is_left_out_unless_another_object_has_code_there(self):
        lines = [line(3, 1), line(4, 0, only_exceptions=True), line(5, 0, only_exceptions=True)]
        result = self.coverage_of([{"server/base/a.h": lines}, {"server/base/a.h": [line(5, 0)]}])
        self.assertEqual(result.uncovered("base"), ["server/base/a.h:5"])

    def test_the_body_of_a_catch_counts_although_only_exceptions_reach_it(self):
        (self.root / "server/base").mkdir(parents=True)
        (self.root / "server/base/a.cc").write_text(
            "try {\n  f();\n} catch (const std::exception& error) {\n  if (x) {\n    g();\n  }\n}\n}\n")
        lines = [line(number, 0, only_exceptions=True) for number in (5, 8)]
        result = self.coverage_of([{"server/base/a.cc": [line(2, 1), *lines]}])
        self.assertEqual(result.uncovered("base"), ["server/base/a.cc:5"])

    def test_the_table_counts_lines_and_branches_but_no_ways_of_exceptions(self):
        lines = [line(1, 1, [(1, False), (0, False), (0, True)]), line(2, 0)]
        table = self.coverage_of([{"server/codec/a.cc": lines}]).table().splitlines()
        codec = next(row for row in table if row.startswith("codec"))
        self.assertEqual(codec.split(), ["codec", "2", "1", "50.0%", "2", "1", "50.0%"])

    def test_a_build_that_fails_is_said_in_one_line_and_nothing_is_run(self):
        commands = []

        def fail_to_build(command, check=False, **_):
            commands.append(command)
            if check and "--build" in command:
                raise subprocess.CalledProcessError(2, command)
            return subprocess.CompletedProcess(command, 2 if "--build" in command else 0)

        with mock.patch.object(subprocess, "run", fail_to_build), \
                contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(coverage.main([]), 1)
        self.assertEqual(errors.getvalue(), "FAILED: cmake --build --preset coverage\n")
        self.assertEqual((output.getvalue(), commands[-1][:2]), ("", ["cmake", "--build"]))

    def uncovered_of(self, text):
        """Compiles the program `text`, runs it without arguments, and says which of its lines did not run."""
        source = self.root / "server/base/program.cc"
        source.parent.mkdir(parents=True)
        source.write_text(text)
        build = self.root / "build"
        build.mkdir()
        subprocess.run(["g++", "-O1", "--coverage", "-c", str(source), "-o", "program.o"], cwd=build, check=True)
        subprocess.run(["g++", "--coverage", "program.o", "-o", "program"], cwd=build, check=True)
        subprocess.run([str(build / "program")], cwd=build, check=True)
        return coverage.measure(self.root, build).uncovered("base")

    @HAS_COMPILER
    def test_a_program_that_skips_a_line_is_found_out(self):
        text = "int main(int count, char**) {\n  if (count > 1)\n    return 1;\n  return 0;\n}\n"
        self.assertEqual(self.uncovered_of(text), ["server/base/program.cc:3"])

    @HAS_COMPILER
    def test_a_brace_that_only_cleans_up_after_an_exception_is_not_held_against_a_program(self):
        text = ("struct Kept { ~Kept() { delete number; } int* number = new int(1); };\n"
                "[[gnu::noinline]] void Check(const Kept& kept) {\n"
                "  if (*kept.number != 1)\n"
                "    throw 1;\n"
                "}\n"
                "[[gnu::noinline]] Kept Made() {\n"
                "  Kept kept;\n"
                "  Check(kept);\n"
                "  return kept;\n"
                "}\n"
                "int main() { return *Made().number - 1; }\n")
        self.assertEqual(self.uncovered_of(text), ["server/base/program.cc:4"])


if __name__ == "__main__":
    unittest.main()
