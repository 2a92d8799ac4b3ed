-- The keys under which receipts of tenants' valuations are sealed. A row that is deleted makes them unreadable.
CREATE TABLE domesday.receipt_keys (
    tenant text  COLLATE "C" PRIMARY KEY REFERENCES domesday.tenants,
    key    bytea NOT NULL CHECK (length(key) = 32)
);
