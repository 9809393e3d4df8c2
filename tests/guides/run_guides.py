#!/usr/bin/env python3
"""Runs each command of the guides against a server of its own, and compares what it prints with what the guide shows.

    tests/guides/run_guides.py --programs FOLDER [GUIDE.md ...]

A guide's commands are the lines that begin with "$ " in its console blocks; a line that ends with a backslash goes on. What follows a
command is what it prints: each line that is shown must be printed, in this order, where numbers, times and ids may differ; a line "..."
stands for any lines. `export NAME=VALUE` holds for the commands after it. A command fails the test unless it ends with 0, or with N where "# exit status N" follows it in the guide.
"""
from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, NamedTuple

SOURCES = Path(__file__).resolve().parents[2]
GUIDES = [SOURCES / "docs" / name for name in ("OWNER.md", "ANALYST.md", "REVIEWER.md")]
DEADLINE_SECONDS = 300


class Command(NamedTuple):
    line: int  # in the guide, from 1
    text: str
    status: int
    shown: list[str]


def commands_of(guide: str) -> list[Command]:
    """All of a guide's console blocks, in their order."""
    commands: list[Command] = []
    in_block = False
    goes_on = False
    for number, line in enumerate(guide.split("\n"), 1):
        if line.startswith("```"):
            in_block = line == "```console"
        elif not in_block:
            continue
        elif goes_on:
            commands[-1] = commands[-1]._replace(text=f"{commands[-1].text}\n{line}")
            goes_on = line.endswith("\\")
        elif line.startswith("$ "):
            text, _, status = line[2:].partition("  # exit status ")
            commands.append(Command(number, text, int(status or 0), []))
            goes_on = text.endswith("\\")
        elif commands:
            commands[-1].shown.append(line)
    return commands


def comparable(line: str) -> str:
    """Without what differs from run to run: ids, times, numbers, and how wide columns are."""
    line = re.sub(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "ID", line)
    line = re.sub(r"\b[0-9a-f]{12,}\b", "HASH", line)
    line = re.sub(r"\d[0-9.,:TZe+-]*", "N", line)
    line = re.sub(r"[-+]N", "N", line)
    return re.sub(r"\s+", " ", re.sub(r"[#=|]{2,}", "#", line)).strip()


def missing_line(shown: list[str], printed: str) -> str | None:
    """The first line that is shown and not printed, after those before it; None where all are."""
    rest = [comparable(line) for line in printed.split("\n")]
    may_skip = True
    for line in shown:
        if line.strip() in ("", "..."):
            may_skip = True
            continue
        wanted = comparable(line)
        if not may_skip and (not rest or rest[0] != wanted):
            return line
        while rest and rest[0] != wanted:
            rest.pop(0)
        if not rest:
            return line
        rest.pop(0)
        may_skip = False
        while rest and rest[0] == "":
            rest.pop(0)
    return None


class Server:
    """`curatord --dev` with a folder of its own, in which the commands run."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._process = subprocess.Popen(
            [programs / "server" / "curatord", "--dev", "--listen", "127.0.0.1:0", "--data-dir", folder / "data", "--ledger",
             f"sqlite:{folder}/ledger.db"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.address = self._address_in_log()
        threading.Thread(target=self._log().read, daemon=True).start()  # a full pipe would stop the server

    def _log(self) -> IO[str]:
        assert self._process.stderr is not None
        return self._process.stderr

    def _address_in_log(self) -> str:
        for line in self._log():
            found = re.search(r'"event":"serving","address":"([^"]+)"', line)
            if found:
                return found.group(1)
        raise RuntimeError("curatord ended before it served")

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=60)


def run_guide(guide: Path, programs: Path) -> list[str]:
    """What was wrong with it."""
    findings = []
    with tempfile.TemporaryDirectory(prefix="curator-guide-") as name:
        folder = Path(name)
        server = Server(programs, folder)
        try:
            work = folder / "work"
            shutil.copytree(SOURCES / "deploy", work / "deploy")
            environment = {
                "PATH": f"{programs}/client:{os.environ['PATH']}", "HOME": name, "CURATOR_SERVER": server.address,
                "LANG": "C.UTF-8", "NO_COLOR": "1",
            }
            for command in commands_of(guide.read_text()):
                exported = re.fullmatch(r"export (\w+)=(\S+)", command.text)
                if exported:
                    environment[exported.group(1)] = exported.group(2)
                    continue
                ran = subprocess.run(["bash", "-c", command.text], cwd=work, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DEADLINE_SECONDS)
                place = f"{guide.name}:{command.line}: {command.text}"
                if ran.returncode != command.status:
                    findings.append(f"{place}\n  ended with {ran.returncode}, not {command.status}:\n{ran.stdout}")
                    break
                lacking = missing_line(command.shown, ran.stdout)
                if lacking is not None:
                    findings.append(f"{place}\n  did not print this line here: {lacking}\n{ran.stdout}")
        finally:
            server.stop()
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="a build folder, with server/curatord and client/curator")
    parser.add_argument("guides", type=Path, nargs="*", default=GUIDES)
    options = parser.parse_args()
    findings = [finding for guide in options.guides for finding in run_guide(guide, options.programs.resolve())]
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
