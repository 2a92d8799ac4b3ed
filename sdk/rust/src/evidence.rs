//! The evidence of a valuation.

use crate::bindings::domesday::valuation1_0_0::evidence as host;
use crate::bindings::domesday::valuation1_1_0::packed_evidence as packed;
use crate::{
    AreaLevel, Figures, IndexSeries, Month, PropertyType, Refusal, Sale, Sales, SalesQuery,
};

/// The queries to the property snapshot. `wit/valuation.wit` states the bounds and the order of
/// every answer.
pub trait Evidence {
    /// Returns the sales within a radius, with the subject's own among them.
    ///
    /// # Errors
    /// [`Refusal`] if the query is out of bounds, or the valuation has made too many.
    fn nearby_sales(&self, query: SalesQuery) -> Result<Sales, Refusal>;

    /// Returns the subject's own sales, newest first. A subject without UPRN has none.
    ///
    /// # Errors
    /// [`Refusal`] if the valuation has made too many queries.
    fn own_sales(&self) -> Result<Vec<Sale>, Refusal>;

    /// Returns the house price index at the subject from a month on, of one type or of all.
    ///
    /// # Errors
    /// [`Refusal`] if the query is out of bounds, or the valuation has made too many.
    fn price_index(
        &self,
        kind: Option<PropertyType>,
        since: Month,
    ) -> Result<Option<IndexSeries>, Refusal>;

    /// Returns twelve-month figures of the subject's area of a level.
    ///
    /// # Errors
    /// [`Refusal`] if the query is out of bounds, or the valuation has made too many.
    fn area_figures(
        &self,
        level: AreaLevel,
        kind: Option<PropertyType>,
    ) -> Result<Option<Figures>, Refusal>;
}

/// The host's evidence, through the sandbox's import. Outside the sandbox it panics.
pub struct HostEvidence;

impl Evidence for HostEvidence {
    fn nearby_sales(&self, query: SalesQuery) -> Result<Sales, Refusal> {
        packed::nearby_sales(query).map(Sales::from_numbers)
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
