//! The evidence interface of one row.

use super::{bindings, evidence_query, evidence_response, wit, wit_evidence as ask};
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
        self.sales(evidence_query::nearby_sales(query))
    }

    fn own_sales(&mut self) -> wasmtime::Result<Result<Vec<ask::Sale>, ask::Refusal>> {
        self.sales(Ok(EvidenceQuery::OwnSales))
    }

    fn price_index(
        &mut self,
        kind: Option<wit::PropertyType>,
        since: i32,
    ) -> wasmtime::Result<Result<Option<ask::IndexSeries>, ask::Refusal>> {
        Ok(match self.ask(evidence_query::price_index(kind, since))? {
            EvidenceResponse::Index(series) => Ok(series.map(evidence_response::index)),
            other => Err(refusal(other)),
        })
    }

    fn area_figures(
        &mut self,
        level: ask::AreaLevel,
        kind: Option<wit::PropertyType>,
    ) -> wasmtime::Result<Result<Option<ask::Figures>, ask::Refusal>> {
        Ok(match self.ask(evidence_query::area_figures(level, kind))? {
            EvidenceResponse::Figures(figures) => Ok(figures.map(evidence_response::figures)),
            other => Err(refusal(other)),
        })
    }
}

impl RowState {
    fn sales(
        &mut self,
        query: Result<EvidenceQuery, Refusal>,
    ) -> wasmtime::Result<Result<Vec<ask::Sale>, ask::Refusal>> {
        Ok(match self.ask(query)? {
            EvidenceResponse::Sales(sales) => {
                let list = sales.iter().map(evidence_response::sale).collect();
                self.show(sales);
                Ok(list)
            }
            other => Err(refusal(other)),
        })
    }
}

/// Returns the refusal in a response, or `other` where the response does not fit the question.
///
/// The engine's own sources always fit. A hand-edited fixture may not, and then fails its replay.
pub(crate) fn refusal(response: EvidenceResponse) -> ask::Refusal {
    match response {
        EvidenceResponse::Refused(refusal) => evidence_response::refusal(refusal),
        _ => ask::Refusal::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_learns_why_its_question_was_refused() {
        for (response, expected) in [
            (
                EvidenceResponse::Refused(Refusal::TooManyQuestions),
                ask::Refusal::TooManyQuestions,
            ),
            (
                EvidenceResponse::Refused(Refusal::TooManySales),
                ask::Refusal::TooManySales,
            ),
            (
                EvidenceResponse::Refused(Refusal::InvalidQuestion),
                ask::Refusal::InvalidQuestion,
            ),
            (EvidenceResponse::Index(None), ask::Refusal::Other),
        ] {
            let name = format!("{response:?}");
            assert!(refusal(response) == expected, "{name}");
        }
    }
}
