"""The scheduler of nights and its state file: what is counted, what is not, and what goes on where."""

import contextlib
import fcntl
import io
import signal
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import nightly
import nightly_stages
from nightly_runner import Broken, Outcome, Run, Runner, Slice, Stopped, Stops, remove_abandoned_scratch, scratch_place
from nightly_state import State


class ShellStage:
    """Slices of three, of a shell command, until `wanted`. Its seeds count up."""

    jobs = 1

    def __init__(self, name="shell", script="exit 0", wanted=9, share=1, longest_seconds=60):
        self.name = name
        self.share = share
        self._script = script
        self._wanted = wanted
        self._longest_seconds = longest_seconds
        self.seeds = []

    def prepare(self):
        pass

    def is_done(self, record):
        return record["count"] >= self._wanted

    def describe(self, record):
        return f"{record['count']} of {self._wanted}"

    def next_slice(self, _record, _busy):
        self.seeds.append(str(1000 + len(self.seeds)))
        return Slice(("sh", "-c", self._script), {"SEED": self.seeds[-1]}, 3, longest_seconds=self._longest_seconds)

    def judge(self, part, run):
        if run.passed():
            return Outcome(count=part.count)
        return Outcome(findings=[{"what": run.ending(), "repeat": part.repeat(), "log": "none"}])

    def failure(self, error):
        return {"what": str(error), "repeat": f".ci/nightly {self.name}", "log": "none"}


class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.said = []

    def state(self, commit="c1"):
        return State(self.root / "state.json", commit)

    def run_stages(self, stages, seconds=60.0, commit="c1", jobs=1):
        state = self.state(commit)
        Runner(self.root, state, jobs, self.said.append).run(stages, seconds)
        return state

    def test_runs_slices_until_the_volume_is_reached(self):
        stage = ShellStage()
        state = self.run_stages([stage])
        self.assertEqual(state.record("shell")["count"], 9)
        self.assertEqual(len(stage.seeds), 3)

    def test_a_stage_without_time_still_does_one_slice_and_the_next_run_goes_on_there(self):
        self.run_stages([ShellStage()], seconds=0.0)
        self.assertEqual(self.state().record("shell")["count"], 3)
        stage = ShellStage()
        self.run_stages([stage])
        self.assertEqual(self.state().record("shell")["count"], 9)
        self.assertEqual(len(stage.seeds), 2)

    def test_a_stage_that_is_done_is_left_alone(self):
        self.run_stages([ShellStage()])
        stage = ShellStage()
        self.run_stages([stage])
        self.assertEqual(stage.seeds, [])

    def test_another_commit_starts_from_nothing_and_the_sum_of_all_is_kept(self):
        self.run_stages([ShellStage()])
        state = self.run_stages([ShellStage()], commit="c2")
        self.assertEqual(state.record("shell")["count"], 9)
        self.assertEqual(state.count_in_all("shell"), 18)

    def test_a_failing_slice_is_a_finding_with_its_seed_and_is_not_counted(self):
        state = self.run_stages([ShellStage(script='test "$SEED" != 1001')])
        self.assertEqual(state.record("shell")["count"], 9)
        self.assertEqual([finding["repeat"] for finding in state.findings()],
                         ["""SEED=1001 sh -c 'test "$SEED" != 1001'"""])
        self.assertEqual(len(self.state().findings()), 1, "findings are kept for the next run")
        self.assertEqual(self.state("c2").findings(), [], "and belong to their commit")

    def test_a_stage_that_always_fails_is_stopped_after_a_few_findings_and_the_next_one_runs(self):
        state = self.run_stages([ShellStage("broken", "exit 1"), ShellStage("sound")])
        self.assertEqual(len(state.findings()), 3)
        self.assertEqual(state.record("broken")["count"], 0)
        self.assertEqual(state.record("sound")["count"], 9)

    def test_a_stage_that_cannot_be_prepared_is_a_finding_and_the_next_one_runs(self):
        class Unprepared(ShellStage):
            def prepare(self):
                subprocess.run(["sh", "-c", "exit 3"], check=True)

        state = self.run_stages([Unprepared("unprepared"), ShellStage("sound")])
        self.assertEqual([finding["stage"] for finding in state.findings()], ["unprepared"])
        self.assertIn("exit status 3", state.findings()[0]["what"])
        self.assertEqual(len(self.state().findings()), 1, "the finding is kept")
        self.assertEqual(state.record("sound")["count"], 9)

    def test_a_slice_that_cannot_be_judged_is_a_finding_and_what_ran_beside_it_is_stopped(self):
        class Unjudged(ShellStage):
            jobs = None

            def judge(self, part, run):
                raise ValueError("no such verdict")

        unjudged = Unjudged("unjudged", f'test "$SEED" = 1000 || flock {self.root}/lock sleep 600')
        state = self.run_stages([unjudged, ShellStage("sound")], jobs=2)
        self.assertEqual([finding["what"] for finding in state.findings()], ["no such verdict"])
        self.assertEqual(state.record("unjudged")["count"], 0)
        self.assertEqual(state.record("sound")["count"], 9)
        with open(self.root / "lock", "a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the last process that held it is gone

    def test_a_stop_is_no_failure_of_the_stage_that_it_meets(self):
        class StoppedWhilePreparing(ShellStage):
            def prepare(self):
                raise Stopped(signal.SIGTERM)

        with self.assertRaises(Stopped):
            self.run_stages([StoppedWhilePreparing()])
        self.assertEqual(self.state().findings(), [])

    def test_a_slice_that_hangs_is_a_finding_and_its_processes_are_gone(self):
        script = f"flock {self.root}/lock sleep 600; exit 0"
        state = self.run_stages([ShellStage(script=script, longest_seconds=1)], seconds=0.0)
        self.assertIn("did not end within 1 s", state.findings()[0]["what"])
        with open(self.root / "lock", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the last process that held it is gone

    def test_time_that_a_stage_leaves_goes_to_the_later_ones(self):
        quick = ShellStage("quick", share=99)
        slow = ShellStage("slow", "sleep 0.2", wanted=30, share=1)
        state = self.run_stages([quick, slow], seconds=30.0)
        self.assertEqual(state.record("slow")["count"], 30)

    def test_a_stop_counts_what_had_ended_and_nothing_of_what_ran(self):
        stage = ShellStage(script='test "$SEED" = 1000 || { kill -TERM $PPID; sleep 600; }')
        Stops.listen()
        self.addCleanup(signal.signal, signal.SIGTERM, signal.SIG_DFL)
        state = self.state()
        with self.assertRaises(Stopped):
            Runner(self.root, state, 1, self.said.append).run([stage], 60.0)
        self.assertEqual(self.state().record("shell")["count"], 3)
        self.assertEqual(self.state().findings(), [])

    def test_a_kill_loses_the_running_slice_alone(self):
        program = ("import sys; sys.path.insert(0, sys.argv[1])\n"
                   "from nightly_test import ShellStage; from nightly_runner import Runner\n"
                   "from nightly_state import State\n"
                   "script = 'test \"$SEED\" = 1000 || kill -KILL $PPID; sleep 0'\n"
                   "Runner(sys.argv[2], State(sys.argv[2] + '/state.json', 'c1'), 1).run([ShellStage(script=script)], 60)")
        run = subprocess.run([sys.executable, "-B", "-c", program, str(Path(__file__).parent), str(self.root)],
                             stdout=subprocess.DEVNULL)
        self.assertEqual(run.returncode, -signal.SIGKILL)
        self.assertEqual(self.state().record("shell")["count"], 3)

        remove_abandoned_scratch()
        self.assertEqual([folder for folder in Path(scratch_place()).glob("night-*")
                          if not Path("/proc", folder.name.split("-")[1]).exists()], [])

    def test_two_nights_do_not_share_a_folder(self):
        first = nightly.lock_folder(self.root)
        self.assertIsNone(nightly.lock_folder(self.root))
        first.close()
        second = nightly.lock_folder(self.root)
        self.assertIsNotNone(second)
        second.close()

    def test_slices_run_side_by_side(self):
        meet = f"touch {self.root}/$SEED; until [ -e {self.root}/1000 ] && [ -e {self.root}/1001 ]; do :; done"
        stage = ShellStage(script=meet, wanted=6)
        stage.jobs = None
        state = self.run_stages([stage], jobs=2)
        self.assertEqual(state.record("shell")["count"], 6)


class StagesTest(unittest.TestCase):
    """How the kinds of stages judge what a slice printed."""

    @dataclass(frozen=True)
    class Places:
        root: Path

        @property
        def findings(self):
            return self.root / "findings"

        @property
        def corpus(self):
            return self.root / "corpus"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.places = self.Places(Path(folder.name))
        self.record = {"count": 0, "done": {}, "tallies": {}}

    def cases(self):
        return nightly_stages.Cases("kills", 1, "tests/kill_test", "Kill.Any", 100, "cycles", 10, self.places)

    def judge(self, stage, output, exit_status=0, was_too_long=False):
        part = stage.next_slice(self.record, set())
        return part, stage.judge(part, Run(exit_status, was_too_long, output, 1.0))

    def test_a_slice_of_cases_that_passes_is_counted(self):
        _, outcome = self.judge(self.cases(), "[  PASSED  ] 1 test.\n")
        self.assertEqual((outcome.count, outcome.findings), (10, []))

    def test_no_test_at_all_is_a_finding(self):
        _, outcome = self.judge(self.cases(), "[  PASSED  ] 0 tests.\n")
        self.assertEqual(outcome.count, 0)
        self.assertIn("no test ran", outcome.findings[0]["what"])

    def test_a_finding_names_the_whole_command_and_keeps_the_output(self):
        part, outcome = self.judge(self.cases(), "it broke", exit_status=1)
        seed = part.environment["CURATOR_TEST_SEED"]
        self.assertEqual(outcome.findings[0]["repeat"],
                         f"CURATOR_NIGHTLY=1 CURATOR_TEST_SEED={seed} CURATOR_NIGHTLY_CASES=10 "
                         "build/dev/tests/kill_test --gtest_filter=Kill.Any")
        self.assertEqual((self.places.root / outcome.findings[0]["log"]).read_text(), "it broke")

    def test_seeds_are_fresh(self):
        seeds = {nightly_stages.fresh_seed() for _ in range(100)}
        self.assertEqual(len(seeds), 100)
        self.assertTrue(all(0 < seed < 1 << 43 for seed in seeds))

    def test_gtest_listings_are_read(self):
        listing = "Running main() from gmock_main.cc\nA.\n  One\n  Two\nAll/B.\n  Three/0  # GetParam() = \"x.\"\n"
        self.assertEqual(nightly_stages.gtest_names(listing), ["A.One", "A.Two", "All/B.Three/0"])

    def test_a_list_takes_what_was_done_least_often_and_not_what_is_running(self):
        stage = nightly_stages.Reports("reports", 1, ["one", "two"], self.places)
        stage._rounds = 2
        stage.prepare()
        self.record["done"] = {"one": 1}
        self.assertEqual(stage.next_slice(self.record, set()).items, ("two",))
        self.assertEqual(stage.next_slice(self.record, {"two"}).items, ("one",))
        self.record["done"] = {"one": 2, "two": 2}
        self.assertTrue(stage.is_done(self.record))

    def test_an_empty_list_is_no_volume_but_a_failure(self):
        stage = nightly_stages.Reports("reports", 1, [], self.places)
        with self.assertRaisesRegex(Broken, "reports: there are no reports"):
            stage.prepare()
        self.assertFalse(stage.is_done(self.record))

    def program(self, path, script):
        path = self.places.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)

    def test_an_audit_whose_filter_matches_nothing_is_run_and_found_out(self):
        self.program("build/dev/full_test", "printf 'A.\\n  One\\n'")
        self.program("build/dev/renamed_test", "exit 0")
        stage = nightly_stages.Audits("audits", 1, [("full_test", "*"), ("renamed_test", "Old.*")], 1, self.places)
        stage.prepare()
        self.record["done"] = {"full_test A.One": 1}
        self.assertFalse(stage.is_done(self.record))
        part, outcome = self.judge(stage, "[  PASSED  ] 0 tests.\n")
        self.assertEqual(part.command, ("build/dev/renamed_test", "--gtest_filter=Old.*"))
        self.assertEqual((outcome.count, outcome.items), (0, ("renamed_test Old.*",)))
        self.assertIn("renamed_test Old.* (no test ran)", outcome.findings[0]["what"])

    def test_a_folder_in_which_ctest_finds_no_test_is_a_failure(self):
        (self.places.root / "build/tsan/server/renamed").mkdir(parents=True)
        stage = nightly_stages.SanitizedTests("tsan", 1, "tsan", ["server/renamed"], 1, {}, self.places)
        with self.assertRaisesRegex(Broken, "no test in build/tsan/server/renamed"):
            stage.prepare()

    def sanitized(self, names):
        stage = nightly_stages.SanitizedTests("asan", 1, "asan-ubsan", [""], 1, {"ASAN_OPTIONS": "x=1"}, self.places)
        stage._items = [f" {name}" for name in names]
        return stage

    def test_each_test_of_ctest_has_its_own_verdict(self):
        stage = self.sanitized(["Good.One", "Bad.One/2", "Lost.One"])
        part = stage.next_slice(self.record, set())
        report = Path(part.command[-1])
        report.write_text('<testsuite><testcase name="Good.One" status="run"/>'
                          '<testcase name="Bad.One/2" status="fail"/></testsuite>')
        outcome = stage.judge(part, Run(8, False, "", 1.0))
        self.assertEqual(outcome.count, 1)
        self.assertEqual(len(outcome.items), 3)
        seed = part.environment["CURATOR_TEST_SEED"]
        self.assertEqual(outcome.findings[0]["repeat"],
                         f"CURATOR_TEST_SEED={seed} ASAN_OPTIONS=x=1 ctest --test-dir build/asan-ubsan "
                         "--output-on-failure -R '^(Bad\\.One/2)$'")
        self.assertIn("no verdict", outcome.findings[1]["what"])

    def test_a_skipped_test_excuses_no_other_that_did_not_run(self):
        stage = self.sanitized(["Data.Absent", "Gone.One", "Fixture.Failed"])
        part = stage.next_slice(self.record, set())
        Path(part.command[-1]).write_text(
            '<testsuite>'
            '<testcase name="Data.Absent" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
            '<system-out>[  SKIPPED ] Data.Absent</system-out></testcase>'
            '<testcase name="Gone.One" status="notrun"><skipped message="Unable to find executable"/></testcase>'
            '<testcase name="Fixture.Failed" status="notrun"><skipped message="Fixture dependency failed"/></testcase>'
            '</testsuite>')
        outcome = stage.judge(part, Run(8, False, "[  SKIPPED ] Data.Absent\n", 1.0))
        self.assertEqual((outcome.count, outcome.tallies), (0, {"skipped": 1}))
        self.assertEqual([finding["what"] for finding in outcome.findings],
                         ["Gone.One (notrun: Unable to find executable)",
                          "Fixture.Failed (notrun: Fixture dependency failed)"])

    def test_ctest_itself_tells_a_skipped_test_from_one_that_cannot_run(self):
        build = self.places.root / "build/asan-ubsan"
        build.mkdir(parents=True)
        (build / "CTestTestfile.cmake").write_text(
            'add_test(Skips echo "[  SKIPPED ] it")\n'
            'set_tests_properties(Skips PROPERTIES SKIP_REGULAR_EXPRESSION "\\\\[  SKIPPED \\\\]")\n'
            'add_test(Gone /nowhere/program)\nadd_test(Runs true)\n')
        stage = nightly_stages.SanitizedTests("asan", 1, "asan-ubsan", [""], 1, {}, self.places)
        stage.prepare()
        part = stage.next_slice(self.record, set())
        subprocess.run(part.command, cwd=self.places.root, capture_output=True, check=False)
        outcome = stage.judge(part, Run(8, False, "[  SKIPPED ] it\n", 1.0))
        self.assertEqual((outcome.count, outcome.tallies), (1, {"skipped": 1}))
        self.assertEqual([finding["what"] for finding in outcome.findings], ["Gone (notrun: Unable to find executable)"])

    def test_a_broken_report_of_ctest_is_one_finding_that_keeps_the_output(self):
        stage = self.sanitized(["Good.One", "Good.Two"])
        part = stage.next_slice(self.record, set())
        Path(part.command[-1]).write_text('<testsuite><testcase name="Good.One" status="run"/>\x00')
        outcome = stage.judge(part, Run(8, False, "it broke", 1.0))
        self.assertEqual((outcome.count, len(outcome.findings)), (0, 1))
        self.assertIn("report of ctest is broken", outcome.findings[0]["what"])
        self.assertEqual((self.places.root / outcome.findings[0]["log"]).read_text(), "it broke")

    def test_a_failure_of_a_stage_keeps_what_its_command_printed(self):
        self.program("build/fuzz/tests/fuzz/fuzz_event", "echo no seeds today >&2\nexit 4\n")
        with self.assertRaises(subprocess.CalledProcessError) as failed:
            self.fuzzing().prepare()
        finding = self.fuzzing().failure(failed.exception)
        self.assertIn("exit status 4", finding["what"])
        self.assertEqual(finding["repeat"], ".ci/nightly fuzz-event")
        self.assertIn("no seeds today", (self.places.root / finding["log"]).read_text())

    def fuzzing(self):
        return nightly_stages.Fuzzing("fuzz_event", 1, self.places)

    def test_inputs_of_a_fuzzer_are_summed_up(self):
        _, outcome = self.judge(self.fuzzing(), "stat::number_of_executed_units: 4711\n")
        self.assertEqual((outcome.count, outcome.tallies), (20, {"inputs": 4711}))

    def test_a_finding_of_a_fuzzer_repeats_from_its_input(self):
        crash = self.places.root / "findings" / "fuzz-event-crash-1"
        output = (f"broken: no cost is negative\nTest unit written to {crash}\n"
                  "stat::number_of_executed_units: 12\n")
        _, outcome = self.judge(self.fuzzing(), output, exit_status=77)
        self.assertIn("no cost is negative", outcome.findings[0]["what"])
        self.assertTrue(outcome.findings[0]["repeat"].endswith("tests/fuzz/fuzz_event findings/fuzz-event-crash-1"))

    def test_a_command_that_fails_is_a_finding_that_is_repeated_by_it(self):
        command = ("cmake", "--build", "--preset", "one-by-one")
        stage = nightly_stages.OneCommand("one-by-one", 1, "one-by-one", command, "builds", self.places)
        stage.prepare()
        _, built = self.judge(stage, "")
        self.assertEqual((built.count, built.findings), (1, []))
        _, broken = self.judge(stage, "error: 'vector' is not a member of 'std'", exit_status=1)
        self.assertEqual(broken.count, 0)
        self.assertEqual(broken.findings[0]["repeat"], "cmake --build --preset one-by-one")

    def test_every_finding_keeps_a_log_of_its_own(self):
        sanitized = self.sanitized(["Bad.One"])
        canary = nightly_stages.FuzzingCanary("fuzz_canary", 1, self.places)
        reports = nightly_stages.Reports("reports", 1, ["tests/one", "tests/two"], self.places)
        reports.prepare()
        with contextlib.redirect_stdout(io.StringIO()):
            for stage in (self.cases(), self.fuzzing(), canary, sanitized, reports):
                logs = [self.judge(stage, output, exit_status=1)[1].findings[0]["log"] for output in ("first", "second")]
                self.assertEqual([(self.places.root / log).read_text() for log in logs], ["first", "second"], stage.name)
        failures = [canary.failure(Broken(text))["log"] for text in ("first", "second")]
        self.assertEqual(["first" in (self.places.root / log).read_text() for log in failures], [True, False])

    def test_a_canary_that_is_not_caught_is_a_finding(self):
        stage = nightly_stages.FuzzingCanary("fuzz_canary", 1, self.places)
        _, caught = self.judge(stage, "broken: a decimal is read exactly\n", exit_status=77)
        _, missed = self.judge(stage, "stat::number_of_executed_units: 4711\n")
        self.assertEqual((caught.count, caught.findings), (1, []))
        self.assertEqual((missed.count, len(missed.findings)), (0, 1))


class CommandLineTest(unittest.TestCase):
    def parse(self, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as error:
            try:
                return nightly.parse(list(arguments), ["kills", "asan"])
            except SystemExit as end:
                self.assertEqual(end.code, 2)
                return error.getvalue()

    def test_takes_hours_and_stages(self):
        options = self.parse("--hours", "0.25", "asan")
        self.assertEqual((options.hours, options.stages), (0.25, ["asan"]))

    def test_says_what_is_wrong(self):
        self.assertIn("'soon' is not a number of hours", self.parse("--hours", "soon"))
        self.assertIn("'0' is not a number of hours", self.parse("--hours", "0"))
        self.assertIn("the stages are: kills, asan", self.parse("kill"))

    def test_every_stage_of_tonight_has_a_name_and_a_share_of_its_own(self):
        root = Path(__file__).resolve().parent.parent
        stages = nightly_stages.tonight(nightly.Places(root))
        self.assertEqual(len({stage.name for stage in stages}), len(stages))
        self.assertTrue(all(stage.share > 0 for stage in stages))
        self.assertGreaterEqual(sum(1 for stage in stages if stage.name.startswith("fuzz-")), 5)


class NightTest(unittest.TestCase):
    """What a night does around its stages, in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.addCleanup(signal.signal, number, signal.getsignal(number))

    def git(self, *arguments):
        identity = ["-c", "user.name=A Tester", "-c", "user.email=tester@example.org"]
        return subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True,
                              text=True).stdout.strip()

    def test_a_tree_has_the_name_of_its_commit_and_of_its_changes(self):
        self.git("init", "-q")
        for name in ("a", ".gitignore"):
            (self.root / name).write_text("ignored\n")
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "first")
        clean = nightly.commit_of(self.root)
        self.assertEqual(clean, self.git("rev-parse", "--short=12", "HEAD"))

        names = [clean]
        for path, text in (("ignored", "x"), ("a", "one\n"), ("a", "two\n"), ("new", "one\n"), ("new", "two\n"),
                           ("newer", "two\n")):
            (self.root / path).write_text(text)
            names.append(nightly.commit_of(self.root))
        self.assertEqual(names[0], names[1], "an ignored file is no change")
        self.assertEqual(len(set(names)), 6, names)
        self.assertTrue(all(name.startswith(f"{clean}+changes-") for name in names[2:]), names)
        self.assertEqual(nightly.commit_of(self.root), names[-1], "the same tree has the same name")

        (self.root / "link").symlink_to("/nowhere")
        self.assertNotEqual(nightly.commit_of(self.root), names[-1])
        self.git("add", "--all")
        self.assertNotEqual(nightly.commit_of(self.root), clean)

    def test_what_another_night_counted_before_it_let_go_of_the_lock_is_kept(self):
        places = nightly.Places(self.root)
        lock_folder = nightly.lock_folder

        def lock_after_another_night(folder):
            State(places.state, "c1").add("earlier", Outcome(count=3), 1.0)
            return lock_folder(folder)

        with mock.patch.multiple(nightly, Places=lambda _root: places, commit_of=lambda _root: "c1",
                                 build=lambda _stages, _root: True, lock_folder=lock_after_another_night), \
                mock.patch.object(nightly_stages, "tonight", lambda _places: [ShellStage()]), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(nightly.main(["--hours", "0.01"]), 0)
        state = State(places.state, "c1")
        self.assertEqual((state.record("earlier")["count"], state.record("shell")["count"]), (3, 9))


if __name__ == "__main__":
    unittest.main()
