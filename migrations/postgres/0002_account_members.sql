-- Who belongs to the group of an ANALYST_GROUP account: written once, when the account is opened.
CREATE TABLE account_members (
  account_id BIGINT NOT NULL REFERENCES accounts (id),
  member TEXT NOT NULL,
  PRIMARY KEY (account_id, member)
);
