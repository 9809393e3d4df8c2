"""The verifier of exports accepts a withheld note where earlier versions wrote one, and nowhere else."""

import contextlib
import io
import unittest

import verify_ledger


def document(*values):
    write = {int: verify_ledger.write_integer, str: verify_ledger.write_text}
    return b"".join(write[type(value)](value) for value in values)


CREATED = ("DATASET_CREATED", document("curator.ledger.dataset_created", 1, "clinic", "olga", "", "", "", "ADD_REMOVE", "RECORD",
                                       1, 0, "", 0))
NOTE = document("curator.ledger.note", 1, "the other")
SEALED = ("SEALED", NOTE)


def export(kinds):
    """Entries that continue one another, of the given kinds and payloads."""
    entries = []
    previous = verify_ledger.NO_HASH
    for sequence, (kind, payload) in enumerate(kinds, 1):
        entry = {"dataset_id": "clinic", "sequence": sequence, "kind": kind, "charge_id": "", "payload": payload.hex(),
                 "actor": "olga", "time_us": 1, "previous_hash": previous.hex()}
        previous = verify_ledger.entry_hash(entry)
        entries.append(entry | {"hash": previous.hex()})
    return entries


def verify(entries):
    ledger = verify_ledger.Ledger()
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for entry in entries:
            ledger.add(entry)
    return said.getvalue()


class WithheldNotes(unittest.TestCase):
    def test_a_note_of_equal_content_may_be_withheld_after_a_seal(self):
        entries = export([CREATED, SEALED, ("EQUAL_CONTENT", NOTE), ("EQUAL_CONTENT", NOTE), ("GRANTED", NOTE)])
        self.assertEqual(verify(entries), "")
        for entry in entries[2:4]:
            entry["payload"] = ""
        self.assertIn("entry 4 is withheld", verify(entries))

    def test_another_entry_cannot_be_withheld_in_its_name(self):
        entries = export([CREATED, SEALED, ("GRANTED", NOTE), ("CHARGED", NOTE)])
        entries[3] |= {"kind": "EQUAL_CONTENT", "payload": ""}
        with self.assertRaisesRegex(verify_ledger.Contradiction, "follows no seal"):
            verify(entries)

    def test_no_other_content_is_withheld(self):
        entries = export([CREATED, SEALED, ("GRANTED", NOTE)])
        entries[2]["payload"] = ""
        with self.assertRaisesRegex(verify_ledger.Contradiction, "does not have its hash"):
            verify(entries)


if __name__ == "__main__":
    unittest.main()
