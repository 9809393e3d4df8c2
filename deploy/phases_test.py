"""Tests of phases.sh: what a phase prints, on a terminal and elsewhere, and what a failed one says."""

import os
import pty
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PHASES = Path(__file__).resolve().parent / "phases.sh"
TESTS_RUN = PHASES.parent.parent / "tests" / "run"

NINJA = "[1/3] Building a.o\n[2/3] Building b.o\n"
FAILED_BUILD = NINJA + "FAILED: c.o\nc++ -c c.cc\nc.cc:1: error: no\n[3/3] Building d.o\n"
CTEST = """\
Test project /build
      Start  1: Ledger.Charges
 1/3 Test  #1: Ledger.Charges ...........   Passed    0.01 sec
      Start 12: Ledger.Refuses
 2/3 Test #12: Ledger.Refuses ...........***Failed    0.02 sec
expected 1, was 2
      Start  3: Ledger.RealData
 3/3 Test  #3: Ledger.RealData ..........***Skipped   0.00 sec

67% tests passed, 1 tests failed out of 3

The following tests did not run:
\t  3 - Ledger.RealData (Skipped)

The following tests FAILED:
\t 12 - Ledger.Refuses (Failed)
"""
PYTEST = """\
================= test session starts =================
collecting ... collected 3 items
tests/test_a.py::test_one PASSED          [ 33%]
tests/test_a.py::test_two FAILED          [ 66%]
tests/test_a.py::test_three[50%] PASSED   [100%]
E   assert 1 == 2
============= 1 failed, 2 passed in 0.05s =============
"""
HIDDEN_OF_CTEST = [line for line in CTEST.splitlines() if "Start" in line or "Passed" in line]


class Phases(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def command(self, script):
        return ["bash", "-c", f"set -eEuo pipefail; . '{PHASES}'; log=log; {script}", "demo"]

    def run_script(self, script, **files):
        for name, text in files.items():
            (self.folder / name).write_text(text)
        environment = {"PATH": os.environ["PATH"]}
        return subprocess.run(
            self.command(script), cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def run_on_terminal(self, script):
        """What the script writes to a terminal, with the terminal's line ends."""
        reader, terminal = pty.openpty()
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm"}
        process = subprocess.Popen(self.command(script), cwd=self.folder, stdout=terminal, env=environment)
        os.close(terminal)
        output = b""
        try:
            while chunk := os.read(reader, 4096):
                output += chunk
        except OSError:
            pass  # the last writer has closed the terminal
        os.close(reader)
        self.assertEqual(process.wait(), 0)
        return output.decode()

    def test_elapsed_time_reads_well(self):
        cases = {0: "0 s", 59: "59 s", 60: "1 min 00 s", 123: "2 min 03 s", 3600: "1 h 00 min", 7325: "2 h 02 min"}
        for seconds, text in cases.items():
            self.assertEqual(self.run_script(f"elapsed {seconds}").stdout, text)

    def test_a_phase_prints_one_line_and_keeps_the_output(self):
        result = self.run_script("phase building count_ninja $log cat output", output=NINJA)
        self.assertRegex(result.stdout, r"\Abuilding 2 of 3, \d+ s\n\Z")
        self.assertEqual(result.stderr, "")
        self.assertEqual((self.folder / "log").read_text(), NINJA)

    def test_verbose_shows_all(self):
        result = self.run_script("verbose=yes; phase building count_ninja $log cat output", output=NINJA)
        self.assertRegex(result.stdout, r"\A\[1/3\] Building a.o\n\[2/3\] Building b.o\nbuilding 2 of 3, \d+ s\n\Z")

    def test_a_long_phase_reports_once_a_minute(self):
        clock = 'each_takes_20_s() { count_ninja "$1"; SECONDS=$((SECONDS + 20)); }; '
        output = "".join(f"[{step}/9] Building\n" for step in range(1, 8))
        result = self.run_script(clock + "phase building each_takes_20_s $log cat output", output=output)
        progress = [line.split(",")[0] for line in result.stdout.splitlines()]
        self.assertEqual(progress, ["building 3 of 9", "building 6 of 9", "building 7 of 9"])
        self.assertRegex(result.stdout, r"building 3 of 9, 1 min 0\d s\nbuilding 6 of 9, 2 min 0\d s\n")

    def test_a_terminal_sees_one_line_rewritten_in_place(self):
        (self.folder / "output").write_text(NINJA)
        output = self.run_on_terminal("phase building count_ninja $log cat output")
        self.assertEqual(output.count("\n"), 1)
        self.assertRegex(output, r"\r\x1b\[Kbuilding 1 of 3, \d+ s\r\x1b\[Kbuilding 2 of 3, \d+ s")
        self.assertRegex(output, r"\r\x1b\[Kbuilding 2 of 3, \d+ s\r\n\Z")

    def test_lines_that_come_in_pieces_are_put_together(self):
        pieces = "pieces() { printf '[1/'; sleep 1.2; printf '2] Buil'; }; "
        result = self.run_script(pieces + "phase building count_ninja $log pieces")
        self.assertRegex(result.stdout, r"\Abuilding 1 of 2, \d+ s\n\Z")

    def test_a_failed_phase_returns_its_status_and_claims_nothing(self):
        result = self.run_script("phase building count_ninja $log bash -c 'echo [1/3] x; exit 7' || echo status $?")
        self.assertEqual(result.stdout, "status 7\n")

    def test_of_a_failed_build_the_first_failure_is_shown(self):
        script = "failing() { cat output; false; }; phase building count_ninja $log failing || phase_failed building $log"
        result = self.run_script(script, output=FAILED_BUILD)
        self.assertEqual(result.returncode, 1)
        self.assertIn("demo: building failed. The whole output is in log; from it:", result.stderr)
        self.assertIn("error: no", result.stderr)
        self.assertNotIn("a.o", result.stderr)

    def test_of_another_failure_the_end_is_shown(self):
        result = self.run_script("phase_failed configuring output", output="".join(f"line {n}.\n" for n in range(100)))
        self.assertIn("line 99.", result.stderr)
        self.assertNotIn("line 79.", result.stderr)

    def test_known_causes_are_named(self):
        for line, cause in (("as: a.o: No space left on device", "the disk is full"),
                            ("c++: fatal error: Killed signal terminated program cc1plus", "lack of memory")):
            self.assertIn(cause, self.run_script("phase_failed building output", output=line + "\n").stderr.splitlines()[1])

    def test_of_tests_only_the_passing_ones_are_hidden(self):
        result = self.run_script("rest=shown phase testing count_ctest $log cat output", output=CTEST)
        *shown, last = result.stdout.splitlines()
        self.assertEqual(shown, [line for line in CTEST.splitlines() if line not in HIDDEN_OF_CTEST])
        self.assertRegex(last, r"testing 3 of 3, \d+ s")

    def test_of_pytest_what_did_not_pass_is_shown(self):
        result = self.run_script("rest=shown phase testing count_pytest $log cat output", output=PYTEST)
        *shown, last = result.stdout.splitlines()
        self.assertEqual(shown, [line for line in PYTEST.splitlines()[2:] if " PASSED " not in line])
        self.assertRegex(last, r"testing 100%, \d+ s")

    def test_needs_on_one_file_system_add_up(self):
        df = 'df() { if [[ $1 == --output=target ]]; then echo "/${2:1:1}"; else echo " 100"; fi; }; '
        fits = self.run_script(df + "require_space it /a/x 60 /b/x 60 /a/y 40")
        self.assertEqual((fits.returncode, fits.stderr), (0, ""))
        result = self.run_script(df + "require_space it /a/x 60 /b/x 60 /a/y 41")
        self.assertEqual(result.stderr, "demo: not enough disk space: it needs 101 MB on /a, 100 MB are free\n")

    def test_what_was_built_needs_no_space_again(self):
        (self.folder / "build").mkdir()
        (self.folder / "build" / "a").write_bytes(b"x" * 3_000_000)
        result = self.run_script("still_needed build 10; still_needed build 2; still_needed none 5")
        built, complete, absent = result.stdout.split()
        self.assertIn(built, ("6", "7"))
        self.assertEqual((complete, absent), ("0", "5"))

    def in_a_clone(self, name="demo"):
        """A clone with the script `name` and an install-packages that only says that it was reached."""
        (self.folder / "deploy").mkdir(exist_ok=True)
        (self.folder / "tests").mkdir(exist_ok=True)
        shutil.copy(PHASES, self.folder / "deploy")
        (self.folder / "deploy/install-packages").write_text("#!/bin/sh\necho reached: $*\nexit 9\n")
        (self.folder / "deploy/install-packages").chmod(0o755)
        return self.folder / "tests" / name

    def test_a_folder_for_temporary_files_that_is_not_there_is_named(self):
        self.in_a_clone()
        result = self.run_script("TMPDIR=/nowhere; install_and_build test dev 1 1")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "demo: TMPDIR is /nowhere, which is not a folder\n")
        self.assertIn("--leave /tmp 1 test", self.run_script("install_and_build test dev 1 1").stdout)

    def test_the_removed_option_of_tests_run_is_refused_before_anything_is_installed(self):
        shutil.copy(TESTS_RUN, self.in_a_clone("run"))
        for arguments in (["--nightly"], ["--nightly=8"], ["--verbose", "--nightly", "-R", "Ledger"]):
            result = subprocess.run([self.folder / "tests/run", *arguments], capture_output=True, text=True, check=False)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertEqual(result.stderr.splitlines()[0], "run: there is no --nightly here: use .ci/nightly")


if __name__ == "__main__":
    unittest.main()
