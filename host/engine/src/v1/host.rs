//! The evidence interface, answered for one row.

use super::{answer, bindings, question, wit, wit_evidence as ask};
use crate::evidence::{EvidenceQuery, EvidenceResponse, Refusal};
use crate::row_state::RowState;
use wasmtime::component::{HasSelf, Linker};

/// Gives a linker the one interface that a release may import.
pub(crate) fn add_to_linker(linker: &mut Linker<RowState>) -> wasmtime::Result<()> {
    bindings::Release::add_to_linker::<_, HasSelf<_>>(linker, |state| state)
}

impl wit::Host for RowState {}

impl ask::Host for RowState {
    fn nearby_sales(
        &mut self,
        query: ask::SalesQuery,
    ) -> wasmtime::Result<Result<Vec<ask::Sale>, ask::Refusal>> {
        self.sales(question::nearby_sales(query))
    }

    fn own_sales(&mut self) -> wasmtime::Result<Result<Vec<ask::Sale>, ask::Refusal>> {
        self.sales(Ok(EvidenceQuery::OwnSales))
    }

    fn price_index(
        &mut self,
        kind: Option<wit::PropertyType>,
        since: i32,
    ) -> wasmtime::Result<Result<Option<ask::IndexSeries>, ask::Refusal>> {
        Ok(match self.ask(question::price_index(kind, since))? {
            EvidenceResponse::Index(series) => Ok(series.map(answer::index)),
            other => Err(refused(other)),
        })
    }

    fn area_figures(
        &mut self,
        level: ask::AreaLevel,
        kind: Option<wit::PropertyType>,
    ) -> wasmtime::Result<Result<Option<ask::Figures>, ask::Refusal>> {
        Ok(match self.ask(question::area_figures(level, kind))? {
            EvidenceResponse::Figures(figures) => Ok(figures.map(answer::figures)),
            other => Err(refused(other)),
        })
    }
}

impl RowState {
    fn sales(
        &mut self,
        question: Result<EvidenceQuery, Refusal>,
    ) -> wasmtime::Result<Result<Vec<ask::Sale>, ask::Refusal>> {
        Ok(match self.ask(question)? {
            EvidenceResponse::Sales(sales) => {
                let shown = sales.iter().map(answer::sale).collect();
                self.show(sales);
                Ok(shown)
            }
            other => Err(refused(other)),
        })
    }
}

/// A source that answers another question than it was asked is treated as a refusal; the engine's
/// own sources never do, and a hand-edited fixture then fails its replay.
pub(crate) fn refused(answer: EvidenceResponse) -> ask::Refusal {
    match answer {
        EvidenceResponse::Refused(refusal) => answer::refusal(refusal),
        _ => ask::Refusal::Other,
    }
}
