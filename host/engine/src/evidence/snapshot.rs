//! Evidence from a property snapshot, as at the subject's valuation day.

use super::sale_view::shown_sale;
use super::{
    AreaLevel, EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, Figures,
    IndexSeries, MAX_OWN_SALES, MAX_SEARCH_WORK, PackedResponse, Refusal, SalesOrder, SalesQuery,
};
use crate::subject::Subject;
use domesday_property::{self as property, FoundSales, Snapshot, SnapshotError};
use domesday_registers::codes::PropertyType;
use std::sync::Arc;

/// Index points in one answer, as the interface bounds them.
const MAX_INDEX_POINTS: usize = 600;

/// The answer to a search that would look at too many sales.
const TOO_MUCH_WORK: EvidenceResponse = EvidenceResponse::Refused(Refusal::TooManySales);

/// Answers from the snapshot that a release is pinned to.
pub struct SnapshotEvidence {
    snapshot: Arc<Snapshot>,
    /// Work of one search.
    most_work: u64,
}

impl SnapshotEvidence {
    /// Returns the evidence of this snapshot.
    pub fn new(snapshot: Arc<Snapshot>) -> SnapshotEvidence {
        SnapshotEvidence {
            snapshot,
            most_work: MAX_SEARCH_WORK,
        }
    }

    /// Finds the sales near a place. `None` where that is too much work for one search, or for
    /// those of the row.
    fn nearby(
        &self,
        subject: &Subject,
        query: &SalesQuery,
    ) -> Result<Option<FoundSales>, EvidenceError> {
        // An own sale in this answer would already reveal a stored floor area.
        let hides_own_sales = query.floor_area_only && !subject.stored_data;
        let search = property::NearbyQuery {
            easting: query.center.easting,
            northing: query.center.northing,
            radius_m: query.radius_m,
            from: query.since,
            before: subject.valuation_day,
            types: query.types.iter().copied().collect(),
            limit: usize::try_from(query.limit).unwrap_or(usize::MAX),
            order: match query.order {
                SalesOrder::Nearest => property::Order::Nearest,
                SalesOrder::Newest => property::Order::Newest,
            },
            standard_only: query.standard_only,
            with_floor_area: query.floor_area_only,
            exclude_uprn: subject.uprn.filter(|_| hides_own_sales),
        };
        let most_work = self.most_work.min(query.work.remainder());
        let mut rest = most_work;
        let is_late = || query.work.is_late();
        let sales = (self.snapshot).find_nearby_sales(&search, &mut rest, &is_late)?;
        query.work.spend(most_work - rest);
        Ok(sales)
    }

    fn own(&self, subject: &Subject) -> Result<EvidenceResponse, EvidenceError> {
        let sales = match subject.uprn {
            Some(uprn) => self
                .snapshot
                .own_sales(uprn, subject.valuation_day, MAX_OWN_SALES)?,
            None => Vec::new(),
        };
        sales_response(subject, sales.into_iter().map(Ok))
    }

    fn index(
        &self,
        subject: &Subject,
        kind: Option<PropertyType>,
        since: i32,
    ) -> Result<EvidenceResponse, EvidenceError> {
        let Some(authority) = property::GssCode::parse(&subject.authority) else {
            return Ok(EvidenceResponse::Index(None));
        };
        let series = self.snapshot.price_index(
            authority,
            kind,
            subject.valuation_day,
            since,
            MAX_INDEX_POINTS,
        )?;
        Ok(EvidenceResponse::Index(series.map(|series| IndexSeries {
            level: match series.area_level {
                property::IndexLevel::LocalAuthority => AreaLevel::LocalAuthority,
                property::IndexLevel::Region => AreaLevel::Region,
                property::IndexLevel::Country => AreaLevel::Country,
            },
            points: series.points,
        })))
    }

    fn figures(
        &self,
        subject: &Subject,
        level: AreaLevel,
        kind: Option<PropertyType>,
    ) -> Result<EvidenceResponse, EvidenceError> {
        let (level, code) = match level {
            AreaLevel::PostcodeSector => (
                property::AreaLevel::PostcodeSector,
                subject.postcode.sector(),
            ),
            AreaLevel::PostcodeDistrict => (
                property::AreaLevel::PostcodeDistrict,
                subject.postcode.district(),
            ),
            AreaLevel::LocalAuthority => (
                property::AreaLevel::LocalAuthority,
                subject.authority.as_str(),
            ),
            AreaLevel::Region | AreaLevel::Country => {
                return Ok(EvidenceResponse::Refused(Refusal::InvalidQuestion));
            }
        };
        let figures = self
            .snapshot
            .area_figures(level, code, kind, subject.valuation_day)?;
        Ok(EvidenceResponse::Figures(figures.map(|figures| Figures {
            to_month: figures.to_month,
            sales_count: figures.sales_count_12m,
            median_price_gbp: figures.median_price_gbp,
            price_per_sqm_gbp: figures.price_per_sqm_gbp,
            price_change_pct: figures.price_change_12m_pct,
        })))
    }
}

impl EvidenceSource for SnapshotEvidence {
    fn ask(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        match question {
            EvidenceQuery::NearbySales(query) => match self.nearby(subject, query)? {
                Some(found) => sales_response(subject, found.iter()),
                None => Ok(TOO_MUCH_WORK),
            },
            EvidenceQuery::OwnSales => self.own(subject),
            EvidenceQuery::PriceIndex { kind, since } => self.index(subject, *kind, *since),
            EvidenceQuery::AreaFigures { level, kind } => self.figures(subject, *level, *kind),
        }
    }

    fn ask_packed(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<PackedResponse, EvidenceError> {
        match question {
            EvidenceQuery::NearbySales(query) => {
                let found = self.nearby(subject, query)?;
                Ok(found.map_or(
                    PackedResponse::Records(TOO_MUCH_WORK),
                    PackedResponse::Found,
                ))
            }
            other => self.ask(subject, other).map(PackedResponse::Records),
        }
    }
}

impl From<SnapshotError> for EvidenceError {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::OutOfTime => EvidenceError::OutOfTime,
            other => EvidenceError::Snapshot(other.to_string()),
        }
    }
}

/// Returns the sales as a release is shown them.
fn sales_response(
    subject: &Subject,
    sales: impl Iterator<Item = Result<property::Sale, SnapshotError>>,
) -> Result<EvidenceResponse, EvidenceError> {
    let shown = sales.map(|sale| shown_sale(subject, sale?));
    shown.collect::<Result<_, _>>().map(EvidenceResponse::Sales)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{RowDeadline, Ticks};
    use crate::evidence::sale_view::tests::subject;
    use crate::evidence::{MAX_ROW_WORK, RowWork};
    use crate::subject::GridPoint;
    use domesday_registers::Day;
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Returns the demo's evidence.
    fn demo_evidence() -> SnapshotEvidence {
        let folder = "../../releases/property/synthetic-2026-09";
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(folder)
            .join("snapshot.redb");
        SnapshotEvidence::new(Arc::new(Snapshot::open(&file).unwrap()))
    }

    /// Returns a search from a town of the demo, for a row with this work.
    fn search(work: &RowWork) -> EvidenceQuery {
        EvidenceQuery::NearbySales(SalesQuery {
            center: GridPoint {
                easting: 386_030,
                northing: 635_325,
            },
            radius_m: 20_000,
            since: Day(0),
            types: vec![PropertyType::Flat],
            standard_only: true,
            floor_area_only: false,
            order: SalesOrder::Nearest,
            limit: 500,
            work: work.clone(),
        })
    }

    #[test]
    fn a_search_that_looks_at_too_many_sales_is_refused() {
        let mut evidence = demo_evidence();
        let subject = subject();
        let question = search(&RowWork::default());
        for (most_work, is_refused) in [(MAX_SEARCH_WORK, false), (40, true)] {
            evidence.most_work = most_work;
            let records = evidence.ask(&subject, &question).unwrap();
            assert_eq!(records == TOO_MUCH_WORK, is_refused, "{records:?}");
            let packed = evidence.ask_packed(&subject, &question).unwrap();
            let found = matches!(packed, PackedResponse::Found(_));
            assert_eq!(found, !is_refused);
        }
    }

    /// Own sales would reveal which of them have a stored floor area, and so would fewer others.
    #[test]
    fn hidden_own_sales_take_no_place_of_others_in_a_search_for_floor_areas() {
        let evidence = demo_evidence();
        let EvidenceQuery::NearbySales(query) = search(&RowWork::default()) else {
            panic!("it is a search");
        };
        let first = |subject: &Subject| {
            let question = EvidenceQuery::NearbySales(SalesQuery {
                floor_area_only: true,
                limit: 1,
                ..query.clone()
            });
            let answer = evidence.ask(subject, &question).unwrap();
            let EvidenceResponse::Sales(sales) = answer else {
                panic!("{answer:?}");
            };
            sales.iter().map(|sale| sale.uprn).collect::<Vec<_>>()
        };
        let of_another = first(&subject());
        let own = Subject {
            uprn: of_another[0],
            stored_data: true,
            ..subject()
        };
        assert_eq!(first(&own), of_another);
        let hidden = first(&Subject {
            stored_data: false,
            ..own
        });
        assert_eq!(hidden.len(), 1);
        assert_ne!(hidden, of_another);
    }

    #[test]
    fn the_searches_of_a_row_share_its_work() {
        let mut evidence = demo_evidence();
        let subject = subject();
        let is_refused = |evidence: &SnapshotEvidence, work: &RowWork| {
            evidence.ask(&subject, &search(work)).unwrap() == TOO_MUCH_WORK
        };
        let row = RowWork::of_row();
        assert!(!is_refused(&evidence, &row));
        let of_one = MAX_ROW_WORK - row.remainder();
        assert!((41..MAX_SEARCH_WORK).contains(&of_one), "{of_one}");
        let row = RowWork::of(2 * of_one, None);
        assert_eq!(
            [(); 3].map(|()| is_refused(&evidence, &row)),
            [false, false, true]
        );
        let packed = evidence.ask_packed(&subject, &search(&row)).unwrap();
        assert!(matches!(packed, PackedResponse::Records(answer) if answer == TOO_MUCH_WORK));
        let other = RowWork::of(2 * of_one - 1, None);
        assert_eq!(
            [(); 2].map(|()| is_refused(&evidence, &other)),
            [false, true]
        );
        // A question that is no search needs none of it.
        let own = evidence.ask(&subject, &EvidenceQuery::OwnSales).unwrap();
        assert!(matches!(own, EvidenceResponse::Sales(_)), "{own:?}");
        // One that is refused by itself has done its work too.
        evidence.most_work = 40;
        let row = RowWork::of(100, None);
        assert!(is_refused(&evidence, &row));
        assert_eq!(row.remainder(), 60);
    }

    #[test]
    fn a_search_of_a_row_whose_time_is_over_has_no_answer() {
        let (evidence, subject) = (demo_evidence(), subject());
        let ticks = Arc::new(Ticks(AtomicU64::new(1)));
        let row = RowWork::of_row_until(RowDeadline::new(ticks.clone(), 2));
        let in_time = evidence.ask(&subject, &search(&row)).unwrap();
        assert!(matches!(in_time, EvidenceResponse::Sales(_)), "{in_time:?}");
        ticks.0.store(2, Ordering::Relaxed);
        let ends = [
            evidence.ask(&subject, &search(&row)).err(),
            evidence.ask_packed(&subject, &search(&row)).err(),
        ];
        for end in ends {
            assert!(matches!(end, Some(EvidenceError::OutOfTime)), "{end:?}");
        }
        // A search that proves a record may take any time, and has the same answer.
        let proof = evidence.ask(&subject, &search(&RowWork::of_row())).unwrap();
        assert_eq!(proof, in_time);
    }
}
