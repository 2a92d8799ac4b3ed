//! The packed evidence interface of one row.

use super::bindings::domesday::valuation1_1_0::packed_evidence as packed;
use super::packed::{pack, pack_found};
use crate::row_state::RowState;
use crate::v1::{nearby_sales, refusal, wit_evidence as ask};
use wasmtime::component::{HasSelf, Linker};

/// Gives a linker the packed evidence.
pub(crate) fn add_to_linker(linker: &mut Linker<RowState>) -> wasmtime::Result<()> {
    packed::add_to_linker::<_, HasSelf<_>>(linker, |state| state)
}

impl packed::Host for RowState {
    fn nearby_sales(
        &mut self,
        query: ask::SalesQuery,
    ) -> wasmtime::Result<Result<Vec<u64>, ask::Refusal>> {
        let answer = self.ask_packed(nearby_sales(query), pack, pack_found)?;
        Ok(answer.map_err(refusal))
    }
}
