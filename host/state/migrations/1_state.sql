-- Everything lies in a schema of its own. Times are milliseconds since 1970 UTC, months are
-- year * 12 + month - 1, and text that is compared or ordered is so by its bytes.

-- One row: what operators switched, and the number of the last change to it, a tenant or a key.
-- Whoever changes one of these locks this row first, so that changes commit in the order of their
-- numbers, and a host that saw a number saw every lower one.
CREATE TABLE domesday.service (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    version     bigint  NOT NULL,
    jobs_paused boolean NOT NULL,
    promoted    text
);
INSERT INTO domesday.service (version, jobs_paused) VALUES (0, false);

CREATE TABLE domesday.tenants (
    id         text COLLATE "C" PRIMARY KEY,
    plan       jsonb   NOT NULL,
    enabled    boolean NOT NULL,
    created_at bigint  NOT NULL,
    version    bigint  NOT NULL
);
CREATE INDEX ON domesday.tenants (version);

CREATE TABLE domesday.keys (
    id                        bytea   PRIMARY KEY CHECK (length(id) = 8),
    tenant                    text    COLLATE "C" NOT NULL REFERENCES domesday.tenants,
    label                     text    NOT NULL,
    scopes                    text[]  NOT NULL,
    requires_metric_selection boolean NOT NULL,
    created_at                bigint  NOT NULL,
    expires_at                bigint,
    revoked_at                bigint,
    digest                    bytea   NOT NULL CHECK (length(digest) = 32),
    version                   bigint  NOT NULL
);
CREATE INDEX ON domesday.keys (tenant);
CREATE INDEX ON domesday.keys (version);

-- Rows are few and change all the time: room in each page keeps the changes in it.
CREATE TABLE domesday.usage (
    tenant text    COLLATE "C" NOT NULL,
    month  integer NOT NULL,
    used   bigint  NOT NULL CHECK (used >= 0),
    PRIMARY KEY (tenant, month)
) WITH (fillfactor = 20);

CREATE TABLE domesday.jobs (
    id               uuid    PRIMARY KEY,
    number           bigint  GENERATED ALWAYS AS IDENTITY,
    tenant           text    COLLATE "C" NOT NULL,
    mode             text    NOT NULL,
    status           text    NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed')),
    release_id       text    NOT NULL,
    request_count    bigint  NOT NULL,
    created_at       bigint  NOT NULL,
    updated_at       bigint  NOT NULL,
    expires_at       bigint  NOT NULL,
    chunks           bigint  NOT NULL,
    valued           bigint  NOT NULL DEFAULT 0,
    referred         bigint  NOT NULL DEFAULT 0,
    rejected         bigint  NOT NULL DEFAULT 0,
    valuation_failed bigint  NOT NULL DEFAULT 0,
    error_code       text,
    error_message    text,
    error_retryable  boolean,
    shared           bytea   NOT NULL,
    month            integer NOT NULL,
    -- The first chunk without results, and how often it was begun.
    next             bigint  NOT NULL DEFAULT 0,
    attempts         bigint  NOT NULL DEFAULT 0,
    fence            bigint  NOT NULL DEFAULT 0,
    -- None while nobody works on it.
    lease_until      bigint,
    -- Of inputs that are still here, and of results.
    bytes            bigint  NOT NULL,
    -- Its rows and results are gone; this row stands for its key.
    gone             boolean NOT NULL DEFAULT false
);
CREATE INDEX ON domesday.jobs (tenant, number) WHERE NOT gone;
CREATE INDEX ON domesday.jobs (number) WHERE status IN ('queued', 'running') AND NOT gone;
CREATE INDEX ON domesday.jobs (expires_at) WHERE NOT gone;

CREATE TABLE domesday.chunks (
    job    uuid   NOT NULL REFERENCES domesday.jobs ON DELETE CASCADE,
    chunk  bigint NOT NULL,
    rows   bigint NOT NULL,
    units  bigint NOT NULL,
    input  bytea,
    output bytea,
    PRIMARY KEY (job, chunk)
);

-- Keys of submissions. A row without a job is a tombstone, and stays for ever.
CREATE TABLE domesday.submissions (
    tenant     text   COLLATE "C" NOT NULL,
    key        text   COLLATE "C" NOT NULL,
    digest     bytea  NOT NULL,
    created_at bigint NOT NULL,
    job        uuid   REFERENCES domesday.jobs,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX ON domesday.submissions (job);
CREATE INDEX ON domesday.submissions (created_at) WHERE job IS NOT NULL;

-- Fencing numbers, each higher than all before it, of whatever job.
CREATE SEQUENCE domesday.fence;

-- When a tenant last had its turn; the lower the number, the sooner the next.
CREATE SEQUENCE domesday.turn;
CREATE TABLE domesday.turns (
    tenant text   COLLATE "C" PRIMARY KEY,
    turn   bigint NOT NULL
);

-- Written only to learn whether writing works again.
CREATE TABLE domesday.probe (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    probed bigint  NOT NULL
);
INSERT INTO domesday.probe (probed) VALUES (0);

-- Charges of many tenants and months, one after the other, each whole or not at all: units are
-- added where no more than `rooms` are used already. Negative units are given back, whatever is
-- used, and never go below zero. To be called in the order of tenants and months, since every row
-- stays locked to the end of the transaction.
CREATE FUNCTION domesday.charge(
    tenants text[], months integer[], units bigint[], rooms bigint[]
) RETURNS TABLE (granted boolean, total bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. coalesce(array_length(tenants, 1), 0) LOOP
        LOOP
            UPDATE domesday.usage AS u
               SET used = greatest(u.used + units[i], 0)
             WHERE u.tenant = tenants[i] AND u.month = months[i]
               AND (units[i] <= 0 OR u.used <= rooms[i])
            RETURNING u.used INTO total;
            granted := FOUND;
            EXIT WHEN granted;
            SELECT u.used INTO total FROM domesday.usage AS u
             WHERE u.tenant = tenants[i] AND u.month = months[i];
            EXIT WHEN FOUND;
            INSERT INTO domesday.usage (tenant, month, used)
            VALUES (tenants[i], months[i], 0) ON CONFLICT DO NOTHING;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END
$$;
