-- SQLite compares text byte by byte already.
--
-- The deadline of a reservation that is still open, so that no index names `state`, which every charge changes when it ends.
DROP INDEX charges_deadline;
ALTER TABLE charges ADD COLUMN open_until_us INTEGER
  GENERATED ALWAYS AS (CASE WHEN state = 'RESERVED' THEN deadline_us END) VIRTUAL;
CREATE INDEX charges_deadline ON charges (open_until_us, id) WHERE open_until_us IS NOT NULL;
