-- What each counter had after the last change in a second, for charts of budgets: as many rows as there are seconds with changes,
-- whatever the number of charges in them. Written by whatever changes a counter, in the same statement. Where the clock goes back,
-- the newest second is written again, so that the newest point is always the counter's present state.
CREATE TABLE counter_points (
  account_id BIGINT NOT NULL,
  counter TEXT COLLATE "C" NOT NULL,
  second BIGINT NOT NULL,
  spent BIGINT NOT NULL,
  held BIGINT NOT NULL,
  limit_value BIGINT NOT NULL,
  PRIMARY KEY (account_id, counter, second)
);

-- A ledger of an earlier version has no points of what came before.
INSERT INTO counter_points (account_id, counter, second, spent, held, limit_value)
  SELECT account_id, counter, CAST(floor(EXTRACT(EPOCH FROM clock_timestamp())) AS BIGINT), spent, held, limit_value
  FROM account_counters;

CREATE FUNCTION leave_counter_points() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO counter_points (account_id, counter, second, spent, held, limit_value)
    SELECT c.account_id, c.counter,
      GREATEST(CAST(floor(EXTRACT(EPOCH FROM clock_timestamp())) AS BIGINT),
               (SELECT max(p.second) FROM counter_points p WHERE p.account_id = c.account_id AND p.counter = c.counter)),
      c.spent, c.held, c.limit_value
    FROM changed c
    ON CONFLICT (account_id, counter, second)
    DO UPDATE SET spent = excluded.spent, held = excluded.held, limit_value = excluded.limit_value;
  RETURN NULL;
END
$body$;
CREATE TRIGGER counters_begin_with_a_point AFTER INSERT ON account_counters REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION leave_counter_points();
CREATE TRIGGER counters_leave_points AFTER UPDATE ON account_counters REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION leave_counter_points();

DO $roles$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT SELECT, INSERT ON counter_points TO curator_application;
    GRANT UPDATE (spent, held, limit_value) ON counter_points TO curator_application;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON counter_points TO curator_auditor;
  END IF;
END
$roles$;
