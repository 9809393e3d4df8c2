"""Tests of compare-marginal, which lays a private marginal beside a synthetic one."""

import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "compare-marginal"

PRIVATE = "sex,pay\nf,0\nf,9\nf,10\nm,20\n"
SYNTHETIC = "id,pay,sex\n1,5,f\n2,5,f\n3,15,m\n4,20,m\n"  # other columns, another order


class CompareMarginal(unittest.TestCase):
    def run_script(self, first, second, rows="sex", columns="pay", edges="0,10,20"):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("a.csv", first), ("b.csv", second)):
                (Path(folder) / name).write_text(text)
            command = [SCRIPT, "a.csv", "b.csv", rows, columns, edges]
            return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    def test_shares_are_those_of_each_file(self):
        result = self.run_script(PRIVATE, SYNTHETIC)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line.split() for line in result.stdout.splitlines()]
        self.assertEqual(lines[1], ["f", "50.0", "|", "50.0", "25.0", "|", "0.0"])
        self.assertEqual(lines[2], ["m", "0.0", "|", "0.0", "25.0", "|", "50.0"])
        self.assertIn("25.0 % of the rows would have to change", result.stdout)

    def test_equal_files_have_nothing_to_change(self):
        self.assertIn("  0.0 % of the rows would have to change", self.run_script(PRIVATE, PRIVATE).stdout)

    def test_an_unknown_column_is_an_error(self):
        result = self.run_script(PRIVATE, SYNTHETIC, columns="wage")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("no such column", result.stderr)

    def test_a_file_without_rows_is_an_error(self):
        self.assertEqual(self.run_script(PRIVATE, "sex,pay\n").returncode, 1)


if __name__ == "__main__":
    unittest.main()
