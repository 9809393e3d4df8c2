-- Where a charge's own entry lies, so that its receipt finds it at once. Null for charges made before this migration, whose entry
-- is found by their id.
ALTER TABLE charges ADD COLUMN entry_seq INTEGER;
