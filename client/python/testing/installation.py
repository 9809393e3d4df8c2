"""A whole installation for a test: an identity provider, the program that fetches its keys, the server, and haproxy before it.

Each is a process of its own; the ledger lies in SQLite or in a PostgreSQL server of its own. Everything is on loopback.
"""

from __future__ import annotations

import datetime
import json
import os
import pwd
import queue
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

import curator_dp as cu
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from testing.server import BUILD, ROOT, Server, free_port

_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_CLIENT_ID = "curator-cli"


def _pem_of(key: Any) -> bytes:
    pem: bytes = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return pem


class Authority:
    """Signs certificates.

    Attributes:
        path: a PEM file with its own.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority for tests")])
        own = self._builder(self._name, self._key.public_key()).add_extension(x509.BasicConstraints(True, None), critical=True)
        path.write_bytes(own.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.datetime.utcnow()
        built = x509.CertificateBuilder().subject_name(name).issuer_name(self._name).public_key(key)
        dated = built.not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(hours=12))
        return dated.serial_number(x509.random_serial_number())

    def issue(self, alternative: x509.GeneralName, usage: x509.ObjectIdentifier) -> tuple[bytes, bytes]:
        """A certificate for this name, and its key, in PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(x509.Name([]), key.public_key())
        builder = builder.add_extension(x509.SubjectAlternativeName([alternative]), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM), _pem_of(key)

    def issue_for_host(self) -> bytes:
        """For localhost, with its key."""
        return b"".join(self.issue(x509.DNSName("localhost"), ExtendedKeyUsageOID.SERVER_AUTH))

    def issue_for_service(self, uri: str) -> tuple[bytes, bytes]:
        return self.issue(x509.UniformResourceIdentifier(uri), ExtendedKeyUsageOID.CLIENT_AUTH)


class Process:
    """A program whose standard error is read line by line. It is killed by close()."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._lines.put(line)

    def await_line(self, text: str) -> str:
        """The next line that has this text."""
        seen = []
        while True:
            try:
                seen.append(self._lines.get(timeout=120))
            except queue.Empty:
                raise RuntimeError(f"{self._process.args!r} does not say {text!r}: {''.join(seen)}") from None
            if text in seen[-1]:
                return seen[-1]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stderr is not None
        self._process.stderr.close()


class Postgres:
    """A PostgreSQL server of a test's own, on a free port.

    Attributes:
        url: of its database.
    """

    def __init__(self) -> None:
        programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
        # Not below the test's folder, which the server's user may not enter.
        self._folder = Path(tempfile.mkdtemp(prefix="curator-postgres-"))
        as_user: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        data, port = self._folder / "data", free_port()
        initdb = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run([*as_user, *initdb], check=True, stdout=subprocess.DEVNULL, cwd="/")
        settings = ["-k", str(self._folder), "-c", "listen_addresses=127.0.0.1", "-c", "logging_collector=off"]
        self._process = Process([*as_user, str(programs / "postgres"), "-D", str(data), "-p", str(port), *settings])
        self._process.await_line("database system is ready to accept connections")
        self.url = f"postgresql://postgres@127.0.0.1:{port}/postgres"

    def close(self) -> None:
        self._process.close()
        shutil.rmtree(self._folder)


class IdentityProvider:
    """Vouches for everybody whom a test names.

    Attributes:
        issuer: its address.
    """

    def __init__(self, folder: Path, authority: Authority, *options: str) -> None:
        """`options`: more of the program."""
        certificate = folder / "idp.pem"
        certificate.write_bytes(authority.issue_for_host())
        self._context = ssl.create_default_context(cafile=str(authority.path))
        program = ROOT / "tests" / "identity_provider" / "identity_provider.py"
        self._process = Process([sys.executable, str(program), "--certificate", str(certificate), *options])
        self.issuer: str = json.loads(self._process.await_line('"serving"'))["address"]

    def close(self) -> None:
        self._process.close()

    def ask(self, path: str, **fields: str) -> dict[str, Any]:
        data = urllib.parse.urlencode(fields).encode()
        with urllib.request.urlopen(self.issuer + path, data=data, context=self._context) as response:
            document: dict[str, Any] = json.loads(response.read())
            return document

    def approve(self, user_code: str, subject: str) -> None:
        """As the person who was given the code."""
        self.ask("/test/approve", user_code=user_code, sub=subject)

    def token_of(self, subject: str) -> str:
        device = self.ask("/device", client_id=_CLIENT_ID)
        self.approve(device["user_code"], subject)
        token: str = self.ask("/token", grant_type=_DEVICE_GRANT, device_code=device["device_code"], client_id=_CLIENT_ID)["id_token"]
        return token


class Installation(Server):
    """The server as in production. Its administrator is ada; owner, who may create datasets, and ana are enrolled.

    Attributes:
        authority: of all certificates.
        provider: the identity provider.
    """

    def __init__(self, folder: Path, *, with_postgres: bool, quotas: Optional[dict[str, dict[str, int]]] = None) -> None:
        """`quotas`: of single principals."""
        self._quotas = quotas or {}
        self._closers: list[Callable[[], None]] = []
        self._port = free_port()
        try:
            self._start_all(folder, with_postgres)
        except BaseException:
            self.stop()
            raise

    def _start_all(self, folder: Path, with_postgres: bool) -> None:
        self.authority = Authority(folder / "authority.pem")
        self.provider = IdentityProvider(folder, self.authority, *self.provider_options())
        self._closers.append(self.provider.close)
        ledger = f"sqlite:{folder}/ledger.db"
        if with_postgres:
            postgres = Postgres()
            self._closers.append(postgres.close)
            ledger = postgres.url
        self._configure(folder, ledger)
        self._start_process([str(BUILD / "client" / "curator-jwks"), "--config", str(folder / "jwks.json")]).await_line("keys_fetched")
        edge = ["edge-config", f"--bind=127.0.0.1:{self._port}", f"--certificate={folder}/edge.pem", "--user", ""]
        (folder / "haproxy.cfg").write_text(self._curatord(folder, *edge, *self.edge_options(folder)))
        self._start_process(["/usr/sbin/haproxy", "-dW", "-db", "-f", str(folder / "haproxy.cfg")])
        super().__init__(folder, f"https://localhost:{self._port}")
        self._enrol_everybody()

    def _start_process(self, command: list[str]) -> Process:
        process = Process(command)
        self._closers.append(process.close)
        return process

    def _close_all(self) -> None:
        for close in reversed(self._closers):
            close()

    def _configure(self, folder: Path, ledger: str) -> None:
        (folder / "edge.pem").write_bytes(self.authority.issue_for_host())
        issuer = {"alias": "corp", "issuer": self.provider.issuer}
        keys = {
            "folder": str(folder / "jwks"),
            "wake_socket": str(folder / "wake.sock"),
            "authorities": str(self.authority.path),
            "issuers": [issuer],
        }
        (folder / "jwks").mkdir()
        (folder / "jwks.json").write_text(json.dumps(keys))
        edge = {
            "kind": "edge",
            "address": f"unix:{folder}/edge.sock",
            "secret_file": str(folder / "edge.secret"),
            "client_ca": str(self.authority.path),
        }
        server = {
            "listeners": [edge],
            "ledger": ledger,
            "data_dir": str(folder / "data"),
            "issuers": [{**issuer, "audiences": [_CLIENT_ID], "client_id": _CLIENT_ID}],
            "jwks_folder": keys["folder"],
            "jwks_wake_socket": keys["wake_socket"],
            # A test asks faster than people do.
            "quotas": {"calls_per_second": 100_000, "calls_after_a_pause": 100_000, "principals": self._quotas},
        }
        (folder / "curatord.json").write_text(json.dumps(self.server_configuration(server, folder)))

    # ---- What another installation has different

    def provider_options(self) -> list[str]:
        return []

    def edge_options(self, folder: Path) -> list[str]:
        """More of `curatord edge-config`."""
        return []

    def server_configuration(self, usual: dict[str, Any], folder: Path) -> dict[str, Any]:
        return usual

    @staticmethod
    def _curatord(folder: Path, command: str, *arguments: str) -> str:
        whole = [str(BUILD / "server" / "curatord"), "--config", str(folder / "curatord.json"), command, *arguments]
        return subprocess.run(whole, check=True, stdout=subprocess.PIPE, text=True).stdout

    # ---- People

    def _enrol_everybody(self) -> None:
        printed = self._curatord(
            self.folder, "bootstrap", "--principal=ada", f"--oidc-issuer={self.provider.issuer}", "--oidc-subject=ada"
        )
        self.enrol(printed, self._token_options("ada"))
        for name in ("owner", "ana"):
            self.make_principal(name)
        self.curator("ada", "role", "bind", "creator", "owner")

    def make_principal(self, name: str) -> None:
        """Whom the provider's user of the same name may call as."""
        subject = ["--oidc-issuer", self.provider.issuer, "--oidc-subject", name]
        self.curator("ada", "principal", "create", name)
        self.curator("ada", "credential", "link", name, *subject)

    def enrol(self, printed: str, who: list[str]) -> None:
        """With the code in what a command has printed. `who` are the options of curator that prove the new identity."""
        code = re.search(r"cure_\S+", printed)
        assert code, printed
        command = [str(BUILD / "client" / "curator"), "--server", self.address, "--ca", str(self.authority.path), *who]
        subprocess.run([*command, "enrol", code.group()], check=True, stdout=subprocess.DEVNULL)

    def token_file(self, principal: str) -> Path:
        path = self.folder / f"{principal}.token"
        if not path.exists():
            path.touch(0o600)
            path.write_text(self.provider.token_of(principal))
        return path

    # ---- As a server

    def options(self) -> list[str]:
        return ["--config", str(self.folder / "curatord.json")]

    def _token_options(self, principal: str) -> list[str]:
        return ["--token-file", str(self.token_file(principal))]

    def cli_options(self, principal: str) -> list[str]:
        return ["--server", self.address, "--ca", str(self.authority.path), *self._token_options(principal)]

    def client(self, principal: str = "ana", study: str = "study", retry: Optional[cu.RetryPolicy] = None) -> cu.Client:
        return cu.connect(
            self.address,
            token_file=str(self.token_file(principal)),
            authorities=str(self.authority.path),
            study=self.folder / study,
            retry=retry,
        )

    def stop(self) -> None:
        super().stop()
        self._close_all()

