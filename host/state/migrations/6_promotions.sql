-- The ledger of promotions. Entries are chained by their hashes and only ever appended.
CREATE TABLE domesday.promotions (
    sequence  bigint PRIMARY KEY CHECK (sequence > 0),
    previous  bytea  NOT NULL CHECK (length(previous) = 32),
    -- Canonical JSON, to the byte: the hash covers it.
    entry     text   NOT NULL,
    hash      bytea  NOT NULL UNIQUE CHECK (length(hash) = 32),
    signer    text   NOT NULL,
    signature text   NOT NULL
);
