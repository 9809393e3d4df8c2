#!/usr/bin/env python3
"""Verifies the history of a ledger from its export alone, independently of the program that wrote it.

    curator ledger export NAME --out NAME.jsonl
    tests/ledger/verify_ledger.py NAME.jsonl [SUCCESSOR.jsonl ...]

It recomputes the hash chain of every dataset and the balance of every account, and prints both. Datasets that share accounts
(successors) are given together, the one that opened the accounts first. Exit status: 0 when all holds, 1 when something
contradicts something, 2 for wrong usage.

The formats are those that the comments of server/base/canonical_bytes.h, server/ledger/history/hash_chain.h and
server/ledger/history/entry_payload.h describe; nothing here is shared with the C++ code.
"""
import hashlib
import json
import struct
import sys

NO_HASH = bytes(32)


class Contradiction(Exception):
    """What contradicts what, in words."""


# What changes no account.
OTHER_KINDS = ("SEALED", "EQUAL_CONTENT", "ARCHIVED", "GRANTED", "REVOKED", "RULES_SET", "RELEASE_SHARED", "OWNER_ACTION",
               "LIMIT_REQUESTED", "LIMIT_REJECTED", "LIMIT_WITHDRAWN", "LIMIT_TAKEN_UP", "OWNER_LOOKED", "IMPORT_UNDONE",
               "DATASET_DELETED")


class Document:
    """Reads one canonical document: integers of 8 bytes, texts after their length, a tag and a version first."""

    def __init__(self, data, tag, versions=(1,)):
        self.data = data
        self.position = 0
        if self.text() != tag:
            raise Contradiction(f"a payload is no {tag}")
        self.version = self.integer()
        if self.version not in versions:
            raise Contradiction(f"a payload is {tag} of the unknown version {self.version}")

    def integer(self):
        if len(self.data) - self.position < 8:
            raise Contradiction("a payload ends too early")
        (value,) = struct.unpack_from(">q", self.data, self.position)
        self.position += 8
        return value

    def bytes(self):
        length = self.integer()
        if not 0 <= length <= len(self.data) - self.position:
            raise Contradiction("a payload has a text beyond its end")
        self.position += length
        return self.data[self.position - length:self.position]

    def text(self):
        return self.bytes().decode("utf-8", "replace")

    def list(self, read_item):
        return [read_item() for _ in range(self.integer())]

    def posting(self):
        return (self.integer(), self.text()), self.integer()

    def postings(self):
        return dict(self.list(self.posting))

    def end(self):
        if self.position != len(self.data):
            raise Contradiction("a payload has bytes left over")


def read_facts(document):
    """Version 2 ends with what is said for ever about the records: 1 for a domain from records, 2 for rows from a query."""
    if document.version == 2 and document.integer() not in (1, 2, 3):
        raise Contradiction("a payload has facts that are not known")


def write_integer(value):
    return struct.pack(">q", value)


def write_text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return write_integer(len(data)) + data


def entry_hash(entry):
    document = write_text("curator.ledger.entry") + write_integer(1)
    document += write_text(entry["dataset_id"]) + write_integer(entry["sequence"]) + write_text(entry["kind"])
    document += write_text(entry["charge_id"]) + write_text(bytes.fromhex(entry["payload"])) + write_text(entry["actor"])
    document += write_integer(entry["time_us"]) + write_text(bytes.fromhex(entry["previous_hash"]))
    return hashlib.sha256(document).digest()


class Ledger:
    """Accounts, balances and charges, as the entries make them."""

    def __init__(self):
        self.heads = {}  # dataset id -> (sequence, hash)
        self.last_kinds = {}  # dataset id -> the kind of its newest entry
        self.limits = {}  # (account id, counter) -> limit
        self.spent = {}
        self.held = {}
        self.charges = {}  # charge id -> [state, postings, whether the server draws for it]
        self.requests = set()  # (principal, request id)
        self.owners = {}  # by dataset id
        self.proposers = {}  # of limits, by the proposal's id
        self.bins = {}  # (dataset id, bin of its partition attribute) -> part
        self.parts = {}  # dataset id -> the version that sealed each part, by number; 0 for none

    def add(self, entry):
        is_deleted = self.last_kinds.get(entry["dataset_id"]) == "DATASET_DELETED"
        if is_deleted and entry["kind"] != "REPAIRED":
            raise Contradiction("follows the deletion of its dataset")
        self.check_link(entry)
        payload = bytes.fromhex(entry["payload"])
        kind = entry["kind"]
        if kind == "DATASET_CREATED":
            self.owners[entry["dataset_id"]] = entry["actor"]
            self.create_dataset(Document(payload, "curator.ledger.dataset_created", (1, 2)))
        elif kind == "ACCOUNT_OPENED":
            document = Document(payload, "curator.ledger.account_opened")
            self.open_account(document)
        elif kind == "PART_ADDED":
            self.add_part(entry["dataset_id"], Document(payload, "curator.ledger.part_added"))
        elif kind == "PART_SEALED":
            self.seal_part(entry["dataset_id"], Document(payload, "curator.ledger.part_sealed", (1, 2)))
        elif kind in ("CHARGED", "RESERVED"):
            self.charge(entry["charge_id"], kind, Document(payload, "curator.ledger.charge", (1, 2)))
        elif kind in ("STARTED", "EXTENDED", "COMMITTED", "EXPIRED", "CANCELLED", "FORFEITED"):
            self.change(entry["charge_id"], kind, Document(payload, "curator.ledger.charge_changed"))
        elif kind == "LIMIT_PROPOSED":
            self.proposers[Document(payload, "curator.ledger.limit").text()] = entry["actor"]
        elif kind == "LIMIT_CHANGED":
            self.change_limit(entry["actor"], Document(payload, "curator.ledger.limit", (1, 2)))
        elif kind == "PUBLISHED":
            self.publish(entry, Document(payload, "curator.ledger.published"))
        elif kind == "REPAIRED":
            self.repair(entry["actor"], Document(payload, "curator.ledger.repaired", (1, 2)))
        elif kind not in OTHER_KINDS:
            raise Contradiction(f"unknown kind of entry {kind}")

    def check_link(self, entry):
        sequence, head = self.heads.get(entry["dataset_id"], (0, NO_HASH))
        # A repair leaves out the numbers of entries that were lost.
        is_next = entry["sequence"] > sequence if entry["kind"] == "REPAIRED" else entry["sequence"] == sequence + 1
        if not is_next:
            raise Contradiction(f"entry {sequence + 1} is missing")
        if bytes.fromhex(entry["previous_hash"]) != head:
            raise Contradiction("does not continue the entry before it")
        # Earlier versions noted equal content after a seal. The note is withheld from all principals, because it may name
        # another's dataset; nothing else may be withheld in its place.
        is_withheld = entry["kind"] == "EQUAL_CONTENT" and not entry["payload"]
        follows_seal = self.last_kinds.get(entry["dataset_id"]) in ("SEALED", "PART_SEALED", "EQUAL_CONTENT")
        self.last_kinds[entry["dataset_id"]] = entry["kind"]
        if is_withheld and not follows_seal:
            raise Contradiction("is withheld, and follows no seal")
        if is_withheld:
            print(f"{entry['dataset_id']}: the content of entry {entry['sequence']} is withheld")
        elif entry_hash(entry) != bytes.fromhex(entry["hash"]):
            raise Contradiction("was edited: its content does not have its hash")
        self.heads[entry["dataset_id"]] = (entry["sequence"], bytes.fromhex(entry["hash"]))

    def create_dataset(self, document):
        for _ in range(4):  # name, owner, lineage, successor of
            document.text()
        document.bytes()  # schema hash
        document.text()  # neighbour relation
        document.text()  # privacy unit
        document.integer()  # records of a unit
        document.integer()  # public
        document.text()  # partition attribute
        document.list(lambda: self.open_account(document))
        read_facts(document)
        document.end()

    def open_account(self, document):
        account = document.integer()
        for _ in range(2):  # scope, key
            document.text()
        document.bytes()  # rule
        document.text()  # the rule's name
        for counter, limit in document.list(lambda: (document.text(), document.integer())):
            self.limits[account, counter] = limit
            self.spent[account, counter] = self.held[account, counter] = 0

    def add_part(self, dataset, document):
        number = document.integer()
        versions = self.parts.setdefault(dataset, [])
        if number != len(versions) + 1:
            raise Contradiction(f"part {number} is not the next one")
        versions.append(0)
        for part_bin in document.list(document.integer):
            if self.bins.setdefault((dataset, part_bin), number) != number:
                raise Contradiction(f"bin {part_bin} lies in two parts")
        self.open_account(document)
        document.end()

    def seal_part(self, dataset, document):
        number, version = document.integer(), document.integer()
        document.bytes()  # commitment to the content
        read_facts(document)
        document.end()
        versions = self.parts.get(dataset, [])
        if not 1 <= number <= len(versions) or versions[number - 1] != 0:
            raise Contradiction(f"part {number} cannot be sealed")
        if version != max(versions) + 1:
            raise Contradiction(f"sealing part {number} does not make version {version}")
        versions[number - 1] = version

    def charge(self, charge_id, kind, document):
        request = (document.text(), document.text())  # principal, request id
        document.bytes()  # fingerprint
        document.integer()  # dataset version
        document.text()  # kind of work
        document.bytes()  # event
        document.text()  # label
        document.integer()  # deadline
        postings = document.postings()
        # Version 2: what the server draws for the charge. One that is RESERVED is a queued draw, which costs nothing until it starts.
        is_draw = document.version == 2 and document.bytes() != b""
        document.end()
        if charge_id in self.charges:
            raise Contradiction(f"charge {charge_id} is made twice")
        if request in self.requests:
            raise Contradiction(f"request {request[1]} of {request[0]} is charged twice")
        self.requests.add(request)
        self.charges[charge_id] = ["RESERVED" if kind == "RESERVED" else "STARTED", postings, is_draw]
        self.post(postings, self.held if kind == "RESERVED" else self.spent, 1)

    def change(self, charge_id, kind, document):
        for _ in range(2):  # reason, release
            document.text()
        document.bytes()  # hash of the release
        document.integer()  # deadline
        final = document.postings()
        document.end()
        if charge_id not in self.charges:
            raise Contradiction(f"charge {charge_id} ends before it is made")
        state, postings, is_draw = self.charges[charge_id]
        allowed = {"RESERVED": ("STARTED", "EXTENDED", "EXPIRED", "CANCELLED", "COMMITTED"), "STARTED": ("COMMITTED", "FORFEITED")}
        ends_unstarted = state == "RESERVED" and kind in ("EXPIRED", "COMMITTED", "EXTENDED")
        if kind not in allowed.get(state, ()) or (is_draw and ends_unstarted):
            raise Contradiction(f"a charge that is {state} cannot become {kind}")
        if kind == "EXTENDED":
            return
        if state == "RESERVED":
            self.post(postings, self.held, -1)
            if kind == "STARTED":
                if any(cost > postings.get(key, 0) for key, cost in final.items()):
                    raise Contradiction("a final cost is above what was held")
                postings = final
            if kind != "CANCELLED":
                self.post(postings, self.spent, 1)
        self.charges[charge_id] = ["COMMITTED" if kind == "EXPIRED" else kind, postings, is_draw]

    def check_approval(self, document, actor, proposer):
        """An integer: 0 where another person approved, 1 where one person has custody of the server."""
        if document.integer() == 0 and actor == proposer:
            raise Contradiction("is approved by who proposed it, and does not say so")
        document.end()

    def publish(self, entry, document):
        self.check_approval(document, entry["actor"], self.owners[entry["dataset_id"]])

    def change_limit(self, actor, document):
        proposer = self.proposers.get(document.text())
        key = (document.integer(), document.text())
        old, new = document.integer(), document.integer()
        if self.limits.get(key) != old:
            raise Contradiction("a limit changes from what it was not")
        document.text()  # reason
        if document.version == 2:
            self.check_approval(document, actor, proposer)
        elif actor == proposer:
            raise Contradiction("a limit is approved by who proposed it")
        self.limits[key] = new
        self.check_limit(key)

    def repair(self, actor, document):
        document.text()  # reason
        for _ in range(2):  # the last entry that was kept, the one that the anchor knew
            document.integer()
        document.bytes()  # its hash
        raised = document.list(
            lambda: ((document.integer(), document.text()), document.integer(), document.integer(), document.integer()))
        document.list(document.text)  # lost charges that were counted by their receipts
        if document.version == 2:
            proposer = document.text()
            self.check_approval(document, actor, proposer)
        document.end()
        for key, _, old_limit, new_limit in raised:
            if self.limits.get(key) != old_limit or new_limit < old_limit:
                raise Contradiction("a repair changes a limit from what it was not")
            self.limits[key] = new_limit
        for key, amount, _, _ in raised:
            self.post({key: amount}, self.spent, 1)

    def post(self, postings, balances, sign):
        for key, cost in postings.items():
            if key not in self.limits or cost < 0:
                raise Contradiction(f"a posting to account {key[0]}, counter {key[1]}, that cannot be")
            balances[key] += sign * cost
            self.check_limit(key)

    def check_limit(self, key):
        if self.held[key] < 0 or self.spent[key] + self.held[key] > self.limits[key]:
            raise Contradiction(f"account {key[0]}, counter {key[1]}: spent and held exceed the limit")


def main(paths):
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    ledger = Ledger()
    entries = 0
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    ledger.add(json.loads(line))
                    entries += 1
                except (Contradiction, ValueError, KeyError, TypeError) as error:
                    print(f"{path}, line {number}: {error}")
                    return 1
    for dataset, (sequence, head) in sorted(ledger.heads.items()):
        print(f"dataset {dataset}: {sequence} entries, head {head.hex()}")
    for key in sorted(ledger.limits):
        print(f"account {key[0]} {key[1]}: limit {ledger.limits[key]}, spent {ledger.spent[key]}, held {ledger.held[key]}")
    print(f"{entries} entries hold")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
