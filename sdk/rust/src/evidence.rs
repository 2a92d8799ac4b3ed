//! The evidence that a model may ask for.

use crate::bindings::domesday::valuation1_0_0::evidence as host;
use crate::bindings::domesday::valuation1_1_0::packed_evidence as packed;
use crate::{
    AreaLevel, Figures, IndexSeries, Month, PropertyType, Refusal, Sale, Sales, SalesQuery,
};

/// What a model may ask of the snapshot. `wit/valuation.wit` states the bounds and the order of
/// every answer.
pub trait Evidence {
    /// Sales within a radius, the subject's own among them.
    ///
    /// # Errors
    /// Where the question is out of bounds, or the valuation has asked too much already.
    fn nearby_sales(&self, query: SalesQuery) -> Result<Sales, Refusal>;

    /// The subject's own sales, newest first; none where it has no UPRN.
    ///
    /// # Errors
    /// Where the valuation has asked too much already.
    fn own_sales(&self) -> Result<Vec<Sale>, Refusal>;

    /// The house price index where the subject stands, of one type or of all, from a month on.
    ///
    /// # Errors
    /// Where the question is out of bounds, or the valuation has asked too much already.
    fn price_index(
        &self,
        kind: Option<PropertyType>,
        since: Month,
    ) -> Result<Option<IndexSeries>, Refusal>;

    /// Twelve-month figures of an area that holds the subject.
    ///
    /// # Errors
    /// Where the question is out of bounds, or the valuation has asked too much already.
    fn area_figures(
        &self,
        level: AreaLevel,
        kind: Option<PropertyType>,
    ) -> Result<Option<Figures>, Refusal>;
}

/// The host's evidence, through the sandbox's one import. Outside the sandbox it panics.
pub struct HostEvidence;

impl Evidence for HostEvidence {
    fn nearby_sales(&self, query: SalesQuery) -> Result<Sales, Refusal> {
        packed::nearby_sales(query).map(Sales::of_block)
    }

    fn own_sales(&self) -> Result<Vec<Sale>, Refusal> {
        host::own_sales()
    }

    fn price_index(
        &self,
        kind: Option<PropertyType>,
        since: Month,
    ) -> Result<Option<IndexSeries>, Refusal> {
        host::price_index(kind, since)
    }

    fn area_figures(
        &self,
        level: AreaLevel,
        kind: Option<PropertyType>,
    ) -> Result<Option<Figures>, Refusal> {
        host::area_figures(level, kind)
    }
}
