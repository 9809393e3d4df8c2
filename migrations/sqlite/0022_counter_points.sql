-- What each counter had after the last change in a second, for charts of budgets: as many rows as there are seconds with changes,
-- whatever the number of charges in them. Written by whatever changes a counter, in the same statement. Where the clock goes back,
-- the newest second is written again, so that the newest point is always the counter's present state.
CREATE TABLE counter_points (
  account_id INTEGER NOT NULL,
  counter TEXT NOT NULL,
  second INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  held INTEGER NOT NULL,
  limit_value INTEGER NOT NULL,
  PRIMARY KEY (account_id, counter, second)
) STRICT, WITHOUT ROWID;

-- A ledger of an earlier version has no points of what came before.
INSERT INTO counter_points (account_id, counter, second, spent, held, limit_value)
  SELECT account_id, counter, CAST((julianday('now') - 2440587.5) * 86400.0 AS INTEGER), spent, held, limit_value
  FROM account_counters;

CREATE TRIGGER counters_begin_with_a_point AFTER INSERT ON account_counters
BEGIN
  INSERT INTO counter_points (account_id, counter, second, spent, held, limit_value)
    VALUES (NEW.account_id, NEW.counter, CAST((julianday('now') - 2440587.5) * 86400.0 AS INTEGER), NEW.spent, NEW.held,
            NEW.limit_value);
END;

CREATE TRIGGER counters_leave_points AFTER UPDATE OF spent, held, limit_value ON account_counters
BEGIN
  INSERT INTO counter_points (account_id, counter, second, spent, held, limit_value)
    VALUES (NEW.account_id, NEW.counter,
            max(CAST((julianday('now') - 2440587.5) * 86400.0 AS INTEGER),
                coalesce((SELECT max(second) FROM counter_points WHERE account_id = NEW.account_id AND counter = NEW.counter), 0)),
            NEW.spent, NEW.held, NEW.limit_value)
    ON CONFLICT (account_id, counter, second)
    DO UPDATE SET spent = excluded.spent, held = excluded.held, limit_value = excluded.limit_value;
END;
