"""Every known mistake has a test that catches it.

The mistakes are listed here; docs/PRIVACY.md says which tests catch each of them; those tests must exist, in a file that is
compiled, in a suite XCanary beside a suite X in which sound mechanisms pass. The canaries of the check itself are at the end.
"""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MISTAKES = (
    "noise scale x 0.95",
    "half the noise scale",
    "add/remove sensitivity used under replacement",
    "L2 sensitivity used for L1",
    "epsilon not split over k marginals",
    "one cell without noise",
    "values rounded to float before noise",
    "naive floating-point Laplace",
    "exponential mechanism with twice the epsilon",
    "scores that move apart taken to be monotone",
    "the winning noisy score released unpaid",
    "selection and measurement sharing noise",
    "the same seed for two requests",
    "a fork sharing a bit buffer",
    "MWEM using the exact n",
    "one unpaid round",
    "early stop on the true error",
    "a model initialised from the data",
    "thresholding raw counts",
    "a number of rows that is the exact n",
    "a domain learned from the data",
    "unclipped likelihood",
    "clipping terms record by record",
    "a group's weight used for records",
    "the price of a group that enters used for one that changes",
    "a bound of one record that is too small",
    "the first records of a group kept, the rest left out",
    "high minus low in place of the width with zero",
    "twice the square of the largest number alone",
    "the square of the width alone",
    "the records of a person forgotten",
    "one unit's counts where two are exchanged",
    "one selection for several groups under replacement",
    "the sensitivity of groups used for records",
    "records counted instead of the groups that they describe",
    "one group's counts where two are exchanged",
    "one marginal's price for several of groups",
    "an id that counts what others do",
    "a table compared with another owner's",
    "a selection whose candidates are not those that it was priced for",
    "twice the temperature",
    "one error's sensitivity for a list of them",
    "the squared sensitivity of counts used for errors",
    "the range of one distance for a difference of two",
    "one key for two draws",
    "a draw from sets that its identity does not have",
    "twice a column of products under replacement",
    "the largest row of products in place of the largest column",
    "a forgotten variance factor",
    "the records of a unit in place of their square",
    "a forgotten multiplier",
    "groups of products that are not added up",
)

# Of accounting (docs/PRIVACY-accounting.md).
MISTAKES_OF_ACCOUNTING = (
    "a float sum that admits two of three tenths",
    "a small charge absorbed by a large sum",
    "a tiny charge admitted after exhaustion",
    "an amount read through a double",
    "delta of the conversion not charged",
    "delta reused by every query",
    "NaN that fails open",
    "a count ignored by one rule",
    "permute-and-flip charged as bounded range",
    "the factor 2 for non-monotone scores forgotten",
    "private n used as public",
    "the classic sigma used above epsilon 1",
    "a report that changes the account",
    "advanced composition with adaptive epsilon",
    "truncated mass dropped",
    "a commit larger than its hold, a double commit, an id used again",
    "an individual's balance displayed",
    "the dearest part alone charged under substitution",
)

ROW = re.compile(r"^\| ([^|]+?) \| ((?:`\w+\.\w+`(?:, )?)+) \|$", re.MULTILINE)
NAME = re.compile(r"`(\w+\.\w+)`")
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", re.MULTILINE)


def catchers(page):
    """Of each mistake in the table of `page`, the tests that are said to catch it."""
    start = re.search(r"^### (Known mistakes|Mistakes known .*)$", page, re.MULTILINE).start()
    table = page[start:].split("\n## ")[0]
    return {mistake: NAME.findall(tests) for mistake, tests in ROW.findall(table)}


def compiled_tests(root):
    """The names of all tests under tests/ and server/ whose file is listed where it is built."""
    names = set()
    for path in [*root.glob("tests/*/*_test.cc"), *root.glob("server/**/*_test.cc")]:
        build = path.parent / "CMakeLists.txt"
        if not build.exists():
            build = path.parent.parent / "CMakeLists.txt"
        suite = path.stem.removesuffix("_test")
        text = build.read_text()
        if path.name not in text and not re.search(rf"foreach\(suite [^)]*\b{suite}\b", text):
            continue
        names.update(f"{suite}.{name}" for suite, name in TEST.findall(path.read_text()))
    return names


def findings(page, compiled, mistakes=MISTAKES):
    table = catchers(page)
    suites = {name.split(".")[0] for name in compiled}
    found = [f"no test is named for: {mistake}" for mistake in mistakes if mistake not in table]
    found += [f"not a known mistake: {mistake}" for mistake in table if mistake not in mistakes]
    for mistake, tests in table.items():
        for test in tests:
            if test not in compiled:
                found.append(f"{mistake}: there is no test {test}")
            suite = test.split(".")[0]
            if not suite.endswith("Canary"):
                found.append(f"{mistake}: {test} is not in a suite of canaries")
            elif suite.removesuffix("Canary") not in suites:
                found.append(f"{mistake}: no sound mechanism passes what {test} fails")
    return found


class Canaries(unittest.TestCase):
    def setUp(self):
        self.page = (ROOT / "docs" / "PRIVACY.md").read_text()
        self.compiled = compiled_tests(ROOT)

    def test_every_known_mistake_is_caught_by_a_test_that_exists(self):
        self.assertEqual(findings(self.page, self.compiled), [])

    def test_every_known_mistake_of_accounting_is_caught_by_a_test_that_exists(self):
        page = (ROOT / "docs" / "PRIVACY-accounting.md").read_text()
        self.assertEqual(findings(page, self.compiled, MISTAKES_OF_ACCOUNTING), [])

    def test_a_mistake_without_a_row_is_found(self):
        page = re.sub(r"(?m)^\| one unpaid round \|.*\n", "", self.page)
        self.assertEqual(findings(page, self.compiled), ["no test is named for: one unpaid round"])

    def test_a_test_that_was_removed_is_found(self):
        test = catchers(self.page)["one unpaid round"][0]
        self.assertEqual(findings(self.page, self.compiled - {test}), [f"one unpaid round: there is no test {test}"])

    def test_a_sound_test_does_not_count_as_a_canary(self):
        page = self.page.replace("| one unpaid round | `", "| one unpaid round | `Sound.Passes`, `")
        self.assertEqual(len(findings(page, self.compiled | {"Sound.Passes"})), 1)

    def test_a_canary_without_a_sound_twin_is_found(self):
        compiled = {name for name in self.compiled if not name.startswith("NoisyMax.")}
        self.assertEqual(len(findings(self.page, compiled)), 2)


if __name__ == "__main__":
    unittest.main()
