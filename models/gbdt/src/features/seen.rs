//! What there is to compute features from: the subject, the reference model's valuation, and the evidence that it
//! was shown. Nothing is asked twice.

use crate::kriging::{self, Kriged, Question};
use domesday_hedonic::kind::Kind;
use domesday_hedonic::parameters::Parameters;
use domesday_hedonic::sold::Sold;
use domesday_hedonic::time::{Index, years_between};
use domesday_sdk::{
    AreaLevel, Evidence, Figures, IndexSeries, Month, PropertyType, Refusal, Sale, Sales,
    SalesQuery, Subject, Valuation,
};
use std::cell::{OnceCell, RefCell};

/// Evidence that remembers what it answered.
pub struct Watched<'a> {
    evidence: &'a dyn Evidence,
    near: RefCell<Vec<Sales>>,
    own: RefCell<Vec<Sale>>,
    index: RefCell<Option<IndexSeries>>,
}

impl<'a> Watched<'a> {
    /// Passes questions on to `evidence`.
    pub fn of(evidence: &'a dyn Evidence) -> Watched<'a> {
        Watched {
            evidence,
            near: RefCell::default(),
            own: RefCell::default(),
            index: RefCell::default(),
        }
    }
}

impl Evidence for Watched<'_> {
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

/// A sale near by as features look at it.
pub(crate) struct Near {
    pub(crate) sold: Sold,
    /// Log price carried to the valuation day.
    pub(crate) now: f64,
    /// Years before the valuation day.
    pub(crate) years: f64,
    pub(crate) weight: f64,
}

/// All that a row's features are computed from.
pub struct Seen<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) reference: &'a Valuation,
    /// Natural logarithm of the reference model's estimate.
    pub(crate) log_value: f64,
    pub(crate) kind: Kind,
    parameters: &'a Parameters,
    evidence: &'a dyn Evidence,
    /// Standard ones of before the valuation day, newest first.
    pub(crate) own: Vec<Sale>,
    pub(crate) index: Option<Index>,
    sales: Vec<Sales>,
    near: OnceCell<Vec<Near>>,
    kriged: OnceCell<Option<Kriged>>,
    sector: OnceCell<Option<Figures>>,
    district: OnceCell<Option<Figures>>,
    authority: OnceCell<Option<Figures>>,
}

/// Metres and years at which a sale near by counts for half.
const HALF_M: f64 = 150.0;
const HALF_YEARS: f64 = 2.0;

impl<'a> Seen<'a> {
    /// What the reference model of these `parameters` was shown on its way to `reference`. None for a subject of no kind that it values.
    pub fn of(
        parameters: &'a Parameters,
        subject: &'a Subject,
        reference: &'a Valuation,
        watched: Watched<'a>,
    ) -> Option<Seen<'a>> {
        let mut own = watched.own.into_inner();
        own.retain(|sale| {
            sale.standard
                && sale.day < subject.valuation_day
                && sale.price.is_finite()
                && sale.price > 0.0
        });
        own.sort_unstable_by(|a, b| b.day.cmp(&a.day).then(a.id.cmp(&b.id)));
        let index = watched.index.into_inner();
        Some(Seen {
            subject,
            reference,
            log_value: libm::log(reference.estimate),
            kind: Kind::of(subject.property_type)?,
            parameters,
            evidence: watched.evidence,
            own,
            index: index.and_then(|series| Index::new(&series.points, subject.valuation_day)),
            sales: watched.near.into_inner(),
            near: OnceCell::new(),
            kriged: OnceCell::new(),
            sector: OnceCell::new(),
            district: OnceCell::new(),
            authority: OnceCell::new(),
        })
    }

    /// A price of a day, in logarithms, carried to the valuation day; as it was where there is no index.
    pub(crate) fn carried(&self, price: f64, day: i32) -> f64 {
        let growth = self
            .index
            .as_ref()
            .and_then(|index| index.growth_since(day));
        libm::log(price * growth.unwrap_or(1.0))
    }

    /// Years from a day to the valuation day.
    pub(crate) fn years_since(&self, day: i32) -> f64 {
        years_between(day, self.subject.valuation_day)
    }

    /// The comparable sales, nearest first, each once.
    pub(crate) fn near(&self) -> &[Near] {
        self.near.get_or_init(|| {
            let mut sold: Vec<Sold> = self
                .sales
                .iter()
                .flat_map(Sales::iter)
                .filter_map(|sale| Sold::comparable(self.subject, self.kind, sale))
                .collect();
            sold.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
            sold.dedup_by_key(|sale| sale.id);
            let near = |sold: Sold| {
                let years = self.years_since(sold.day);
                Near {
                    now: self.carried(sold.price, sold.day),
                    weight: falling(sold.distance, HALF_M) * falling(years, HALF_YEARS),
                    years,
                    sold,
                }
            };
            sold.into_iter().map(near).collect()
        })
    }

    /// A second estimate, by kriging. None where sales are too few, or the evidence refuses.
    pub(crate) fn kriged(&self) -> Option<Kriged> {
        let question = Question {
            subject: self.subject,
            kind: self.kind,
            own: &self.own,
            hedonic: &self.parameters.hedonic,
            reach: &self.parameters.evidence,
        };
        // Where there is an index, a sale of before it cannot be carried.
        let carried = |price: f64, day| match &self.index {
            Some(index) => Some(libm::log(price * index.growth_since(day)?)),
            None => Some(libm::log(price)),
        };
        *self.kriged.get_or_init(|| {
            let (home, level, sales) = kriging::observed(&question, self.evidence, carried).ok()?;
            kriging::krige(&home, level, &sales)
        })
    }

    /// Figures of the subject's type in an area. None where there are none, or the evidence refuses.
    pub(crate) fn figures(&self, level: AreaLevel) -> Option<&Figures> {
        let kept = match level {
            AreaLevel::PostcodeSector => &self.sector,
            AreaLevel::PostcodeDistrict => &self.district,
            _ => &self.authority,
        };
        let ask = || {
            self.evidence
                .area_figures(level, Some(self.kind.property_type()))
        };
        kept.get_or_init(|| ask().unwrap_or(None)).as_ref()
    }
}

/// One half at `half`, with a long tail.
fn falling(distance: f64, half: f64) -> f64 {
    let ratio = distance / half;
    1.0 / (1.0 + ratio * ratio)
}
