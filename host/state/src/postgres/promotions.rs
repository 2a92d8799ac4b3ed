//! The promotion ledger, which all hosts of a database share.

use std::sync::Arc;

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::PostgresState;
use super::error::{reading, writing};
use crate::promotions::next_record;
use crate::{
    LedgerHash, LedgerRecord, LedgerSigner, NewPromotion, Promotions, ReleaseKind, StateError,
};

const LEDGER: &str = "SELECT previous, entry, hash, signer, signature \
     FROM domesday.promotions ORDER BY sequence";
/// Its key follows the last one. A count of the rows would be the key of a later entry where a row
/// is missing.
const APPEND: &str = "INSERT INTO domesday.promotions \
     (sequence, previous, entry, hash, signer, signature) \
     SELECT coalesce(max(sequence), 0) + 1, $1, $2, $3, $4, $5 FROM domesday.promotions";

impl Promotions for PostgresState {
    fn promote(
        &self,
        promotion: NewPromotion,
        signer: Arc<dyn LedgerSigner>,
    ) -> Result<LedgerRecord, StateError> {
        let watched = Arc::clone(&self.watched);
        let statement = match promotion.kind {
            ReleaseKind::Valuation => "UPDATE domesday.service SET promoted = $1",
            ReleaseKind::Markets => "UPDATE domesday.service SET promoted_markets = $1",
            ReleaseKind::Rates => "UPDATE domesday.service SET promoted_rates = $1",
        };
        self.driver.wait(async move {
            let change = async |connection: &mut PgConnection, _| {
                // The lock of the service's row is held, so no other host appends meanwhile.
                let before = read_ledger(connection).await?;
                let release_id = promotion.release_id.clone();
                let record = next_record(&before, promotion, &*signer)?;
                append(connection, &record).await?;
                sqlx::query(statement)
                    .bind(release_id)
                    .execute(connection)
                    .await
                    .map_err(writing)?;
                Ok(record)
            };
            watched.alter(change).await
        })
    }

    fn promotions(&self) -> Result<Vec<LedgerRecord>, StateError> {
        let watched = Arc::clone(&self.watched);
        self.driver.wait(async move {
            watched.check_reachable("read")?;
            let read = async {
                let mut connection = watched.pool.acquire().await.map_err(reading)?;
                read_ledger(&mut connection).await
            };
            watched.record_outcome(read.await)
        })
    }
}

async fn read_ledger(connection: &mut PgConnection) -> Result<Vec<LedgerRecord>, StateError> {
    let rows = sqlx::query(LEDGER).fetch_all(connection).await;
    rows.map_err(reading)?.iter().map(record).collect()
}

async fn append(connection: &mut PgConnection, record: &LedgerRecord) -> Result<(), StateError> {
    sqlx::query(APPEND)
        .bind(record.previous.as_slice())
        .bind(&record.entry)
        .bind(record.hash.as_slice())
        .bind(&record.signer)
        .bind(&record.signature)
        .execute(connection)
        .await
        .map(drop)
        .map_err(writing)
}

fn record(row: &PgRow) -> Result<LedgerRecord, StateError> {
    let hash = |column| -> Result<LedgerHash, StateError> {
        let bytes: Vec<u8> = row.try_get(column).map_err(reading)?;
        LedgerHash::try_from(bytes.as_slice()).map_err(|error| StateError::Damaged {
            record: "promotions".to_owned(),
            reason: error.into(),
        })
    };
    Ok(LedgerRecord {
        previous: hash("previous")?,
        entry: row.try_get("entry").map_err(reading)?,
        hash: hash("hash")?,
        signer: row.try_get("signer").map_err(reading)?,
        signature: row.try_get("signature").map_err(reading)?,
    })
}
