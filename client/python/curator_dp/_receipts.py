"""Whether the ledger still holds a charge, checked without trust in the server's word. Signatures need python3-cryptography."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Optional

from curator_dp._answers import Receipt
from curator_dp._errors import CuratorError, LedgerContradiction
from curator_dp._wire.curator.v1 import budget_pb2

if TYPE_CHECKING:
    from curator_dp._client import Client


def _check_signature(receipt: Receipt, public_key: bytes) -> None:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise CuratorError("the signature of a receipt is checked with cryptography: apt install python3-cryptography") from None
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(receipt.signature, receipt.statement.encode())
    except (InvalidSignature, ValueError):
        raise LedgerContradiction("the receipt is forged or damaged: its signature is not this server's") from None


def _statement_of(receipt: Receipt) -> dict[str, Any]:
    try:
        statement = json.loads(receipt.statement)
        if statement["document"] == "curator.receipt.v1" and isinstance(statement["sequence"], int):
            return dict(statement)
    except (ValueError, KeyError, TypeError):
        pass
    raise LedgerContradiction("the receipt is signed, and states no charge")


def _integer(value: int) -> bytes:
    return value.to_bytes(8, "big", signed=True)


def _text(value: bytes) -> bytes:
    return _integer(len(value)) + value


def hash_of(entry: budget_pb2.LedgerEntry) -> bytes:
    """Recomputes the hash of an entry: SHA-256 of its canonical document (server/ledger/history/hash_chain.h)."""
    time_us = entry.time.seconds * 1_000_000 + entry.time.nanos // 1000
    document = b"".join(
        (
            _text(b"curator.ledger.entry"),
            _integer(1),
            _text(entry.dataset_id.encode()),
            _integer(entry.sequence),
            _text(entry.kind.encode()),
            _text(entry.charge_id.encode()),
            _text(entry.payload),
            _text(entry.actor.encode()),
            _integer(time_us),
            _text(entry.previous_hash),
        )
    )
    return hashlib.sha256(document).digest()


class _Chain:
    """The links from the receipt's entry to the head."""

    def __init__(self) -> None:
        self._last: Optional[budget_pb2.ChainLink] = None

    def take(self, link: budget_pb2.ChainLink) -> None:
        last = self._last
        if last is not None:
            is_next = link.sequence == last.sequence + 1 or (link.is_repair and link.sequence > last.sequence)
            if not is_next or link.previous_hash != last.hash:
                raise LedgerContradiction(f"the history is broken: entry {link.sequence} does not follow entry {last.sequence}")
        if link.HasField("entry"):
            entry = link.entry
            if entry.hash != link.hash or entry.sequence != link.sequence or hash_of(entry) != link.hash:
                raise LedgerContradiction(f"entry {link.sequence} does not have the hash of its content")
        self._last = link


def verify(receipt: Optional[Receipt], client: Client, public_key: Optional[bytes] = None) -> dict[str, Any]:
    """Checks that the ledger still holds the charge of a receipt, and returns what the receipt states.

    The signature is checked, and the chain of hashes from the charge's entry to its present end.

    Args:
        public_key: that you know to be the server's, 32 bytes: `receipt.public_key` of an earlier receipt, or what its administrator
            says. Without it, the key that the server names now is believed, so that a server with a new key passes.

    Raises:
        LedgerContradiction: the receipt is forged, of another ledger, or the history has lost or rewritten the charge.

    >>> answer = census.marginals(["age", "sex"]).answer(rho="0.002")
    >>> cu.verify(answer.receipt, client)["charge_id"] == answer.charge_id
    True
    """
    if receipt is None:
        raise CuratorError("there is no receipt: nothing was charged for this answer")
    key = client._receipt_key()
    if public_key is not None and key.public_key != public_key:
        raise LedgerContradiction(f"the server signs with another key, {key.public_key.hex()}, than the given one, {public_key.hex()}")
    _check_signature(receipt, key.public_key)
    statement = _statement_of(receipt)
    if statement.get("ledger_id") != key.ledger_id:
        raise LedgerContradiction(f"the receipt is of another ledger, {statement.get('ledger_id')}; this server's is {key.ledger_id}")
    dataset = client._dataset_of_id(str(statement.get("dataset_id")))
    chain = _Chain()
    found = False
    for link in client._chain_links(dataset, statement["sequence"] - 1):
        chain.take(link)
        if link.sequence != statement["sequence"]:
            continue
        found = True
        if link.hash.hex() != statement.get("entry_hash"):
            raise LedgerContradiction(f"the history was rewritten: entry {link.sequence} has another hash than the receipt states")
    if not found:
        raise LedgerContradiction(f"the history has lost entry {statement['sequence']}, which the receipt proves")
    return statement
