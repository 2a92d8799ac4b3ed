//! The source of all features: the subject, the reference model's valuation and its evidence. No
//! query is repeated.

use crate::kriging::{self, KrigingEstimate, KrigingQuery};
use domesday_hedonic::comparable_sale::ComparableSale;
use domesday_hedonic::parameters::Parameters;
use domesday_hedonic::property_kind::PropertyKind;
use domesday_hedonic::time::{PriceIndex, years_between};
use domesday_sdk::{
    AreaLevel, Evidence, Figures, IndexSeries, Month, PropertyType, Refusal, Sale, Sales,
    SalesQuery, Subject, Valuation,
};
use std::cell::{OnceCell, RefCell};

/// Evidence that records its answers.
pub struct RecordedEvidence<'a> {
    evidence: &'a dyn Evidence,
    near: RefCell<Vec<Sales>>,
    own: RefCell<Vec<Sale>>,
    index: RefCell<Option<IndexSeries>>,
}

impl<'a> RecordedEvidence<'a> {
    /// Records the answers of `evidence`.
    pub fn of(evidence: &'a dyn Evidence) -> RecordedEvidence<'a> {
        RecordedEvidence {
            evidence,
            near: RefCell::default(),
            own: RefCell::default(),
            index: RefCell::default(),
        }
    }
}

impl Evidence for RecordedEvidence<'_> {
    fn nearby_sales(&self, query: SalesQuery) -> Result<Sales, Refusal> {
        let sales = self.evidence.nearby_sales(query)?;
        self.near.borrow_mut().push(sales.clone());
        Ok(sales)
    }

    fn own_sales(&self) -> Result<Vec<Sale>, Refusal> {
        let sales = self.evidence.own_sales()?;
        self.own.borrow_mut().clone_from(&sales);
        Ok(sales)
    }

    fn price_index(
        &self,
        kind: Option<PropertyType>,
        since: Month,
    ) -> Result<Option<IndexSeries>, Refusal> {
        let series = self.evidence.price_index(kind, since)?;
        if series.is_some() {
            self.index.borrow_mut().clone_from(&series);
        }
        Ok(series)
    }

    fn area_figures(
        &self,
        level: AreaLevel,
        kind: Option<PropertyType>,
    ) -> Result<Option<Figures>, Refusal> {
        self.evidence.area_figures(level, kind)
    }
}

/// A nearby sale, weighed for features.
pub(crate) struct NearbySale {
    pub(crate) sold: ComparableSale,
    /// Log price carried to the valuation day, or `None` if the sale is from before the index.
    pub(crate) now: Option<f64>,
    /// Years from the sale to the valuation day.
    pub(crate) years: f64,
    pub(crate) weight: f64,
}

/// The evidence of one row, from which its features are computed.
pub struct RowEvidence<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) reference: &'a Valuation,
    /// Natural logarithm of the reference model's estimate.
    pub(crate) log_value: f64,
    pub(crate) kind: PropertyKind,
    parameters: &'a Parameters,
    evidence: &'a dyn Evidence,
    /// Own standard sales before the valuation day, newest first.
    pub(crate) own: Vec<Sale>,
    pub(crate) index: Option<PriceIndex>,
    sales: Vec<Sales>,
    near: OnceCell<Vec<NearbySale>>,
    kriging: OnceCell<Option<KrigingEstimate>>,
    sector: OnceCell<Option<Figures>>,
    district: OnceCell<Option<Figures>>,
    authority: OnceCell<Option<Figures>>,
}

/// Distance in metres and age in years at which a nearby sale's weight halves.
const HALF_M: f64 = 150.0;
const HALF_YEARS: f64 = 2.0;

impl<'a> RowEvidence<'a> {
    /// Takes the evidence that the reference model recorded on its way to `reference`. Returns
    /// `None` for a property type that it does not value.
    pub fn of(
        parameters: &'a Parameters,
        subject: &'a Subject,
        reference: &'a Valuation,
        recorded: RecordedEvidence<'a>,
    ) -> Option<RowEvidence<'a>> {
        let mut own = recorded.own.into_inner();
        own.retain(|sale| {
            sale.standard
                && sale.day < subject.valuation_day
                && sale.price.is_finite()
                && sale.price > 0.0
        });
        own.sort_unstable_by(|a, b| b.day.cmp(&a.day).then(a.id.cmp(&b.id)));
        let index = recorded.index.into_inner();
        Some(RowEvidence {
            subject,
            reference,
            log_value: libm::log(reference.estimate),
            kind: PropertyKind::from_type(subject.property_type)?,
            parameters,
            evidence: recorded.evidence,
            own,
            index: index.and_then(|series| PriceIndex::new(&series.points, subject.valuation_day)),
            sales: recorded.near.into_inner(),
            near: OnceCell::new(),
            kriging: OnceCell::new(),
            sector: OnceCell::new(),
            district: OnceCell::new(),
            authority: OnceCell::new(),
        })
    }

    /// Returns the logarithm of a day's price, carried to the valuation day if there is an index.
    /// Returns `None` for a day from before that index begins, since it cannot carry that price.
    pub(crate) fn log_price_at_valuation(&self, price: f64, day: i32) -> Option<f64> {
        let growth = match &self.index {
            Some(index) => index.growth_since(day)?,
            None => 1.0,
        };
        Some(libm::log(price * growth))
    }

    /// Returns the years from a day to the valuation day.
    pub(crate) fn years_since(&self, day: i32) -> f64 {
        years_between(day, self.subject.valuation_day)
    }

    /// Returns the distinct comparable sales, nearest first.
    pub(crate) fn nearby(&self) -> &[NearbySale] {
        self.near.get_or_init(|| {
            let mut sold: Vec<ComparableSale> = self
                .sales
                .iter()
                .flat_map(Sales::iter)
                .filter_map(|sale| ComparableSale::from_evidence(self.subject, self.kind, sale))
                .collect();
            sold.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
            sold.dedup_by_key(|sale| sale.id);
            let near = |sold: ComparableSale| {
                let years = self.years_since(sold.day);
                NearbySale {
                    now: self.log_price_at_valuation(sold.price, sold.day),
                    weight: decay(sold.distance, HALF_M) * decay(years, HALF_YEARS),
                    years,
                    sold,
                }
            };
            sold.into_iter().map(near).collect()
        })
    }

    /// Returns the kriging estimate, or `None` if sales are too few or the evidence refuses.
    pub(crate) fn kriging_estimate(&self) -> Option<KrigingEstimate> {
        let query = KrigingQuery {
            subject: self.subject,
            kind: self.kind,
            own: &self.own,
            hedonic: &self.parameters.hedonic,
            reach: &self.parameters.evidence,
        };
        let carried = |price: f64, day: i32| self.log_price_at_valuation(price, day);
        *self.kriging.get_or_init(|| {
            let (home, level, sales) = kriging::observe(&query, self.evidence, carried).ok()?;
            kriging::krige(&home, level, &sales)
        })
    }

    /// Returns the weight of the home's own sales in the kriging estimate, from 0 to 1. Returns
    /// `None` without that estimate.
    pub(crate) fn kriged_own_share(&self) -> Option<f64> {
        Some(self.kriging_estimate()?.own_share)
    }

    /// Returns an area's figures for the subject's type, or `None` without figures or if refused.
    pub(crate) fn figures(&self, level: AreaLevel) -> Option<&Figures> {
        let slot = match level {
            AreaLevel::PostcodeSector => &self.sector,
            AreaLevel::PostcodeDistrict => &self.district,
            _ => &self.authority,
        };
        let ask = || {
            self.evidence
                .area_figures(level, Some(self.kind.property_type()))
        };
        slot.get_or_init(|| ask().unwrap_or(None)).as_ref()
    }
}

/// Returns a weight that is one half at `half` and has a long tail.
fn decay(distance: f64, half: f64) -> f64 {
    let ratio = distance / half;
    1.0 / (1.0 + ratio * ratio)
}
