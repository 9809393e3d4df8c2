-- Rises with each change of what a request has to know about the dataset: its state, parts, grants, and the accounts of its lineage.
-- Charges leave it as it is, so that what is cached about the dataset can be compared with it.
ALTER TABLE chain_heads ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
