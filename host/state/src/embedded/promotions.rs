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
            let sequence = before.len() as u64 + 1;
            let ledger = tables.promotions.edit()?;
            ledger.insert(sequence, row).map_err(writing)?;
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
