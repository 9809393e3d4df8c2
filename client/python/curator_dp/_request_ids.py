"""Request ids: what makes a question that is asked twice cost once.

A request id is a UUID. Under the same one the server never charges twice, and returns the same bytes. Ids are derived from the
request and from the seed of a study, a random file beside the notebook: running a cell again, or after a restart, asks under the
same id. Another question has another id.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import uuid
import warnings
from pathlib import Path
from typing import Any, Union

from google.protobuf import json_format
from google.protobuf.message import Message

from curator_dp._errors import CuratorError, InvalidQuestion

STUDY_FILE = ".curator-study"
_SEED_BYTES = 32

AnyRequestId = Union[str, uuid.UUID]


class Study:
    """The seed of request ids.

    One folder is one study. Who copies the folder with its file shares the study: the same questions of the same person then cost
    once in all of them.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Reads the seed from the file `path` (default: .curator-study in the working folder), which it makes when there is none."""
        self.path = Path(path) if path is not None else Path(STUDY_FILE)
        self.seed = self._read() or self._make()

    def _read(self) -> bytes:
        try:
            text = self.path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return b""
        except (OSError, UnicodeDecodeError) as error:
            raise CuratorError(f"{self.path} cannot be read: {error}") from None
        try:
            seed = bytes.fromhex(text)
        except ValueError:
            seed = b""
        if len(seed) != _SEED_BYTES:
            raise CuratorError(f"{self.path} has no study's seed: move it away, and a new study begins")
        return seed

    def _make(self) -> bytes:
        seed = secrets.token_bytes(_SEED_BYTES)
        temporary = self.path.with_name(f"{self.path.name}.{secrets.token_hex(8)}")
        try:
            with open(temporary, "x", encoding="ascii") as file:
                file.write(seed.hex() + "\n")
                file.flush()
                os.fsync(file.fileno())
            try:
                _publish(temporary, self.path)
            finally:
                temporary.unlink()
        except FileExistsError:
            return self._read()
        except OSError as error:
            warnings.warn(
                f"{self.path} cannot be written ({error.strerror}): the same question asked by another run will cost again; "
                "give connect() a study= that can be written",
                stacklevel=4,
            )
        return seed

    def request_id(self, kind: str, request: Message, dataset_id: str, dataset_version: int) -> str:
        """The id of a request, whose own request_id is left out.

        Two requests of one study have the same id exactly when they are of the same kind, on the same version of the same dataset,
        and equal in every field. UUID version 8 (RFC 9562): 122 bits of SHA-256.
        """
        document = canonical_bytes({"kind": kind, "dataset_id": dataset_id, "version": dataset_version, "request": fields_of(request)})
        digest = hashlib.sha256(self.seed + document).digest()
        number = int.from_bytes(digest[:16], "big")
        number = number & ~(0xF << 76) | 0x8 << 76
        number = number & ~(0x3 << 62) | 0x2 << 62
        return str(uuid.UUID(int=number))


def _publish(temporary: Path, path: Path) -> None:
    """FileExistsError where another program was first: of several that begin at once, one makes the file."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        with open(path, "x", encoding="ascii") as file:
            file.write(temporary.read_text(encoding="ascii"))


def fields_of(request: Message) -> dict[str, Any]:
    """The fields of a request but its id."""
    fields: dict[str, Any] = json_format.MessageToDict(request, preserving_proto_field_name=True)
    fields.pop("request_id", None)
    return fields


def canonical_bytes(document: dict[str, Any]) -> bytes:
    """The same bytes for equal documents, whatever version of Python or protobuf writes them."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def new_request_id() -> str:
    return str(uuid.uuid4())


def checked_request_id(given: AnyRequestId, argument: str = "request_id") -> str:
    try:
        return str(uuid.UUID(str(given)))
    except ValueError:
        raise InvalidQuestion(f"{argument}: {given!r} is no UUID, such as {new_request_id()}", argument) from None
