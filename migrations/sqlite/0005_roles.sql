-- Nothing to do here: a SQLite file has no roles; who may open it is a matter of the file system. The step exists because
-- every store takes the same steps.
SELECT 1;
