"""What a night consists of: each stage with the volume that is wanted of it, and how a slice of it is run and judged."""

import itertools
import json
import os
import re
import secrets
import subprocess
import traceback
import xml.etree.ElementTree as xml
from pathlib import Path

from nightly_runner import Broken, Outcome, Slice

SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "LSAN_OPTIONS": f"suppressions={Path(__file__).parent.resolve() / 'lsan-suppressions'}:print_suppressions=0",
}


def fresh_seed():
    """As tests/testing/nightly.h takes them: above 0, of 43 bits."""
    return secrets.randbits(43) | 1


class Stage:
    """What all kinds of stages share. `preset` and `targets`: what has to be built."""

    jobs = None

    def __init__(self, name, share, preset, targets, places):
        self.name = name
        self.share = share
        self.preset = preset
        self.targets = targets
        self._places = places

    def prepare(self):
        """Nothing, unless a stage needs it."""

    def program(self, target):
        """The path of a program of this stage's build."""
        return str(Path("build") / self.preset / target)

    def finding(self, what, part, run, log_name, repeat=None):
        """A finding, with what the slice printed in a file."""
        return {"what": what, "repeat": repeat or part.repeat(), "log": self._keep(log_name, run.output)}

    def failure(self, error):
        """The finding of an error that ends this stage, with what a command of ours printed before it failed."""
        printed = [text for text in (getattr(error, "stdout", None), getattr(error, "stderr", None)) if text]
        log = self._keep("failure", "".join([*printed, *traceback.format_exception(error)]))
        return {"what": f"{type(error).__name__}: {error}", "repeat": f".ci/nightly {self.name}", "log": log}

    def _keep(self, log_name, text):
        """Writes a log under a name that none has yet, and returns its path."""
        folder = self._places.findings
        folder.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            log = folder / f"{self.name}-{log_name}-{number}.log"
            if not log.exists():
                log.write_text(text)
                return os.path.relpath(log, self._places.root)


class Cases(Stage):
    """Independent cases of one GoogleTest test, a slice of them at a time, each slice from a fresh seed."""

    def __init__(self, name, share, program, test, wanted, unit, cases, places):
        super().__init__(name, share, "dev", [Path(program).name], places)
        self._program = program
        self._test = test
        self._wanted = wanted
        self._unit = unit
        self._cases = cases

    def is_done(self, record):
        return record["count"] >= self._wanted

    def describe(self, record):
        return f"{record['count']:,} of {self._wanted:,} {self._unit}"

    def next_slice(self, _record, _busy):
        environment = {"CURATOR_NIGHTLY": "1", "CURATOR_TEST_SEED": str(fresh_seed()),
                       "CURATOR_NIGHTLY_CASES": str(self._cases)}
        return Slice((self.program(self._program), f"--gtest_filter={self._test}"), environment, self._cases)

    def judge(self, part, run):
        """One test must have run: a filter that names none passes, too."""
        if run.passed() and re.search(r"^\[  PASSED  \] 1 test\.", run.output, re.MULTILINE):
            return Outcome(count=part.count)
        seed = part.environment["CURATOR_TEST_SEED"]
        return Outcome(findings=[self.finding(f"{self._test} ({self._ending(run)})", part, run, seed)])

    @staticmethod
    def _ending(run):
        return "no test ran" if run.passed() else run.ending()


class Listed(Stage):
    """A list of items, each done `rounds` times; those done least often come first."""

    def __init__(self, name, share, preset, targets, rounds, unit, places):
        super().__init__(name, share, preset, targets, places)
        self._rounds = rounds
        self._unit = unit
        self._items = None  # known once it is built

    def prepare(self):
        self._items = self.list_items()
        if not self._items:
            raise Broken(f"{self.name}: there are no {self._unit}")

    def list_items(self):
        """The items in their order; of a build."""
        raise NotImplementedError

    def is_done(self, record):
        """Not before prepare(): without the list, nobody knows what is left."""
        return bool(self._items) and not self._left(record, set())

    def _left(self, record, busy):
        done = record["done"]
        left = [item for item in self._items if item not in busy and done.get(item, 0) < self._rounds]
        return sorted(left, key=lambda item: done.get(item, 0))

    def describe(self, record):
        of_each = "once each" if self._rounds == 1 else f"{self._rounds} times each"
        if self._items is None:
            return f"{record['count']:,} {self._unit}, {of_each} wanted"
        return f"{record['count']:,} of {len(self._items) * self._rounds:,} {self._unit}, {of_each}"


def gtest_names(listing):
    """The tests that --gtest_list_tests names."""
    names, suite = [], ""
    for line in listing.splitlines():
        word = line.split("#")[0].rstrip()
        if word.startswith("  "):
            names.append(suite + word.strip())
        elif word.endswith("."):
            suite = word
    return names


class Audits(Listed):
    """GoogleTest tests with fresh seeds and their larger samples. `programs`: path in the build and filter."""

    def __init__(self, name, share, programs, rounds, places):
        super().__init__(name, share, "dev", [Path(path).name for path, _ in programs], rounds, "tests", places)
        self._programs = programs

    def list_items(self):
        items = []
        for path, tests in self._programs:
            listing = subprocess.run([self.program(path), "--gtest_list_tests", f"--gtest_filter={tests}"],
                                     cwd=self._places.root, capture_output=True, text=True, check=True).stdout
            # A filter that matches nothing stays as an item: its run without a test is the finding.
            items += [f"{path} {name}" for name in gtest_names(listing) or [tests]]
        return items

    def next_slice(self, record, busy):
        left = self._left(record, busy)
        if not left:
            return None
        path, name = left[0].split(" ", 1)
        environment = {"CURATOR_NIGHTLY": "1", "CURATOR_TEST_SEED": str(fresh_seed())}
        return Slice((self.program(path), f"--gtest_filter={name}"), environment, items=(left[0],),
                     longest_seconds=7200)

    def judge(self, part, run):
        """A test whose data is not there is skipped, and not counted."""
        if run.passed() and "[  SKIPPED ]" in run.output:
            return Outcome(items=part.items, tallies={"skipped": 1})
        if run.passed() and re.search(r"^\[  PASSED  \] 1 test\.", run.output, re.MULTILINE):
            return Outcome(count=1, items=part.items)
        what = f"{part.items[0]} ({run.ending() if not run.passed() else 'no test ran'})"
        return Outcome(items=part.items,
                       findings=[self.finding(what, part, run, part.environment["CURATOR_TEST_SEED"])])


class SanitizedTests(Listed):
    """The tests of CTest under a sanitizer, with fresh seeds and their usual volumes. An item: folder and test."""

    jobs = 1  # ctest runs the tests of a slice side by side
    TESTS_OF_A_SLICE = 40

    def __init__(self, name, share, preset, folders, rounds, environment, places):
        super().__init__(name, share, preset, [f"{folder}/all" if folder else "all" for folder in folders], rounds,
                         "tests", places)
        self._folders = folders
        self._environment = environment

    def _folder(self, folder):
        return str(Path("build") / self.preset / folder)

    def list_items(self):
        items = []
        for folder in self._folders:
            listing = subprocess.run(["ctest", "--test-dir", self._folder(folder), "--show-only=json-v1"],
                                     cwd=self._places.root, capture_output=True, text=True, check=True).stdout
            tests = json.loads(listing)["tests"]
            if not tests:
                raise Broken(f"{self.name}: ctest finds no test in {self._folder(folder)}")
            items += [f"{folder} {test['name']}" for test in tests]
        return items

    def _ctest(self, folder, names):
        pattern = "|".join(re.sub(r"([.^$*+?()\[\]|\\])", r"\\\1", name) for name in names)
        return ("ctest", "--test-dir", self._folder(folder), "--output-on-failure", "-R", f"^({pattern})$")

    def next_slice(self, record, busy):
        left = self._left(record, busy)
        if not left:
            return None
        folder = left[0].split(" ", 1)[0]
        items = tuple(item for item in left if item.startswith(f"{folder} "))[:self.TESTS_OF_A_SLICE]
        command = self._ctest(folder, [item.split(" ", 1)[1] for item in items])
        report = self._places.root / "build" / "nightly" / f"{self.name}.xml"
        report.parent.mkdir(parents=True, exist_ok=True)
        report.unlink(missing_ok=True)
        return Slice((*command, "-j", str(os.cpu_count()), "--output-junit", str(report)),
                     {"CURATOR_TEST_SEED": str(fresh_seed()), **self._environment}, len(items), items, 4 * 3600)

    @staticmethod
    def _verdict(case):
        """ctest marks as skipped what it could not start, too: only its message tells that a test skipped itself."""
        skipped = case.find("skipped")
        reason = skipped.get("message", "") if skipped is not None else ""
        if reason.startswith("SKIP_"):  # SKIP_REGULAR_EXPRESSION_MATCHED, SKIP_RETURN_CODE=...
            return "skipped"
        return f"{case.get('status')}: {reason}" if reason else case.get("status")

    def judge(self, part, run):
        """By what ctest says of each test; what it says nothing of is a finding, too."""
        report = Path(part.command[-1])
        verdicts = {}
        if report.exists():
            try:
                cases = list(xml.parse(report).getroot().iter("testcase"))
            except xml.ParseError as error:
                what = f"the report of ctest is broken: {error}"
                seed = part.environment["CURATOR_TEST_SEED"]
                return Outcome(items=part.items, findings=[self.finding(what, part, run, seed)])
            verdicts = {case.get("name"): self._verdict(case) for case in cases}
        outcome = Outcome(items=part.items)
        for item in part.items:
            folder, name = item.split(" ", 1)
            verdict = verdicts.get(name, f"no verdict, ctest: {run.ending()}")
            if verdict == "run":
                outcome.count += 1
            elif verdict == "skipped":
                outcome.tallies["skipped"] = outcome.tallies.get("skipped", 0) + 1
            else:
                again = Slice(self._ctest(folder, [name]), part.environment).repeat()
                log_name = re.sub(r"\W", "_", name)
                outcome.findings.append(self.finding(f"{name} ({verdict})", part, run, log_name, again))
        return outcome


class Fuzzing(Stage):
    """A libFuzzer program, for some time. Its corpus is kept between runs; its seeds are its own valid inputs."""

    SECONDS_OF_A_SLICE = 20
    SECONDS_WANTED = 3600

    def __init__(self, target, share, places):
        super().__init__(target.replace("_", "-"), share, "fuzz", [target], places)
        self._program = self.program(f"tests/fuzz/{target}")
        self._target = target

    def is_done(self, record):
        return record["count"] >= self.SECONDS_WANTED

    def describe(self, record):
        inputs = record["tallies"].get("inputs", 0)
        return f"{record['count']:,} of {self.SECONDS_WANTED:,} seconds, {inputs:,} inputs"

    def _corpus(self):
        return self._places.corpus / self._target

    def prepare(self):
        """Puts the target's own inputs into the corpus."""
        self._corpus().mkdir(parents=True, exist_ok=True)
        self._places.findings.mkdir(parents=True, exist_ok=True)
        subprocess.run([self._program], cwd=self._places.root, check=True, capture_output=True, text=True,
                       errors="replace", env={**os.environ, "CURATOR_FUZZ_SEEDS": str(self._corpus())})

    def next_slice(self, _record, _busy):
        prefix = self._places.findings / f"{self.name}-"
        return Slice((self._program, f"-max_total_time={self.SECONDS_OF_A_SLICE}", f"-seed={secrets.randbits(31) | 1}",
                      "-timeout=25", "-rss_limit_mb=4096", "-max_len=4096", "-print_final_stats=1",
                      f"-artifact_prefix={prefix}", str(self._corpus())),
                     SANITIZERS, self.SECONDS_OF_A_SLICE, longest_seconds=300)

    def judge(self, part, run):
        """A finding repeats from the input that the program kept."""
        inputs = re.search(r"stat::number_of_executed_units:\s*(\d+)", run.output)
        tallies = {"inputs": int(inputs.group(1))} if inputs else {}
        if run.passed() and inputs:
            return Outcome(count=part.count, tallies=tallies)
        kept = re.search(r"Test unit written to (\S+)", run.output)
        broken = re.search(r"^(broken: .*|SUMMARY: .*|==\d+== ERROR: .*)$", run.output, re.MULTILINE)
        what = broken.group(1) if broken else run.ending()
        repeat = Slice((self._program, os.path.relpath(kept.group(1), self._places.root)), SANITIZERS).repeat() if kept else None
        return Outcome(tallies=tallies, findings=[self.finding(f"{self._target}: {what}", part, run, "broken", repeat)])


class FuzzingCanary(Fuzzing):
    """A broken parser: the fuzzer must find it within one slice, or it finds nothing elsewhere either."""

    jobs = 1

    def is_done(self, record):
        return record["count"] >= 1

    def describe(self, record):
        return f"caught {record['count']} of 1 times"

    def judge(self, part, run):
        for kept in re.findall(r"Test unit written to (\S+)", run.output):
            Path(kept).unlink(missing_ok=True)
        if re.search(r"^broken: a decimal is read exactly", run.output, re.MULTILINE):
            return Outcome(count=1)
        return Outcome(findings=[self.finding(f"{self._target} was not caught", part, run, "missed")])


class Reports(Listed):
    """Programs whose output is for people; it is printed. One that fails is a finding."""

    jobs = 1

    def __init__(self, name, share, programs, places, preset="dev"):
        super().__init__(name, share, preset, [Path(path).name for path in programs], 1, "reports", places)
        self._programs = programs

    def list_items(self):
        return self._programs

    def next_slice(self, record, busy):
        left = self._left(record, busy)
        return Slice((self.program(left[0]),), {"CURATOR_NIGHTLY": "1"}, items=(left[0],)) if left else None

    def judge(self, part, run):
        print(run.output, end="")
        if run.passed():
            return Outcome(count=1, items=part.items)
        what = f"{part.items[0]} ({run.ending()})"
        return Outcome(items=part.items, findings=[self.finding(what, part, run, Path(part.items[0]).name)])


class OneCommand(Listed):
    """A command that takes all processors. One that fails is a finding."""

    jobs = 1

    def __init__(self, name, share, preset, command, unit, places):
        super().__init__(name, share, preset, [], 1, unit, places)
        self._command = command

    def list_items(self):
        return [self.name]

    def next_slice(self, record, busy):
        left = self._left(record, busy)
        return Slice(self._command, items=(left[0],), longest_seconds=4 * 3600) if left else None

    def judge(self, part, run):
        if run.passed():
            return Outcome(count=1, items=part.items)
        return Outcome(items=part.items, findings=[self.finding(run.ending(), part, run, "failed")])


FUZZ_TARGETS = re.compile(r"^curator_fuzz\((\w+)", re.MULTILINE)

# Tests with larger samples at night (nightly::Volume), but for those that have a stage of their own.
AUDITED = [
    ("tests/statistical/noise_audit_test", "*"),
    ("tests/statistical/kernel_audit_test", "*"),
    ("tests/statistical/non_interference_test", "*"),
    ("tests/statistical/statistics_coverage_test", "*"),
    ("tests/statistical/residual_strategies_test", "*"),
    ("tests/statistical/constant_steps_test", "*"),
    ("tests/e2e/e2e_black_box_test", "*"),
    ("tests/golden/random_queries_test", "*"),
    ("tests/golden/real_data_counts_test", "*"),
    ("tests/golden/wire_answers_test", "*"),
    ("server/ledger/ledger_faults_test", "*"),
    ("server/dp/synthesis/auto_test", "All/ManyAttributes.*"),
]


def tonight(places):
    """All stages in their order. The shares are about those that two hours on two idle cores need of each volume."""
    kill = ("tests/ledger/ledger_kill_test", "EveryBackend/Kill.AProcessKilledAtAnyMoment*/")
    simulation = ("tests/ledger/ledger_simulation_test", "EveryBackend/RandomHistories.*/")

    def cases(name, share, program_and_test, backend, wanted, unit, of_a_slice):
        program, test = program_and_test
        return Cases(name, share, program, test + backend, wanted, unit, of_a_slice, places)

    def build(name, preset):
        return OneCommand(name, 1, preset, ("cmake", "--build", "--preset", preset), "builds", places)

    targets = FUZZ_TARGETS.findall((places.root / "tests/fuzz/CMakeLists.txt").read_text())
    canaries = [target for target in targets if target.endswith("_canary")]
    fuzzed = [target for target in targets if not target.endswith("_canary")]
    modules = (places.root / ".ci/tsan-modules").read_text().split()
    return [
        cases("kills-sqlite", 17, kill, "sqlite", 100_000, "kill -9 cycles", 100),
        cases("kills-postgres", 6, kill, "postgres", 2_000, "kill -9 cycles", 25),
        cases("histories-sqlite", 40, simulation, "sqlite", 1_000_000, "simulated schedules", 800),
        cases("histories-postgres", 2, simulation, "postgres", 2_000, "simulated schedules", 40),
        cases("power-losses", 4, ("tests/ledger/ledger_power_loss_test", "OnSqlite/PowerLoss.WhatWasAcknowledged*/"),
              "sqlite", 30_000, "losses of power", 300),
        cases("anchor-power-losses", 1,
              ("tests/ledger/ledger_anchor_faults_test", "OnSqlite/AnchorPowerLoss.WhatWasAcknowledged*/"),
              "sqlite", 5_000, "losses of power", 120),
        *[cases(f"upgrade-{store}", 1, ("tests/migrations/ledger_large_upgrade_test",
                                        "EveryBackend/LargeUpgrade.ALedgerOfManyCharges*/"),
                store, 1, "upgrades of a million charges", 1) for store in ("sqlite", "postgres")],
        *[cases(f"rows-read-{store}", 1, ("tests/ledger/ledger_rows_read_test",
                                          "Stores/RowsRead.DoNotGrow*/"),
                store, 1, "ledgers of 100,000 releases and datasets", 1) for store in ("sqlite", "postgres")],
        cases("edge", 1, ("tests/edge/edge_test", "Edge.RandomFramesEndNothing"), "", 100_000,
              "connections of random frames", 2_000),
        Audits("audits", 9, AUDITED, 3, places),
        *[FuzzingCanary(target, 0.2, places) for target in canaries],
        *[Fuzzing(target, 10 / len(fuzzed), places) for target in fuzzed],
        build("one-by-one", "one-by-one"),
        build("benchmarks", "bench"),
        OneCommand("dashboard", 1, "release", ("tests/browser/run", "--nightly"), "runs", places),
        OneCommand("parquet", 1, "release", ("tests/parquet/run",), "runs", places),
        OneCommand("python", 1, "release", ("tests/python", "--installation=edge-postgres"), "runs", places),
        SanitizedTests("asan", 7, "asan-ubsan", [""], 1, SANITIZERS, places),
        SanitizedTests("tsan", 2, "tsan", modules, 10,
                       {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"}, places),
        Reports("timing", 2, ["tests/statistical/sampler_timing", "tests/e2e/answer_timing"], places),
        Reports("tenants", 1, ["bench/bench_tenants"], places, preset="bench"),
    ]
