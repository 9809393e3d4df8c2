-- Nothing to do here: SQLite checks a foreign key by one look-up, which is cheap. The step exists because every store
-- takes the same steps.
SELECT 1;
