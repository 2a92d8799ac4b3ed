-- The ledger of units: the entries of each change of a month's count, a row a change. A row's
-- number is drawn while the count is locked, so that rows of a tenant's month are committed in the
-- order of their numbers, and whoever saw one saw every lower one.
CREATE TABLE domesday.usage_entries (
    month  integer    NOT NULL,
    tenant text       COLLATE "C" NOT NULL,
    number bigint     GENERATED ALWAYS AS IDENTITY,
    -- Of each entry: the time, the kind, the request or job, and the units; negative given back.
    ats    bigint[]   NOT NULL,
    kinds  smallint[] NOT NULL,
    ids    uuid[]     NOT NULL,
    units  bigint[]   NOT NULL,
    PRIMARY KEY (month, tenant, number)
) WITH (toast_tuple_target = 8160);

-- The sum of a month's entries. The difference to `used` has none: units of before the ledger, and
-- those that hosts of the version before charge by the functions that they know.
ALTER TABLE domesday.usage ADD COLUMN entered bigint NOT NULL DEFAULT 0;

-- As `charge`, with entries: `counts` is how many of the entries, which follow each other, are of
-- each change. The entries of a change add up to it.
CREATE FUNCTION domesday.charge_with_entries(
    tenants text[], months integer[], units bigint[], rooms bigint[],
    counts integer[], ats bigint[], kinds smallint[], ids uuid[], parts bigint[]
) RETURNS TABLE (granted boolean, total bigint) LANGUAGE plpgsql AS $$
DECLARE
    first  integer := 1;
    last   integer;
    made   bigint;
    rest   bigint;
    shares bigint[];
BEGIN
    FOR i IN 1 .. coalesce(array_length(tenants, 1), 0) LOOP
        last := first + counts[i] - 1;
        shares := parts[first:last];
        made := units[i];
        IF made <= 0 THEN
            SELECT u.used INTO total FROM domesday.usage AS u
             WHERE u.tenant = tenants[i] AND u.month = months[i] FOR UPDATE;
            total := coalesce(total, 0);
            IF made < -total THEN
                -- Fewer units are used than are to be given back: the first entries get them.
                made := -total;
                rest := made;
                FOR j IN 1 .. counts[i] LOOP
                    shares[j] := greatest(shares[j], rest);
                    rest := rest - shares[j];
                END LOOP;
            END IF;
            UPDATE domesday.usage AS u SET used = u.used + made, entered = u.entered + made
             WHERE u.tenant = tenants[i] AND u.month = months[i] AND made <> 0;
            total := total + made;
            granted := true;
        ELSE
            LOOP
                UPDATE domesday.usage AS u SET used = u.used + made, entered = u.entered + made
                 WHERE u.tenant = tenants[i] AND u.month = months[i] AND u.used <= rooms[i]
                RETURNING u.used INTO total;
                granted := FOUND;
                EXIT WHEN granted;
                SELECT u.used INTO total FROM domesday.usage AS u
                 WHERE u.tenant = tenants[i] AND u.month = months[i];
                EXIT WHEN total > rooms[i];
                INSERT INTO domesday.usage (tenant, month, used)
                VALUES (tenants[i], months[i], 0) ON CONFLICT DO NOTHING;
            END LOOP;
        END IF;
        IF granted AND made <> 0 THEN
            INSERT INTO domesday.usage_entries (month, tenant, ats, kinds, ids, units)
            VALUES (months[i], tenants[i], ats[first:last], kinds[first:last], ids[first:last],
                    shares);
        END IF;
        first := last + 1;
        RETURN NEXT;
    END LOOP;
END
$$;

-- As `charge_batch`, with entries.
CREATE FUNCTION domesday.charge_batch_with_entries(
    source uuid, number bigint,
    tenants text[], months integer[], units bigint[], rooms bigint[],
    counts integer[], ats bigint[], kinds smallint[], ids uuid[], parts bigint[]
) RETURNS TABLE (granted boolean, total bigint) LANGUAGE plpgsql AS $$
DECLARE
    outcomes boolean[] := '{}';
BEGIN
    FOR granted, total IN
        SELECT c.granted, c.total FROM domesday.charge_with_entries(
            tenants, months, units, rooms, counts, ats, kinds, ids, parts) AS c
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

-- The open jobs of each tenant, for claims: the first tenant, the next one, and the first job of
-- each are a step each.
CREATE INDEX ON domesday.jobs (tenant, number) WHERE status IN ('queued', 'running') AND NOT gone;
