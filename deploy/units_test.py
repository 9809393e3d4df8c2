"""Units, their users and folders, and the manual pages of the packages."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

PACKAGES = Path(__file__).parent / "packages"
UNITS = sorted(PACKAGES.glob("*/*.service"))
PAGES = {page.stem: page for page in (PACKAGES / "man").glob("*.8")}
# NAME=PATH of each program, with colons between them.
PROGRAMS = dict(pair.split("=") for pair in os.environ.get("CURATOR_PROGRAMS", "").split(":") if pair)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def lines_of(unit, key):
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


class Units(unittest.TestCase):
    def test_there_are_four(self):
        self.assertEqual([unit.stem for unit in UNITS], ["curator-edge", "curator-gate", "curator-jwks", "curatord"])

    def test_none_is_exposed_by_more_than_one_and_a_half(self):
        for unit in UNITS:
            judged = run("systemd-analyze", "security", "--offline=true", "--threshold=15", "--no-pager", str(unit))
            self.assertEqual(judged.returncode, 0, f"{unit.name}: {judged.stdout.splitlines()[-1:]}{judged.stderr}")

    def test_systemd_understands_them(self):
        for unit in UNITS:
            complaints = run("systemd-analyze", "verify", "--man=no", str(unit)).stderr.splitlines()
            # The programs are not installed where this runs, and units of other packages need not be.
            ours = [line for line in complaints if unit.name in line and "is not executable" not in line]
            self.assertEqual(ours, [], unit.name)

    def test_a_word_that_systemd_does_not_know_would_be_noticed(self):
        broken = Path(self.enterContext(tempfile.TemporaryDirectory())) / "broken.service"
        broken.write_text(UNITS[-1].read_text().replace("ProtectHome=", "ProtectHouse="))
        self.assertIn("ProtectHouse", run("systemd-analyze", "verify", "--man=no", str(broken)).stderr)

    def test_the_server_may_ask_for_short_time_slices(self):
        filters = lines_of(PACKAGES / "server" / "curatord.service", "SystemCallFilter")
        self.assertEqual(filters[-1], "sched_setattr sched_getattr", "after @resources was taken away")
        self.assertTrue(any(line.startswith("~") and "@resources" in line for line in filters[:-1]))

    def test_each_waits_for_its_configuration_instead_of_failing(self):
        for unit in UNITS:
            [path] = lines_of(unit, "ConditionPathExists")
            self.assertTrue(any(path in line for line in lines_of(unit, "ExecStart")), unit.name)

    def test_each_starts_a_program_that_a_package_installs(self):
        rules = (PACKAGES / "CMakeLists.txt").read_text()
        installed = set(re.findall(r"[\w-]+", " ".join(re.findall(r"install\(TARGETS ([\w -]+) DESTINATION sbin", rules))))
        for unit in UNITS:
            program = lines_of(unit, "ExecStart")[0].split()[0]
            self.assertTrue(program == "/usr/sbin/haproxy" or program.removeprefix("/usr/sbin/") in installed, program)

    def test_each_runs_as_a_user_that_is_made(self):
        made = "".join(users.read_text() for users in PACKAGES.glob("*/*.sysusers"))
        for unit in UNITS:
            [user] = lines_of(unit, "User")
            self.assertNotEqual(user, "root")
            if user != "haproxy":  # its own package makes that
                self.assertRegex(made, rf"(?m)^u {user} ")

    def test_the_server_drains_before_it_is_killed(self):
        [seconds] = lines_of(PACKAGES / "server" / "curatord.service", "TimeoutStopSec")
        self.assertGreater(int(seconds), 10 + 60, "--drain-seconds, and a minute for work to notice")


class ManualPages(unittest.TestCase):
    def test_each_has_no_mistake(self):
        for page in PAGES.values():
            formatted = subprocess.run(["man", "--warnings", "-l", "--encoding=UTF-8", str(page)], capture_output=True,
                                       text=True, check=False, env={**os.environ, "MANWIDTH": "100"})
            self.assertEqual(formatted.stderr, "", page.name)
            self.assertIn("NAME", formatted.stdout)

    def test_each_program_has_one_with_all_its_options(self):
        self.assertIn("curatord", PROGRAMS, "CURATOR_PROGRAMS names the programs")
        for name, program in PROGRAMS.items():
            page = PAGES[name].read_text().replace("\\-", "-")
            options = set(re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", run(program, "--help").stdout, re.MULTILINE))
            self.assertTrue(options, name)
            missing = [option for option in sorted(options - {"--help"}) if option not in page]
            self.assertEqual(missing, [], name)

    def test_the_servers_has_all_subcommands(self):
        page = PAGES["curatord"].read_text().replace("\\-", "-")
        _, commands = run(PROGRAMS["curatord"], "--help").stdout.split("Subcommands:")
        for command in re.findall(r"^  ([a-z-]+) ", commands, re.MULTILINE):
            self.assertIn(f".B {command}\n", page)


class Scripts(unittest.TestCase):
    def test_an_older_version_is_refused_over_a_newer_one(self):
        script = (PACKAGES / "server" / "preinst").read_text().replace("@PROJECT_VERSION@", "1.2.0")
        for arguments, status in ((["upgrade", "1.3.0"], 1), (["upgrade", "1.1.0"], 0), (["install"], 0)):
            done = subprocess.run(["sh", "-c", script, "preinst", *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status, arguments)
            self.assertEqual("is refused" in done.stderr, status == 1)

    def test_a_purge_keeps_records_and_says_so(self):
        script = "".join((PACKAGES / folder / "postrm").read_text() for folder in ("scripts", "server"))
        self.assertNotRegex(script, r"(?m)^\s*rm ")
        self.assertIn("is kept", script)


if __name__ == "__main__":
    unittest.main()
