#!/usr/bin/env python3
"""A night of tests: the volumes that continuous integration has no time for, from fresh seeds.

  kills-*, histories-*      kill -9 cycles and simulated schedules of the ledger, on SQLite and PostgreSQL
  upgrade-*                 an upgrade of a generated ledger of a million charges, verified after
  rows-read-*               the rows that each request reads, at 10 and at 100,000 datasets and releases
  *power-losses             losses of power of the ledger's disk and of its anchor's
  edge                      random HTTP/2 frames at haproxy with the configuration that the server writes
  audits                    the statistical tests with ten times the samples, counts against SQLite's, crash matrices
  fuzz-*                    libFuzzer on every parser of foreign bytes; a corpus is kept in build/nightly/corpus
  one-by-one                a build of each file alone, without precompiled headers: it must include what it uses
  benchmarks                a build of all benchmarks, which no other stage builds
  dashboard                 500 open dashboards, and one of a history with a million entries, in a real browser
  parquet                   imports of Parquet files with DuckDB's library
  python                    the Python client behind haproxy, with an identity provider and PostgreSQL
  asan, tsan                tests under the address and undefined-behaviour, and under the thread sanitizer
  timing                    reports: what the time of a draw and of an answer tells
  tenants                   the latency of one principal's charges beside watches and a loop of another: below twice

Builds what it needs first (not counted as time), then runs the stages one after the other, each for its fixed share of
the hours, in small slices. What was reached is kept in build/nightly/state.json, by commit: the next run goes on where
this one was stopped, by its time, Ctrl-C or kill. A slice that was stopped is not counted.

Exit status: 0 without findings, 1 when this commit has any (each is listed with the command that repeats it), 2 wrong
usage, 128 + the signal's number when it was stopped.
"""

import argparse
import fcntl
import hashlib
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nightly_stages
from nightly_runner import Runner, Stopped, Stops, remove_abandoned_scratch
from nightly_state import State


@dataclass(frozen=True)
class Places:
    """Where a night's files lie."""

    root: Path

    @property
    def folder(self):
        return self.root / "build" / "nightly"

    @property
    def state(self):
        return self.folder / "state.json"

    @property
    def corpus(self):
        return self.folder / "corpus"

    @property
    def findings(self):
        return self.folder / "findings"


def commit_of(root):
    """The commit, with a hash of what differs from it, so that what one set of changes has reached counts for no other."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True).stdout

    commit = git("rev-parse", "--short=12", "HEAD").decode().strip()
    changes = git("diff", "--binary", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD")
    untracked = git("ls-files", "-z", "--others", "--exclude-standard").split(b"\0")[:-1]
    if not changes and not untracked:
        return commit
    digest = hashlib.sha256(changes)
    for name in untracked:
        digest.update(b"\0" + name + b"\0" + contents_of(root / os.fsdecode(name)))
    return f"{commit}+changes-{digest.hexdigest()[:8]}"


def contents_of(path):
    """Of a link, where it points; of another repository's folder, nothing."""
    if path.is_symlink():
        return os.fsencode(os.readlink(path))
    return b"" if path.is_dir() else path.read_bytes()


def hours_of(text):
    try:
        hours = float(text)
    except ValueError:
        hours = math.nan
    if not 0 < hours <= 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of hours above 0, e.g. 8 or 0.5")
    return hours


def parse(arguments, names):
    parser = argparse.ArgumentParser(prog=".ci/nightly", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=hours_of, default=8.0, help="how long, fractions allowed (default: 8)")
    parser.add_argument("--list", action="store_true", help="show the stages, what is wanted and what was reached")
    parser.add_argument("stages", nargs="*", metavar="stage", help="only these (default: all)")
    options = parser.parse_args(arguments)
    for name in options.stages:
        if name not in names:
            parser.error(f"unknown stage '{name}'; the stages are: {', '.join(names)}")
    return options


def lock_folder(folder):
    """An open file that keeps other nights out of the folder as long as it lives; none when one is there already."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = open(folder / "lock", "w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def build(stages, root):
    """Builds what the stages need. False when something does not build."""
    targets = {}
    for stage in stages:
        targets.setdefault(stage.preset, []).extend(stage.targets)
    commands = [["deploy/install-packages", "nightly"]]
    for preset, of_preset in targets.items():
        commands.append(["cmake", "--preset", preset, "--log-level=WARNING"])
        if of_preset:
            commands.append(["cmake", "--build", "--preset", preset, "--target", *dict.fromkeys(of_preset)])
    for command in commands:
        print("$", " ".join(command), flush=True)
        if subprocess.run(command, cwd=root).returncode != 0:
            print(f"FAILED: {' '.join(command)}", flush=True)
            return False
    return True


def summary(stages, state):
    """A table of what was reached, and the findings."""
    rows = [("stage", "this commit", "all commits")]
    rows += [(stage.name, stage.describe(state.record(stage.name)), f"{state.count_in_all(stage.name):,}")
             for stage in stages]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = [f"{name:{widths[0]}}  {here:{widths[1]}}  {in_all}" for name, here, in_all in rows]
    for finding in state.findings():
        lines += [f"FINDING in {finding['stage']}: {finding['what']}", f"  repeat: {finding['repeat']}",
                  f"  log: {finding['log']}"]
    return "\n".join(lines)


def spend_night(root, places, stages, commit, hours):
    """Builds and runs under the lock; returns the exit status."""
    state = State(places.state, commit)  # under the lock: a night that ended meanwhile has written its last
    remove_abandoned_scratch()
    stopped = 0
    Stops.listen()
    try:
        if not build(stages, root):
            return 1
        print(f"commit {commit}, {hours:g} hours, {os.cpu_count()} processors", flush=True)
        runner = Runner(root, state, os.cpu_count(), lambda line: print(line, flush=True))
        runner.run(stages, 3600 * hours)
    except Stopped as signal_that_came:
        print(f"stopped by {signal_that_came}; the next run goes on from here")
        stopped = 128 + signal_that_came.number
    print()
    print(summary(stages, state))
    return 1 if state.findings() else stopped


def main(arguments):
    root = Path(__file__).resolve().parent.parent
    os.environ.setdefault("CURATOR_SHARED", str((root / "../shared").resolve()))
    places = Places(root)
    every_stage = nightly_stages.tonight(places)
    options = parse(arguments, [stage.name for stage in every_stage])
    stages = [stage for stage in every_stage if not options.stages or stage.name in options.stages]
    commit = commit_of(root)
    if options.list:
        print(summary(stages, State(places.state, commit)))
        return 0
    lock = lock_folder(places.folder)
    if lock is None:
        print("another night is running in this folder: wait for its end, or stop it", file=sys.stderr)
        return 2
    with lock:
        return spend_night(root, places, stages, commit, options.hours)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
