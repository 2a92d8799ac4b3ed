//! The packed evidence interface of one row.

use super::bindings::domesday::valuation1_1_0::packed_evidence as packed;
use super::packed::block;
use crate::evidence::EvidenceResponse;
use crate::row_state::RowState;
use crate::v1::{refusal, wit_evidence as ask};
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
        Ok(match self.ask(crate::v1::nearby_sales(query))? {
            EvidenceResponse::Sales(sales) => {
                let numbers = block(&sales);
                self.show(sales);
                Ok(numbers)
            }
            other => Err(refusal(other)),
        })
    }
}
