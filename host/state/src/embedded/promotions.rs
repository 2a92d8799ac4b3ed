//! The promotion ledger in the file.

use std::sync::Arc;

use redb::ReadableTable;

use super::EmbeddedState;
use super::change::Change;
use super::error::{reading, writing};
use super::switch_names::promoted_switch;
use super::tables::Tables;
use crate::promotions::next_record;
use crate::{LedgerRecord, LedgerSigner, NewPromotion, Promotions, StateError};

impl Promotions for EmbeddedState {
    fn promote(
        &self,
        promotion: NewPromotion,
        signer: Arc<dyn LedgerSigner>,
    ) -> Result<LedgerRecord, StateError> {
        self.blocking(move |tables| {
            let before = read_ledger(tables)?;
            let (kind, release) = (promotion.kind, promotion.release_id.clone());
            let record = next_record(&before, promotion, &*signer)?;
            let LedgerRecord {
                previous,
                entry,
                hash,
                signer,
                signature,
            } = &record;
            let row = (
                entry.as_str(),
                *previous,
                *hash,
                signer.as_str(),
                signature.as_str(),
            );
            let ledger = tables.promotions.edit()?;
            // Not by their count: where a row is missing, that is the key of a later entry.
            let last = ledger.last().map_err(reading)?;
            let last = last.map_or(0, |(key, _)| key.value());
            let key = last.checked_add(1).ok_or_else(no_key_left)?;
            ledger.insert(key, row).map_err(writing)?;
            let switches = tables.switches.edit()?;
            switches
                .insert(promoted_switch(kind), release.as_str())
                .map_err(writing)?;
            tables.changes.push(Change::Promoted(kind, release));
            Ok(record)
        })
    }

    fn promotions(&self) -> Result<Vec<LedgerRecord>, StateError> {
        self.blocking(read_ledger)
    }
}

/// Returns the error of a ledger whose last row has the highest key, so that none follows it.
fn no_key_left() -> StateError {
    StateError::Damaged {
        record: "promotions".to_owned(),
        reason: "no key is left after that of the last row".into(),
    }
}

fn read_ledger(tables: &mut Tables<'_>) -> Result<Vec<LedgerRecord>, StateError> {
    let rows = tables.promotions.read()?.iter().map_err(reading)?;
    rows.map(|row| {
        let (_, value) = row.map_err(reading)?;
        let (entry, previous, hash, signer, signature) = value.value();
        Ok(LedgerRecord {
            previous,
            entry: entry.to_owned(),
            hash,
            signer: signer.to_owned(),
            signature: signature.to_owned(),
        })
    })
    .collect()
}
