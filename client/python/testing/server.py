"""A real server for a test, on the embedded ledger, and the small table that the tests ask about."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import time
from pathlib import Path
from typing import Optional, Self

import curator_dp as cu

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("CURATOR_BUILD", ROOT / "build" / "dev"))

SCHEMA = """{"attributes": [
  {"name": "age", "integer": {"min": 18, "max": 57, "binWidth": 10}},
  {"name": "sex", "categorical": {"values": ["Female", "Male"], "catchAll": "unknown"}},
  {"name": "zone", "coded": {"size": 3}},
  {"name": "income", "numeric": {"edges": [0, 1000, 2500.5, 9000]}}]}"""


def csv_of(rows: int, seed: int = 1) -> str:
    numbers = random.Random(seed)
    lines = ["age,sex,zone,income"]
    for _ in range(rows):
        sex = numbers.choice(["Female", "Male", ""])
        lines.append(f"{numbers.randint(18, 57)},{sex},{numbers.randint(0, 2)},{numbers.uniform(0, 9000):.2f}")
    return "\n".join(lines) + "\n"


def free_port() -> int:
    """Below the ports that Linux gives to connections, which could take it before the server does, or while it is down."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_768)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Server:
    """curatord in a folder of its own, in development mode. It can be killed and started again at the same address. A context that
    stops it.

    Attributes:
        folder: for its files and the test's.
        address: for clients.
    """

    _process: Optional[subprocess.Popen[bytes]] = None

    def __init__(self, folder: Path, address: str = "") -> None:
        self.folder = folder
        self.address = address or f"127.0.0.1:{free_port()}"
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ---- What is different with an identity provider

    def options(self) -> list[str]:
        """Of curatord."""
        return [f"--listen={self.address}", f"--ledger=sqlite:{self.folder}/ledger.db", f"--data-dir={self.folder}/data", "--dev"]

    def cli_options(self, principal: str) -> list[str]:
        """Of curator, as this principal."""
        return ["--server", self.address, "--as", principal]

    def client(self, principal: str = "ana", study: str = "study", retry: Optional[cu.RetryPolicy] = None) -> cu.Client:
        return cu.connect(self.address, principal=principal, study=self.folder / study, retry=retry)

    # ---- What is the same

    def start(self) -> None:
        with open(self.folder / "server.log", "ab") as log:
            command = [str(BUILD / "server" / "curatord"), *self.options()]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + 120
        while not self._answers():
            if time.monotonic() > deadline or self._process.poll() is not None:
                self.kill()
                raise RuntimeError((self.folder / "server.log").read_text())

    def _answers(self) -> bool:
        with self.client("probe") as client:
            try:
                client.version()
            except cu.Unavailable:
                return False
            return True

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def curator(self, principal: str, *arguments: str) -> str:
        """What the command line prints."""
        command = [str(BUILD / "client" / "curator"), *self.cli_options(principal), *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def make_dataset(self, name: str = "census", *limit: str, rows: int = 500, owner: str = "owner", analyst: str = "ana") -> None:
        """Sealed; `analyst` is a service, too."""
        schema, table = self.folder / "schema.json", self.folder / f"{name}.csv"
        schema.write_text(SCHEMA)
        table.write_text(csv_of(rows))
        self.curator(owner, "dataset", "create", name, "--schema", str(schema), *limit)
        self.curator(owner, "dataset", "import", name, str(table))
        self.curator(owner, "dataset", "seal", name, "--accept-equal-content")
        self.curator(owner, "dataset", "grant", name, analyst, "--role", "analyst", "--role", "service")
