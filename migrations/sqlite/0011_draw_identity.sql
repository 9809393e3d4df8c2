-- What the server draws for a charge, as a hash: equal requests have equal draws only where it is equal. Null for mechanisms that run
-- outside, and for charges made before this migration. A reserved charge that has one is a queued draw: nothing was read for it.
ALTER TABLE charges ADD COLUMN draw_identity BLOB;
