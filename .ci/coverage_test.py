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


def line(number, count, branches=(), only_by_exception=False):
    return {"line_number": number, "count": count, "unexecuted_block": count == 0 and not only_by_exception,
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

    def test_knows_the_room_of_a_file(self):
        for path, room in {"server/dp/kernel/kernel.cc": "dp/kernel", "server/data/csv_reader.cc": "data",
                           "server/dp/data/x.h": "dp/data", "server/app.cc": "app", "client/client.cc": "client",
                           "client/cli/main.cc": "client/cli", "server/data/testing.h": None,
                           "server/dp/kernel/kernel_test.cc": None, "tests/testing/nightly.cc": None,
                           "server/ledger/conformance/invariants.cc": None}.items():
            self.assertEqual(coverage.room_of(path), room, path)

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

    def test_a_line_that_only_an_exception_reaches_is_left_out(self):
        lines = [line(1, 1), line(2, 0, only_by_exception=True), line(3, 0)]
        result = self.coverage_of([{"server/base/a.cc": lines}])
        self.assertEqual(result.uncovered("base"), ["server/base/a.cc:3"])

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

    @unittest.skipUnless(shutil.which("g++") and shutil.which("gcov"), "needs a compiler and its gcov")
    def test_a_program_that_skips_a_line_is_found_out(self):
        source = self.root / "server/base/program.cc"
        source.parent.mkdir(parents=True)
        source.write_text("#include <vector>\n"
                          "std::vector<int> Copy(int count) {\n  std::vector<int> values;\n  values.push_back(count);\n"
                          "  return values;\n}\n"  # where an exception would destroy the values
                          "int main(int count, char**) {\n  if (count > 1)\n    return 1;\n"
                          "  return Copy(1).empty();\n}\n")
        build = self.root / "build"
        build.mkdir()
        subprocess.run(["g++", "--coverage", "-c", str(source), "-o", "program.o"], cwd=build, check=True)
        subprocess.run(["g++", "--coverage", "program.o", "-o", "program"], cwd=build, check=True)
        subprocess.run([str(build / "program")], cwd=build, check=True)
        self.assertEqual(coverage.measure(self.root, build).uncovered("base"), ["server/base/program.cc:9"])


if __name__ == "__main__":
    unittest.main()
