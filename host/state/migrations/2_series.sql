-- Market statistics and rates: their promoted releases, and the secrets of cursors.
ALTER TABLE domesday.service
    ADD COLUMN promoted_markets     text,
    ADD COLUMN promoted_rates       text,
    ADD COLUMN cursor_secret        bytea CHECK (length(cursor_secret) = 32),
    ADD COLUMN cursor_secret_before bytea CHECK (length(cursor_secret_before) = 32);
