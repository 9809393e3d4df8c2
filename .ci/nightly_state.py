"""What nights have reached: counts by commit and stage, and findings. A file, replaced after every slice."""

import json
import os
from pathlib import Path


class State:
    """Counts of this commit and of all commits.

    A stage's record: "count" (what passed), "slices", "seconds", "done" (how often each item of a list was done, also
    when it failed), "tallies" (further sums, by name).
    """

    def __init__(self, path, commit):
        self._path = Path(path)
        self._commit = commit
        self._data = {"commits": {}, "findings": []}
        if self._path.exists():
            self._data = json.loads(self._path.read_text())

    def record(self, stage):
        """What this commit has reached in `stage`."""
        return self._data["commits"].get(self._commit, {}).get(stage) or {
            "count": 0, "slices": 0, "seconds": 0.0, "done": {}, "tallies": {}}

    def count_in_all(self, stage):
        return sum(stages[stage]["count"] for stages in self._data["commits"].values() if stage in stages)

    def findings(self):
        """Those of this commit, the oldest first."""
        return [finding for finding in self._data["findings"] if finding["commit"] == self._commit]

    def add(self, stage, outcome, seconds):
        """Counts a finished slice and its findings, durably."""
        record = self.record(stage)
        record["count"] += outcome.count
        record["slices"] += 1
        record["seconds"] += seconds
        for item in outcome.items:
            record["done"][item] = record["done"].get(item, 0) + 1
        for name, number in outcome.tallies.items():
            record["tallies"][name] = record["tallies"].get(name, 0) + number
        self._data["commits"].setdefault(self._commit, {})[stage] = record
        self.add_findings(stage, outcome.findings)

    def add_findings(self, stage, findings):
        """Keeps findings, durably."""
        for finding in findings:
            self._data["findings"].append({"commit": self._commit, "stage": stage, **finding})
        self._save()

    def _save(self):
        """Whatever ends the program leaves the old file or the new one."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        with open(fresh, "w", encoding="utf-8") as file:
            json.dump(self._data, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self._path)
