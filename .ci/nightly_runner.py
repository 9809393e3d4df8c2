"""Runs slices of stages side by side until each stage has its volume or its share of the time is over.

A stage has `name`, `share`, `jobs` (None: one for each processor) and these methods:

  prepare()                 before its first slice of a run
  is_done(record)           whether its wanted volume is reached
  next_slice(record, busy)  the next Slice; None when all that is left is in `busy`, the items of the running ones
  judge(slice, run)         the Outcome of a finished Run
  describe(record)          what it has reached, in words
  failure(error)            the finding of an error that one of these methods raised; the stage ends with it
"""

import contextlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

MOST_FINDINGS = 3  # of one stage in one run: then it is stopped, since the next would be the same
PROGRESS_SECONDS = 30


@dataclass(frozen=True)
class Slice:
    """One command. What repeats it is the command with its environment."""

    command: tuple
    environment: dict = field(default_factory=dict)
    count: int = 1
    items: tuple = ()
    longest_seconds: float = 1800

    def repeat(self):
        """The line for a shell."""
        return " ".join([f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
                        + [shlex.join(self.command)])


@dataclass(frozen=True)
class Run:
    """How a slice's command ended."""

    exit_status: int  # negative: the signal that ended it
    was_too_long: bool
    output: str
    seconds: float

    def passed(self):
        return self.exit_status == 0 and not self.was_too_long

    def ending(self):
        if self.was_too_long:
            return f"did not end within {self.seconds:.0f} s"
        return f"ended by signal {-self.exit_status}" if self.exit_status < 0 else f"exit status {self.exit_status}"


@dataclass
class Outcome:
    """What a slice adds to the state. A finding: {"what", "repeat", "log"}."""

    count: int = 0
    items: tuple = ()
    tallies: dict = field(default_factory=dict)
    findings: list = field(default_factory=list)


class Broken(Exception):
    """A stage cannot do its work; says why."""


class Stopped(Exception):
    """A signal asked the run to end."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.number = number


class Stops:
    """Turns signals into Stopped, but not in the middle of a step that must be done whole."""

    _held = False
    _came = 0

    @classmethod
    def listen(cls):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, cls._stop)

    @classmethod
    @contextlib.contextmanager
    def held(cls):
        cls._held = True
        try:
            yield
        finally:
            cls._held = False
        if cls._came:
            number, cls._came = cls._came, 0
            raise Stopped(number)

    @classmethod
    def _stop(cls, number, _frame):
        if not cls._held:
            raise Stopped(number)
        cls._came = number


def scratch_place():
    """In memory where there is room, as the tests do by themselves; short, for the sockets inside."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() and shutil.disk_usage(memory).free >= 2 << 30 else tempfile.gettempdir()


def remove_abandoned_scratch():
    """Folders of runs that were killed: their names begin with the number of their process."""
    for folder in Path(scratch_place()).glob("night-*"):
        number = folder.name.split("-")[1]
        if number.isdigit() and not Path(f"/proc/{number}").exists():
            shutil.rmtree(folder, ignore_errors=True)


class _Child:
    """A running slice: its process, in a group of its own, and a scratch folder that goes with it."""

    def __init__(self, root, part):
        self.slice = part
        self.started = time.monotonic()
        self._scratch = tempfile.mkdtemp(prefix=f"night-{os.getpid()}-", dir=scratch_place())
        os.chmod(self._scratch, 0o755)  # a database server of another user lives inside
        self._log = tempfile.TemporaryFile()
        # Should this program be killed, its children are killed, too.
        command = ["setpriv", "--pdeathsig", "KILL", "--", *part.command]
        self.process = subprocess.Popen(command, cwd=root, stdin=subprocess.DEVNULL, stdout=self._log,
                                        stderr=subprocess.STDOUT, start_new_session=True,
                                        env={**os.environ, "CURATOR_SCRATCH": self._scratch, **part.environment})
        self.descriptor = os.pidfd_open(self.process.pid)

    def seconds(self):
        return time.monotonic() - self.started

    def is_too_long(self):
        return self.seconds() > self.slice.longest_seconds

    def end(self, was_too_long=False):
        """Waits for the process; kills what is left of its group. The Run."""
        if was_too_long:
            self._signal(signal.SIGKILL)
        self.process.wait()
        self._signal(signal.SIGKILL)
        os.close(self.descriptor)
        self._log.seek(0)
        output = self._log.read().decode(errors="replace")
        self._log.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
        return Run(self.process.returncode, was_too_long, output, self.seconds())

    def stop(self):
        """Asks it to end; kills it when it does not."""
        self._signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            pass
        self.end(was_too_long=True)

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass


class Runner:
    """Runs stages one after the other, the slices of each side by side."""

    def __init__(self, root, state, jobs, say=print):
        self._root = root
        self._state = state
        self._jobs = jobs
        self._say = say
        self._children = []

    def run(self, stages, seconds):
        """Each stage gets its share of what the stages before it have left. On Stopped, counts nothing more."""
        end = time.monotonic() + seconds
        try:
            for position, stage in enumerate(stages):
                left = max(0.0, end - time.monotonic())
                share = stage.share / sum(other.share for other in stages[position:])
                self._run_or_report(stage, left * share)
        finally:
            self._stop_children()

    def _run_or_report(self, stage, seconds):
        """An error ends its stage alone: it is a finding, and the other stages still have their time."""
        try:
            self._run_stage(stage, seconds)
        except Stopped:
            raise
        except Exception as error:
            with Stops.held():
                self._stop_children()
                finding = stage.failure(error)
                self._state.add_findings(stage.name, [finding])
                self._report(finding)

    def _stop_children(self):
        for child in self._children:
            child.stop()
        self._children = []

    def _run_stage(self, stage, seconds):
        if stage.is_done(self._state.record(stage.name)):
            self._say(f"{stage.name}: done, {stage.describe(self._state.record(stage.name))}")
            return
        self._say(f"{stage.name}: from {stage.describe(self._state.record(stage.name))}, for {seconds:.0f} s")
        end = time.monotonic() + seconds
        findings_before = len(self._state.findings())
        stage.prepare()
        next_progress = time.monotonic() + PROGRESS_SECONDS
        is_first = True
        while True:
            while (len(self._children) < (stage.jobs or self._jobs)
                   and len(self._state.findings()) - findings_before < MOST_FINDINGS
                   and (is_first or self._fits(stage, end - time.monotonic()))):
                if not self._start(stage):
                    break
                is_first = False
            if not self._children:
                break
            self._wait(stage)
            if time.monotonic() >= next_progress:
                self._say(f"  {stage.describe(self._state.record(stage.name))}")
                next_progress = time.monotonic() + PROGRESS_SECONDS
        self._say(f"  {stage.describe(self._state.record(stage.name))}")

    def _fits(self, stage, seconds_left):
        """Whether one more slice is likely to end in time."""
        record = self._state.record(stage.name)
        usual = record["seconds"] / record["slices"] if record["slices"] else 0.0
        return seconds_left > usual

    def _start(self, stage):
        record = dict(self._state.record(stage.name))
        record["count"] += sum(child.slice.count for child in self._children)  # should they pass
        if stage.is_done(record):
            return False
        part = stage.next_slice(record, {item for child in self._children for item in child.slice.items})
        if part is None:
            return False
        with Stops.held():
            self._children.append(_Child(self._root, part))
        return True

    def _wait(self, stage):
        """Until a child ends or is too long; counts what ended."""
        poll = select.poll()
        for child in self._children:
            poll.register(child.descriptor, select.POLLIN)
        nearest = min(child.slice.longest_seconds - child.seconds() for child in self._children)
        ready = {descriptor for descriptor, _ in poll.poll(1000 * max(0.0, min(nearest, PROGRESS_SECONDS)) + 1)}
        with Stops.held():
            for child in list(self._children):
                if child.descriptor in ready or child.is_too_long():
                    run = child.end(was_too_long=child.descriptor not in ready)
                    self._children.remove(child)
                    self._count(stage, child.slice, run)

    def _count(self, stage, part, run):
        outcome = stage.judge(part, run)
        self._state.add(stage.name, outcome, run.seconds)
        for finding in outcome.findings:
            self._report(finding)

    def _report(self, finding):
        self._say(f"  FINDING: {finding['what']}\n    repeat: {finding['repeat']}\n    log: {finding['log']}")
