#!/usr/bin/env python3
"""An installation for the tests of the dashboard: as client/python/testing has it, with an address for the gate, which is not started.

Prints where everything is as a JSON object in one line, {"event": "serving", ...}, and stops when its standard input ends.
"""

import json
import signal
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "client" / "python"))

from testing.installation import Installation  # noqa: E402

GATE, SECRET = "curator-gate", "of the gate alone"
MOST_LOGIN_AGE_SECONDS = 600
REGISTERED = ("olga", "vera")


class DashboardInstallation(Installation):
    """Approvals need a fresh login. corp.olga owns the dataset census, corp.vera is its approver, and ana asks it. The two have
    registered without ada, so that they count as two persons."""

    def provider_options(self):
        return ["--confidential-client", f"{GATE}:{SECRET}"]

    def edge_options(self, folder):
        return [f"--gate=unix:{folder}/gate.sock"]

    def server_configuration(self, usual, folder):
        local = {"kind": "local", "address": f"unix:{folder}/local.sock"}
        issuers = [{**issuer, "audiences": [*issuer["audiences"], GATE], "unknown": "register"} for issuer in usual["issuers"]]
        approvals = {"max_login_age_seconds": MOST_LOGIN_AGE_SECONDS}
        return {**usual, "listeners": [*usual["listeners"], local], "issuers": issuers, "approvals": approvals}

    def write_gate_configuration(self):
        secret = self.folder / "gate.secret"
        secret.touch(0o600)
        secret.write_text(SECRET)
        login = {"alias": "corp", "issuer": self.provider.issuer, "client_id": GATE, "client_secret_file": str(secret),
                 "authorities": str(self.authority.path)}
        gate = {"listen": f"unix:{self.folder}/gate.sock", "origin": self.address, "server": f"unix:{self.folder}/local.sock",
                "metrics_listen": f"unix:{self.folder}/metrics.sock", "logins": [login]}
        (self.folder / "gate.json").write_text(json.dumps(gate))

    def description(self):
        return {"event": "serving", "folder": str(self.folder), "address": self.address, "authority": str(self.authority.path),
                "issuer": self.provider.issuer, "people": {name: self.cli_options(name) for name in ("ada", "ana", *REGISTERED)}}


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))  # by way of all that closes processes and removes folders
    with tempfile.TemporaryDirectory(prefix="curator-dashboard-") as folder:
        with DashboardInstallation(Path(folder), with_postgres=True) as installation:
            installation.write_gate_configuration()
            for name in REGISTERED:
                installation.curator(name, "enrol")
            installation.curator("ada", "role", "bind", "creator", "corp.olga")
            installation.make_dataset("census", "--rule", "zcdp", "--epsilon", "2", "--delta", "1e-9", owner="olga", analyst="ana")
            approver = ["approver", "corp.vera", "--dataset", "census"]
            installation.curator("olga", "role", "bind", *approver)
            installation.curator("ada", "role", "approve", *approver)
            print(json.dumps(installation.description()), flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
