-- A charge is refused only for a total that leaves no room for it. Another host can begin the month
-- between the two statements: the update met no row, the select meets one, and it may have room.
CREATE OR REPLACE FUNCTION domesday.charge(
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
            EXIT WHEN units[i] > 0 AND total > rooms[i];
            INSERT INTO domesday.usage (tenant, month, used)
            VALUES (tenants[i], months[i], 0) ON CONFLICT DO NOTHING;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END
$$;
