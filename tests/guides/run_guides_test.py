#!/usr/bin/env python3
"""What run_guides.py reads in a guide, and what it takes for the same."""
import unittest

import run_guides


class Commands(unittest.TestCase):
    def test_are_the_lines_of_console_blocks_with_what_they_print(self) -> None:
        guide = "text\n```console\n$ a \\\n  b\nfirst\n...\n$ c  # exit status 3\n```\n```json\n$ no command\n```\n"
        commands = run_guides.commands_of(guide)
        self.assertEqual([(one.line, one.text, one.status, one.shown) for one in commands],
                         [(3, "a \\\n  b", 0, ["first", "..."]), (7, "c", 3, [])])


class Shown(unittest.TestCase):
    def expect(self, shown: str, printed: str, lacking: "str | None") -> None:
        self.assertEqual(run_guides.missing_line(shown.split("\n"), printed), lacking)

    def test_may_differ_in_numbers_ids_and_the_width_of_columns(self) -> None:
        self.expect("age    count\n[0, 10)  12", "age count\n\n[0, 10) -345.5\n", None)
        self.expect("release 8694b921-dddd-4a7d-8469-423a9862cb05", "release 0ecd8cbf-ef9b-47f5-9796-2b6e4149681b", None)

    def test_that_is_not_printed_is_found(self) -> None:
        self.expect("accepted 4979", "rejected 21", "accepted 4979")

    def test_is_without_gaps_but_for_dots(self) -> None:
        self.expect("a\nc", "a\nb\nc", "c")
        self.expect("a\n...\nc", "a\nb\nc", None)

    def test_is_in_its_order(self) -> None:
        self.expect("b\n...\na", "a\nb", "a")


if __name__ == "__main__":
    unittest.main()
