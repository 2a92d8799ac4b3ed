-- Units of a tenant's month that a shard may charge by itself. Each running host has a shard, so
-- that hosts do not wait for each other's commits.
--
-- `usage.used` and `usage.entered` hold the free units of all shards as if they were used. So the
-- units used are `usage.used` less the free ones, and the limit holds for whoever looks at
-- `usage.used` alone, as a statement of the version before that is under way here.
CREATE TABLE domesday.usage_shards (
    tenant  text     COLLATE "C" NOT NULL,
    month   integer  NOT NULL,
    shard   smallint NOT NULL,
    -- Units that it may still charge.
    free    bigint   NOT NULL CHECK (free >= 0),
    -- Units that it charged and did not give back. It gives back no more by itself, so that all
    -- shards together never go below zero.
    charged bigint   NOT NULL CHECK (charged >= 0),
    PRIMARY KEY (tenant, month, shard)
) WITH (fillfactor = 20);

-- The units used.
CREATE VIEW domesday.used_units AS
SELECT u.tenant, u.month, u.used - coalesce((
           SELECT sum(s.free) FROM domesday.usage_shards AS s
            WHERE s.tenant = u.tenant AND s.month = u.month), 0)::bigint AS used
  FROM domesday.usage AS u;

-- The shard of a host; none before its first batch.
ALTER TABLE domesday.charge_batches ADD COLUMN shard smallint;

-- As `charge_with_entries`, in the shard `place`, or in none. Where the free units of other shards
-- decide, it needs to be `alone` with the tenant's month, and fails with DM001 if it is not.
--
-- Locks of a tenant's month are taken in this order: the month, shared or alone; the shard; the
-- row of `usage`. A number of an entry is drawn while the shard, or in none the row of `usage`, is
-- locked. So rows of a shard are committed in the order of their numbers, and the upper bits of a
-- number are the shard's.
CREATE FUNCTION domesday.charge_in_shard(
    place smallint, alone boolean,
    tenants text[], months integer[], units bigint[], rooms bigint[],
    counts integer[], ats bigint[], kinds smallint[], ids uuid[], parts bigint[]
) RETURNS TABLE (granted boolean, total bigint) LANGUAGE plpgsql AS $$
DECLARE
    first   integer := 1;
    last    integer;
    made    bigint;
    rest    bigint;
    -- `usage.used`, once its row is locked.
    counted bigint;
    -- The units that no shard holds or charged.
    direct  bigint;
    slice   bigint;
    shares  bigint[];
BEGIN
    FOR i IN 1 .. coalesce(array_length(tenants, 1), 0) LOOP
        last := first + counts[i] - 1;
        shares := parts[first:last];
        made := units[i];
        IF i = 1 OR tenants[i] <> tenants[i - 1] OR months[i] <> months[i - 1] THEN
            IF alone THEN
                PERFORM pg_advisory_xact_lock(hashtextextended(tenants[i], months[i]));
            ELSE
                PERFORM pg_advisory_xact_lock_shared(hashtextextended(tenants[i], months[i]));
            END IF;
        END IF;
        UPDATE domesday.usage_shards AS s SET free = s.free - made, charged = s.charged + made
          FROM domesday.usage AS u
         WHERE s.tenant = tenants[i] AND s.month = months[i] AND s.shard = place
           AND u.tenant = tenants[i] AND u.month = months[i]
           AND s.free >= made AND s.charged + made >= 0
           AND (made <= 0 OR u.used <= rooms[i] + made)
        RETURNING u.used + made - (
            SELECT sum(o.free) FROM domesday.usage_shards AS o
             WHERE o.tenant = tenants[i] AND o.month = months[i]) INTO total;
        granted := FOUND;
        IF NOT granted THEN
            SELECT w.used INTO total FROM domesday.used_units AS w
             WHERE w.tenant = tenants[i] AND w.month = months[i];
            IF total IS NULL THEN
                total := 0;
                IF made > 0 AND rooms[i] >= 0 THEN
                    INSERT INTO domesday.usage (tenant, month, used)
                    VALUES (tenants[i], months[i], 0) ON CONFLICT DO NOTHING;
                ELSIF made <= 0 THEN
                    made := 0;
                    granted := true;
                END IF;
            END IF;
        END IF;
        IF NOT granted AND (made <= 0 OR total <= rooms[i]) THEN
            IF place IS NOT NULL THEN
                INSERT INTO domesday.usage_shards (tenant, month, shard, free, charged)
                VALUES (tenants[i], months[i], place, 0, 0) ON CONFLICT DO NOTHING;
                PERFORM 1 FROM domesday.usage_shards AS s
                  WHERE s.tenant = tenants[i] AND s.month = months[i] AND s.shard = place
                    FOR UPDATE;
            END IF;
            SELECT u.used INTO counted FROM domesday.usage AS u
             WHERE u.tenant = tenants[i] AND u.month = months[i] FOR UPDATE;
            -- Nobody else changes the direct units while the row is locked.
            SELECT counted - coalesce(sum(s.free + s.charged), 0) INTO direct
              FROM domesday.usage_shards AS s
             WHERE s.tenant = tenants[i] AND s.month = months[i];
            IF (made > 0 AND counted > rooms[i]) OR (made <= 0 AND direct + made < 0) THEN
                IF NOT alone THEN
                    RAISE EXCEPTION 'the units of other shards decide' USING ERRCODE = 'DM001';
                END IF;
                SELECT coalesce(sum(s.free), 0) INTO rest FROM domesday.usage_shards AS s
                 WHERE s.tenant = tenants[i] AND s.month = months[i];
                UPDATE domesday.usage_shards AS s SET free = 0, charged = 0
                 WHERE s.tenant = tenants[i] AND s.month = months[i];
                counted := counted - rest;
                UPDATE domesday.usage AS u SET used = counted, entered = u.entered - rest
                 WHERE u.tenant = tenants[i] AND u.month = months[i];
            END IF;
            total := counted;
            granted := made <= 0 OR counted <= rooms[i];
            slice := 0;
            IF made > 0 AND granted THEN
                IF place IS NOT NULL THEN
                    -- The last units of a month are in no shard.
                    slice := least((rooms[i] - counted) / 64, 65536);
                    UPDATE domesday.usage_shards AS s
                       SET free = s.free + slice, charged = s.charged + made
                     WHERE s.tenant = tenants[i] AND s.month = months[i] AND s.shard = place;
                END IF;
            ELSIF made < -counted THEN
                -- Fewer units are used than are to be given back: the first entries get them.
                made := -counted;
                rest := made;
                FOR j IN 1 .. counts[i] LOOP
                    shares[j] := greatest(shares[j], rest);
                    rest := rest - shares[j];
                END LOOP;
            END IF;
            IF granted AND made <> 0 THEN
                UPDATE domesday.usage AS u
                   SET used = u.used + made + slice, entered = u.entered + made + slice
                 WHERE u.tenant = tenants[i] AND u.month = months[i];
                SELECT w.used INTO total FROM domesday.used_units AS w
                 WHERE w.tenant = tenants[i] AND w.month = months[i];
            END IF;
        END IF;
        IF granted AND made <> 0 THEN
            INSERT INTO domesday.usage_entries (month, tenant, number, ats, kinds, ids, units)
            OVERRIDING SYSTEM VALUE
            VALUES (months[i], tenants[i],
                    nextval('domesday.usage_entries_number_seq')
                        + coalesce(place + 1, 0) * 281474976710656,
                    ats[first:last], kinds[first:last], ids[first:last], shares);
        END IF;
        first := last + 1;
        RETURN NEXT;
    END LOOP;
END
$$;

-- Charges in a shard, and alone with each tenant's month where that is needed. What failed has
-- given its locks back by then, or two that want to be alone would wait for each other.
CREATE FUNCTION domesday.charge_shared_or_alone(
    place smallint,
    tenants text[], months integer[], units bigint[], rooms bigint[],
    counts integer[], ats bigint[], kinds smallint[], ids uuid[], parts bigint[]
) RETURNS TABLE (granted boolean, total bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT * FROM domesday.charge_in_shard(
        place, false, tenants, months, units, rooms, counts, ats, kinds, ids, parts);
EXCEPTION WHEN SQLSTATE 'DM001' THEN
    RETURN QUERY SELECT * FROM domesday.charge_in_shard(
        place, true, tenants, months, units, rooms, counts, ats, kinds, ids, parts);
END
$$;

-- Hosts of the version before call these two by the same names and arguments.
CREATE OR REPLACE FUNCTION domesday.charge_with_entries(
    tenants text[], months integer[], units bigint[], rooms bigint[],
    counts integer[], ats bigint[], kinds smallint[], ids uuid[], parts bigint[]
) RETURNS TABLE (granted boolean, total bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT * FROM domesday.charge_shared_or_alone(
        NULL, tenants, months, units, rooms, counts, ats, kinds, ids, parts);
END
$$;

CREATE OR REPLACE FUNCTION domesday.charge_batch_with_entries(
    source uuid, number bigint,
    tenants text[], months integer[], units bigint[], rooms bigint[],
    counts integer[], ats bigint[], kinds smallint[], ids uuid[], parts bigint[]
) RETURNS TABLE (granted boolean, total bigint) LANGUAGE plpgsql AS $$
DECLARE
    outcomes boolean[] := '{}';
    place    smallint;
BEGIN
    SELECT b.shard INTO place FROM domesday.charge_batches AS b WHERE b.host = source;
    IF place IS NULL THEN
        -- The shard that the fewest hosts use, or else nobody used for longest. Hosts that start at
        -- once take turns.
        PERFORM pg_advisory_xact_lock(1685024102, 0);
        SELECT n INTO place FROM generate_series(0, 15) AS n
          LEFT JOIN domesday.charge_batches AS b ON b.shard = n
         GROUP BY n
         ORDER BY count(*) FILTER (WHERE b.made > now() - '1 minute'::interval),
                  max(b.made) NULLS FIRST, n
         LIMIT 1;
    END IF;
    FOR granted, total IN
        SELECT c.granted, c.total FROM domesday.charge_shared_or_alone(
            place, tenants, months, units, rooms, counts, ats, kinds, ids, parts) AS c
    LOOP
        outcomes := outcomes || granted;
        RETURN NEXT;
    END LOOP;
    INSERT INTO domesday.charge_batches AS b (host, batch, granted, made, shard)
    VALUES (source, number, outcomes, now(), place)
    ON CONFLICT (host) DO UPDATE
       SET batch = EXCLUDED.batch, granted = EXCLUDED.granted, made = EXCLUDED.made,
           shard = EXCLUDED.shard
     WHERE b.batch < EXCLUDED.batch;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'batch % of charges was given up', number;
    END IF;
END
$$;
