-- The last batch of charges of each running host, so that a host whose connection broke learns
-- whether its batch was made. Rows of hosts that ended are removed by a host that starts.
CREATE TABLE domesday.charge_batches (
    host    uuid    PRIMARY KEY,
    batch   bigint  NOT NULL,
    -- Which of its charges were made; none where the batch was given up.
    granted boolean[],
    -- When, by the database's own clock.
    made    timestamptz NOT NULL
) WITH (fillfactor = 20);

-- A host's next batch, whole or not at all. A batch that was given up is refused, however late its
-- statement arrives.
CREATE FUNCTION domesday.charge_batch(
    source uuid, number bigint,
    tenants text[], months integer[], units bigint[], rooms bigint[]
) RETURNS TABLE (granted boolean, total bigint) LANGUAGE plpgsql AS $$
DECLARE
    outcomes boolean[] := '{}';
BEGIN
    FOR granted, total IN
        SELECT c.granted, c.total FROM domesday.charge(tenants, months, units, rooms) AS c
    LOOP
        outcomes := outcomes || granted;
        RETURN NEXT;
    END LOOP;
    INSERT INTO domesday.charge_batches AS b (host, batch, granted, made)
    VALUES (source, number, outcomes, now())
    ON CONFLICT (host) DO UPDATE
       SET batch = EXCLUDED.batch, granted = EXCLUDED.granted, made = EXCLUDED.made
     WHERE b.batch < EXCLUDED.batch;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'batch % of charges was given up', number;
    END IF;
END
$$;

-- The charges that a batch made, or null where it made none and never will: it is given up.
CREATE FUNCTION domesday.settle_batch(source uuid, number bigint)
RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
    outcomes boolean[];
BEGIN
    -- Waits for a statement of the batch that is about to commit.
    INSERT INTO domesday.charge_batches AS b (host, batch, made)
    VALUES (source, number, now())
    ON CONFLICT (host) DO UPDATE
       SET batch = EXCLUDED.batch, granted = NULL, made = EXCLUDED.made
     WHERE b.batch < EXCLUDED.batch;
    IF NOT FOUND THEN
        SELECT b.granted INTO outcomes FROM domesday.charge_batches AS b
         WHERE b.host = source AND b.batch = number;
    END IF;
    RETURN outcomes;
END
$$;
