-- The entries of one principal's charges: whoever sees only these reads as many rows as it is shown, also of a long history.
CREATE INDEX entries_of_charges ON entries (dataset_id, actor, seq) WHERE charge_id <> '';
