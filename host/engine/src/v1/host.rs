//! The evidence interface of one row.

use super::price_index::IndexSeries;
use super::{
    EVIDENCE, TYPES, evidence_query, evidence_response, price_index, wit, wit_evidence as ask,
};
use crate::evidence::{EvidenceQuery, EvidenceResponse, Refusal};
use crate::row_state::RowState;
use wasmtime::StoreContextMut;
use wasmtime::component::Linker;

/// Gives a linker the one interface that a release may import.
///
/// The functions are named here rather than by the bindings, whose types of a price index cross
/// point by point.
pub(crate) fn add_to_linker(linker: &mut Linker<RowState>) -> wasmtime::Result<()> {
    linker.instance(TYPES)?;
    let mut evidence = linker.instance(EVIDENCE)?;
    evidence.func_wrap(
        "nearby-sales",
        |mut row: StoreContextMut<'_, RowState>, (query,): (ask::SalesQuery,)| {
            let query = evidence_query::nearby_sales(query);
            Ok((row.data_mut().sales(query)?,))
        },
    )?;
    evidence.func_wrap(
        "own-sales",
        |mut row: StoreContextMut<'_, RowState>, (): ()| {
            Ok((row.data_mut().sales(Ok(EvidenceQuery::OwnSales))?,))
        },
    )?;
    evidence.func_wrap(
        "price-index",
        |mut row: StoreContextMut<'_, RowState>,
         (kind, since): (Option<wit::PropertyType>, i32)| {
            Ok((row.data_mut().price_index(kind, since)?,))
        },
    )?;
    evidence.func_wrap(
        "area-figures",
        |mut row: StoreContextMut<'_, RowState>,
         (level, kind): (ask::AreaLevel, Option<wit::PropertyType>)| {
            Ok((row.data_mut().area_figures(level, kind)?,))
        },
    )
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

    fn price_index(
        &mut self,
        kind: Option<wit::PropertyType>,
        since: i32,
    ) -> wasmtime::Result<Result<Option<IndexSeries>, ask::Refusal>> {
        Ok(match self.ask(evidence_query::price_index(kind, since))? {
            EvidenceResponse::Index(series) => Ok(series.map(price_index::index)),
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
