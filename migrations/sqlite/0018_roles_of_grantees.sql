-- What a grantee may do, and until when. Before, all of them could ask questions (1) and charge the dataset for what runs outside
-- of the server (2), for ever. A grant is never deleted: one that was taken away keeps its row, with what remains.
ALTER TABLE grants ADD COLUMN roles INTEGER NOT NULL DEFAULT 3;
ALTER TABLE grants ADD COLUMN expires_at_us INTEGER NOT NULL DEFAULT 0;
