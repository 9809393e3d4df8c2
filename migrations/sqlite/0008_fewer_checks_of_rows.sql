-- Nothing to do here: SQLite's checks of a row are cheap. The step exists because every store takes the same steps.
SELECT 1;
