-- A foreign key is checked row by row, each time by a query of its own: half of what a charge cost. Charges come in
-- batches, whose rows name the same dataset and the same counters, so these four references are checked once for each
-- statement instead. What they refer to is never deleted (below), nor does its key change (a trigger refuses it), which is
-- all that the foreign keys did besides.

ALTER TABLE charges DROP CONSTRAINT charges_dataset_id_fkey;
ALTER TABLE postings DROP CONSTRAINT postings_charge_id_fkey;
ALTER TABLE postings DROP CONSTRAINT postings_account_id_counter_fkey;
ALTER TABLE entries DROP CONSTRAINT entries_dataset_id_fkey;

CREATE FUNCTION refuse_rows_without_dataset() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF EXISTS (SELECT 1 FROM (SELECT DISTINCT dataset_id FROM inserted) AS i
             WHERE NOT EXISTS (SELECT 1 FROM datasets d WHERE d.id = i.dataset_id)) THEN
    RAISE foreign_key_violation USING MESSAGE = 'a row names a dataset that does not exist';
  END IF;
  RETURN NULL;
END
$body$;

CREATE FUNCTION refuse_postings_to_nothing() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF EXISTS (SELECT 1 FROM inserted i WHERE NOT EXISTS (SELECT 1 FROM charges c WHERE c.id = i.charge_id))
     OR EXISTS (SELECT 1 FROM (SELECT DISTINCT account_id, counter FROM inserted) AS i
                WHERE NOT EXISTS (SELECT 1 FROM account_counters c
                                  WHERE c.account_id = i.account_id AND c.counter = i.counter)) THEN
    RAISE foreign_key_violation USING MESSAGE = 'a posting names a charge or a counter that does not exist';
  END IF;
  RETURN NULL;
END
$body$;

CREATE TRIGGER charges_have_a_dataset AFTER INSERT ON charges REFERENCING NEW TABLE AS inserted
FOR EACH STATEMENT EXECUTE FUNCTION refuse_rows_without_dataset();
CREATE TRIGGER entries_have_a_dataset AFTER INSERT ON entries REFERENCING NEW TABLE AS inserted
FOR EACH STATEMENT EXECUTE FUNCTION refuse_rows_without_dataset();
CREATE TRIGGER postings_have_a_charge_and_a_counter AFTER INSERT ON postings REFERENCING NEW TABLE AS inserted
FOR EACH STATEMENT EXECUTE FUNCTION refuse_postings_to_nothing();

CREATE FUNCTION refuse_losing_what_is_referred_to() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  RAISE EXCEPTION 'rows of % are never deleted, and their keys never change', TG_TABLE_NAME;
END
$body$;
CREATE TRIGGER datasets_are_never_deleted BEFORE DELETE OR TRUNCATE ON datasets
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();
CREATE TRIGGER datasets_keep_their_ids BEFORE UPDATE OF id ON datasets
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();
CREATE TRIGGER charges_are_never_deleted BEFORE DELETE OR TRUNCATE ON charges
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();
CREATE TRIGGER charges_keep_their_ids BEFORE UPDATE OF id, dataset_id ON charges
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();
CREATE TRIGGER counters_are_never_deleted BEFORE DELETE OR TRUNCATE ON account_counters
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();
CREATE TRIGGER counters_keep_their_keys BEFORE UPDATE OF account_id, counter ON account_counters
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();
CREATE TRIGGER postings_keep_their_references BEFORE UPDATE OF charge_id, account_id, counter ON postings
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();

-- While a table is small the planner cannot tell an index that finds one row from one that finds many: it takes the
-- newest, and a prepared statement keeps that choice while the table grows. The key by which every charge is looked up
-- has to be the newest.
ALTER TABLE charges DROP CONSTRAINT charges_principal_request_id_key;
ALTER TABLE charges ADD CONSTRAINT charges_principal_request_id_key UNIQUE (principal, request_id);
