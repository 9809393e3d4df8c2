-- What is checked once for each statement still costs each batch of charges. That an entry has a dataset its chain says, whose
-- head refers to it; an entry without one belongs to no chain, and nobody reads it. Postings are read by a parser that takes
-- nothing but what the program writes.
DROP TRIGGER entries_have_a_dataset ON entries;
ALTER TABLE charges DROP CONSTRAINT charges_postings_check;
