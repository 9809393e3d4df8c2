"""Tests of install-packages on bad machines: one clear line, and nothing is installed.

The script runs as an ordinary user in a folder of its own, with a PATH that holds the listed tools and stand-ins for the
programs that look at the machine or change it.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

DEPLOY = Path(__file__).resolve().parent
TOOLS = "awk bash chown comm cut dirname du env grep id mkdir nproc readlink rm sed sort stat tail tee tr true".split()

DEBIAN_12 = 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'
PLAN = """0 upgraded, 136 newly installed, 0 to remove and 0 not upgraded.
Need to get 127 MB of archives.
After this operation, 1,541 MB of additional disk space will be used.
Do you want to continue? [Y/n] N
Abort.
"""
LOCKED = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 42 (apt-get)\n"

# Every stand-in writes down how it was called; apt-get's answers are files named after what it is asked.
STAND_INS = {
    "apt-get": """
        echo "apt-get $*" >>"$STAND_IN_FOLDER/calls"
        case "$*" in
          *" update"*) step=update ;;
          *--assume-no*) step=plan ;;
          *--download-only*) step=download ;;
          *" install "*) step=install ;;
        esac
        while IFS= read -r line; do echo "$line"; done <"$STAND_IN_FOLDER/$step.output"
        read -r status <"$STAND_IN_FOLDER/$step.status"
        case "$*" in # for the real one, a mirror that does not answer is no error unless an option says so
          *Error-Mode=any*) ;;
          *" update"*) exit 0 ;;
        esac
        exit "$status"
    """,
    "sudo": """
        case "$1" in
          -v) echo asked >>"$STAND_IN_FOLDER/asked"
              rm -f "$STAND_IN_FOLDER/expired"
              exit ;;
          -n) shift ;;
          *) echo "sudo asks inside a phase: $*" >>"$STAND_IN_FOLDER/asked" ;;
        esac
        if [[ -e $STAND_IN_FOLDER/expired ]]; then
          echo "sudo: a password is required" >&2
          exit 1
        fi
        exec "$@"
    """,
    "dpkg-query": """
        while IFS= read -r line; do echo "$line"; done <"$STAND_IN_FOLDER/installed"
    """,
    "df": """
        case "$*" in
          *--output=target*) echo "Mounted on"; echo "${@: -1}" ;;
          *) echo Avail
             read -r free <"$STAND_IN_FOLDER/free"; echo "$free" ;;
        esac
    """,
    "sleep": "exit 0",
}


class InstallPackages(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        self.clone, self.stand_ins = self.root / "clone", self.root / "bin"
        (self.clone / "deploy").mkdir(parents=True)
        self.stand_ins.mkdir()
        for name in ("install-packages", "phases.sh"):
            shutil.copy(DEPLOY / name, self.clone / "deploy")
        for tool in TOOLS:
            (self.stand_ins / tool).symlink_to(shutil.which(tool))
        for name, body in STAND_INS.items():
            self.stand_in(name, body)
        self.write("os-release", DEBIAN_12)
        self.write("installed", "installed cmake\n")
        self.write("free", "50000\n")
        for step in ("update", "download", "install"):
            self.answer(step, "")
        self.answer("plan", PLAN, 1)
        if os.geteuid() == 0:  # ordinary users must be able to do all this, so that is who tries
            for path in (self.root, *self.root.rglob("*")):
                shutil.chown(path, "nobody")

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.write_text(text)
        path.chmod(mode)

    def stand_in(self, name, body):
        self.write(f"bin/{name}", "#!/usr/bin/env bash\n" + body, 0o755)

    def answer(self, step, output, status=0):
        self.write(f"{step}.output", output)
        self.write(f"{step}.status", f"{status}\n")

    def run_script(self, *arguments, **environment):
        environment["PATH"] = str(self.stand_ins)
        environment["STAND_IN_FOLDER"] = str(self.root)
        environment["CURATOR_OS_RELEASE"] = str(self.root / "os-release")
        identity = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        # A session of its own has no terminal to ask for a password on.
        return subprocess.run(
            [self.clone / "deploy/install-packages", *arguments], env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, start_new_session=True, **identity)

    def calls(self):
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def installs(self):
        harmless = ("--assume-no", "--download-only")
        return [call for call in self.calls() if " install " in call and not any(word in call for word in harmless)]

    def assert_refused(self, result, *words):
        lines = result.stderr.splitlines()
        self.assertEqual((result.returncode, len(lines)), (1, 1), result.stderr)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertEqual(self.installs(), [])

    def assert_untouched(self):
        self.assertEqual(self.calls(), [])
        self.assertFalse((self.clone / "build").exists())

    # ---- The system

    def test_another_system_is_refused_by_name(self):
        self.write("os-release", 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n')
        self.assert_refused(self.run_script(), "needs Debian 12", "Ubuntu 24.04.1 LTS", "CURATOR_ANY_SYSTEM=1")
        self.assert_untouched()

    def test_another_debian_is_refused(self):
        self.write("os-release", 'ID=debian\nVERSION_ID="13"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n')
        self.assert_refused(self.run_script(), "needs Debian 12", "13 (trixie)")
        self.assert_untouched()

    def test_a_system_without_a_name_is_refused(self):
        (self.root / "os-release").unlink()
        self.assert_refused(self.run_script(), "needs Debian 12", "os-release")
        self.assert_untouched()

    def test_a_broken_os_release_is_said_so(self):
        for text in ("ID=debian\nNAME='unclosed\n", "ID=debian\nfalse\nexit 3\n", "NAME=$UNSET_HERE\n"):
            self.write("os-release", text)
            self.assert_refused(self.run_script(), "cannot read", str(self.root / "os-release"), "CURATOR_ANY_SYSTEM=1")
        self.assert_untouched()

    def test_another_system_may_be_tried(self):
        self.write("os-release", 'ID=ubuntu\nVERSION_ID="24.04"\n')
        self.assertEqual(self.run_script(CURATOR_ANY_SYSTEM="1").returncode, 0)
        self.assertEqual(len(self.installs()), 1)

    # ---- Rights

    def test_without_sudo_the_command_for_root_is_named(self):
        (self.stand_ins / "sudo").unlink()
        self.assert_refused(self.run_script("test"), "As root:", str(self.clone / "deploy/install-packages test"))
        self.assert_untouched()

    def test_a_sudo_that_refuses_is_as_good_as_none(self):
        self.stand_in("sudo", "echo 'sudo: a password is required' >&2; exit 1")
        self.assert_refused(self.run_script(), "sudo does not let", str(self.clone / "deploy/install-packages build"))
        self.assert_untouched()

    def asked(self):
        path = self.root / "asked"
        return path.read_text().splitlines() if path.exists() else []

    def test_sudo_that_needs_no_password_asks_for_none(self):
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual(self.asked(), [])

    def test_sudo_whose_time_is_over_asks_between_the_phases_and_never_in_one(self):
        self.stand_in("apt-get", STAND_INS["apt-get"].replace("case", 'echo >"$STAND_IN_FOLDER/expired"\ncase', 1))
        result = self.run_script()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(self.installs()), 1)
        self.assertEqual(self.asked(), ["asked"] * 3, "before the plan, the download and the installation")

    def test_sudo_that_refuses_between_the_phases_ends_with_one_line(self):
        self.stand_in("apt-get", STAND_INS["apt-get"].replace("case", 'echo >"$STAND_IN_FOLDER/expired"\ncase', 1))
        self.stand_in("sudo", STAND_INS["sudo"].replace('rm -f "$STAND_IN_FOLDER/expired"', "exit 1\n"))
        self.assert_refused(self.run_script(), "sudo does not let", "As root:")

    def test_a_clone_that_cannot_be_written_is_named(self):
        self.clone.chmod(0o555)
        self.assert_refused(self.run_script(), f"cannot write to {self.clone}/build/logs")
        self.assertEqual(self.calls(), [])

    # ---- Space

    def test_a_full_disk_is_noticed_before_anything_is_downloaded(self):
        self.write("free", "100\n")
        self.assert_refused(self.run_script(), "not enough disk space", "needs 150 MB on /var/lib/apt", "100 MB are free")
        self.assertEqual(self.calls(), [])

    def test_packages_that_do_not_fit_are_not_downloaded(self):
        self.write("free", "1541\n")
        self.assertEqual(self.run_script().returncode, 0)
        (self.root / "calls").unlink()
        self.write("free", "1540\n")
        self.assert_refused(self.run_script(), "installing 31 packages needs 1541 MB on /usr", "1540 MB are free")
        self.assertFalse([call for call in self.calls() if "--download-only" in call])

    def test_a_plan_that_apt_itself_finds_too_large_is_refused_in_our_words(self):
        self.write("free", "1000\n")
        refusal = "E: You don't have enough free space in /var/cache/apt/archives/.\n"
        self.answer("plan", PLAN.split("Do you")[0] + refusal, 100)
        self.assert_refused(self.run_script(), "needs 1541 MB on /usr", "1000 MB are free")

    def test_a_long_plan_is_read_to_its_end(self):
        self.write("free", "1000\n")
        refusal = "E: You don't have enough free space in /var/cache/apt/archives/.\n"
        self.answer("plan", PLAN.split("Do you")[0] + "W: a long warning of apt's\n" * 5000 + refusal, 100)
        self.assert_refused(self.run_script(), "needs 1541 MB on /usr", "1000 MB are free")

    def test_what_must_be_left_is_needed_too(self):
        self.assert_refused(self.run_script("--leave", "/tmp", "50001"), "and building needs 50001 MB on /tmp")
        self.assertEqual(self.run_script("--leave", "/tmp", "50000").returncode, 0)

    # ---- The mirror

    def test_an_unreachable_mirror_is_said_so(self):
        self.answer("update", "E: Failed to fetch http://mirror.example/x  Could not resolve 'mirror.example'\n", 100)
        self.answer("plan", "E: Unable to locate package g++\n", 100)
        self.assert_refused(self.run_script(), "no package mirror can be reached", "build/logs/install.log")
        log = (self.clone / "build/logs/install.log").read_text()
        self.assertIn("Could not resolve 'mirror.example'", log)
        self.assertIn("missing: g++ ", log)

    def test_another_broken_mirror_does_no_harm(self):
        self.answer("update", "E: Failed to fetch http://other.example/x\n", 100)
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual(len(self.installs()), 1)

    def test_a_failed_download_installs_nothing(self):
        self.answer("download", "E: Failed to fetch http://mirror.example/cmake.deb  404  Not Found\n", 100)
        self.assert_refused(self.run_script(), "could not be downloaded", "nothing was installed", "build/logs/install.log")

    def test_packages_that_cannot_be_had_for_another_reason_show_what_apt_says(self):
        self.answer("plan", "E: dpkg was interrupted, you must manually run 'dpkg --configure -a'\n", 100)
        result = self.run_script()
        self.assertEqual(result.returncode, 1)
        self.assertIn("dpkg --configure -a", result.stderr)
        self.assertEqual(self.installs(), [])

    # ---- The lock

    def test_a_lock_that_stays_is_named_with_its_holder(self):
        self.answer("update", LOCKED, 100)
        result = self.run_script()
        self.assert_refused(result, "apt-get, process 42", "kept apt locked for 5 minutes")
        self.assertEqual(result.stdout, "waiting for another program that installs packages (apt-get, process 42)\n")

    def test_a_lock_that_is_released_is_only_waited_for(self):
        self.answer("update", LOCKED, 100)
        self.stand_in("sleep", 'echo 0 >"$STAND_IN_FOLDER/update.status"')
        result = self.run_script()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(self.installs()), 1)

    # ---- A good machine

    def test_all_is_downloaded_before_anything_is_installed(self):
        result = self.run_script()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        steps = [call.split(" g++ ")[0].split()[-1] for call in self.calls()]  # the word before the packages
        self.assertEqual(steps, ["update", "--assume-no", "--download-only", "--yes"])
        self.assertNotIn(" cmake", self.installs()[0])  # it is there already

    def test_nothing_is_done_where_nothing_is_missing(self):
        script = (DEPLOY / "install-packages").read_text()
        names = script.split("readonly BUILD=(")[1].split(")")[0].split()
        self.write("installed", "".join(f"installed {name}\n" for name in names))
        result = self.run_script()
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assert_untouched()

    def planned(self, set_of_packages):
        """The packages that apt is asked for; what comes after its plan is the same for all sets."""
        self.answer("download", "", 100)
        self.run_script(set_of_packages)
        return next(call for call in self.calls() if "--assume-no" in call).split()

    def test_a_browser_and_node_are_installed_only_where_their_commands_are_missing(self):
        self.stand_in("node", "exit 0")  # of another package than Debian's nodejs
        packages = self.planned("browser")
        self.assertIn("chromium", packages)
        self.assertIn("npm", packages)
        self.assertNotIn("nodejs", packages)

    def test_who_only_builds_and_tests_the_server_needs_no_browser(self):
        self.assertFalse({"chromium", "nodejs", "npm"} & set(self.planned("test")))

    def test_a_proxy_reaches_apt_through_sudo(self):
        self.stand_in("sudo", "unset http_proxy" + STAND_INS["sudo"])
        self.stand_in("apt-get", 'echo "${http_proxy:-none}" >"$STAND_IN_FOLDER/proxy"; exit 1')
        self.run_script(http_proxy="http://proxy.example:3128")
        self.assertEqual((self.root / "proxy").read_text(), "http://proxy.example:3128\n")

    def test_wrong_usage_exits_2(self):
        for arguments in (["everything"], ["--leave", "/tmp"], ["--leave", "/nowhere", "5"]):
            self.assertEqual(self.run_script(*arguments).returncode, 2, arguments)
        self.assert_untouched()


if __name__ == "__main__":
    unittest.main()
