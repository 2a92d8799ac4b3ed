//! Evidence from a property snapshot, as at the subject's valuation day.

use super::{
    AreaLevel, EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, Figures,
    IndexSeries, MAX_OWN_SALES, MAX_SEARCH_WORK, Nearness, PackedResponse, Refusal, Sale,
    SalesOrder, SalesQuery,
};
use crate::subject::{GridPoint, Precision, Subject};
use domesday_property::{self as property, FoundSales, Snapshot, SnapshotError};
use domesday_registers::codes::PropertyType;
use domesday_registers::{Day, Postcode};
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
            exclude_uprn: None,
        };
        let most_work = self.most_work.min(query.work.remainder());
        let mut rest = most_work;
        let is_late = || query.work.is_late();
        let sales = (self.snapshot).find_nearby_sales(&search, &mut rest, &is_late)?;
        query.work.spend(most_work - rest);
        // An own sale in this answer would already reveal a stored floor area.
        let hidden = query.floor_area_only && !subject.stored_data;
        Ok(match subject.uprn.filter(|_| hidden) {
            Some(uprn) => sales.map(|sales| sales.without(uprn)),
            None => sales,
        })
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

/// Returns a sale as a release is shown it, and fails on a sale from the future.
///
/// The snapshot already hides the future. This second check guards the figures about a model, which
/// a leak would improve.
fn shown_sale(subject: &Subject, sale: property::Sale) -> Result<Sale, EvidenceError> {
    check_past(subject, sale.id, sale.day, sale.attributes_day)?;
    Ok(evidence_sale(subject, sale))
}

/// Fails on a sale from the future, as [`shown_sale`] does.
pub(crate) fn check_past(
    subject: &Subject,
    id: u64,
    day: Day,
    attributes_day: Option<Day>,
) -> Result<(), EvidenceError> {
    let today = subject.valuation_day;
    match day < today && attributes_day.is_none_or(|known| known < today) {
        true => Ok(()),
        false => Err(EvidenceError::Future { sale: id }),
    }
}

/// Returns a sale as a subject sees it.
pub(super) fn evidence_sale(subject: &Subject, sale: property::Sale) -> Sale {
    let attributes = shows_attributes(subject, sale.uprn);
    Sale {
        nearness: nearness_to(subject, sale.uprn, &sale.postcode),
        id: sale.id,
        uprn: sale.uprn,
        day: sale.day,
        price_gbp: sale.price_gbp,
        place: GridPoint {
            easting: sale.easting,
            northing: sale.northing,
        },
        precision: precision(sale.own_place),
        distance_m: sale.distance_m,
        postcode: sale.postcode,
        property_type: sale.property_type,
        subtype: sale.subtype.filter(|_| attributes),
        tenure: sale.tenure,
        new_build: sale.new_build,
        standard: sale.standard,
        floor_area_m2: sale.floor_area_m2.filter(|_| attributes),
        habitable_rooms: sale.habitable_rooms.filter(|_| attributes),
        age_band: sale.age_band.filter(|_| attributes),
        rating: sale.rating.filter(|_| attributes),
        attributes_day: sale.attributes_day.filter(|_| attributes),
    }
}

/// Returns the precision of a sale's place.
pub(crate) fn precision(own_place: bool) -> Precision {
    match own_place {
        true => Precision::Property,
        false => Precision::Postcode,
    }
}

/// Returns whether a subject may see the attributes of a sale. A property's own sale carries its
/// stored attributes, which the customer may not have allowed.
pub(crate) fn shows_attributes(subject: &Subject, uprn: Option<u64>) -> bool {
    subject.stored_data || !is_own(subject, uprn)
}

/// Returns how near a sale is to a subject.
pub(crate) fn nearness_to(subject: &Subject, uprn: Option<u64>, postcode: &Postcode) -> Nearness {
    match is_own(subject, uprn) {
        true => Nearness::SameProperty,
        false => nearness(&subject.postcode, postcode),
    }
}

fn is_own(subject: &Subject, uprn: Option<u64>) -> bool {
    subject.uprn.is_some() && uprn == subject.uprn
}

fn nearness(subject: &Postcode, sale: &Postcode) -> Nearness {
    if subject == sale {
        Nearness::SamePostcode
    } else if subject.shares_sector(sale) {
        Nearness::SameSector
    } else if subject.shares_district(sale) {
        Nearness::SameDistrict
    } else if subject.shares_area(sale) {
        Nearness::SameArea
    } else {
        Nearness::Elsewhere
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{RowDeadline, Ticks};
    use crate::evidence::{MAX_ROW_WORK, RowWork};
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn subject() -> Subject {
        let known = serde_json::json!({
            "valuation_day": 20_000, "uprn": 1,
            "place": { "easting": 450_000, "northing": 300_000 }, "precision": "property",
            "postcode": "QX1 1AA", "country": "england", "authority": "",
            "property_type": "flat", "subtype": "flat_converted", "tenure": "leasehold",
            "build_status": "existing", "occupancy": "vacant", "lease": null,
            "size": {}, "fabric": {}, "energy": {},
            "provenance": { "customer": [], "stored": [], "applied": [] },
            "stored_data": false, "evidence_through": null,
        });
        serde_json::from_value(known).unwrap()
    }

    /// Returns sale 7, whose attributes are of a certificate.
    fn sale(uprn: Option<u64>, day: Day, attributes_day: Day) -> property::Sale {
        property::Sale {
            id: 7,
            uprn,
            day,
            price_gbp: 210_000,
            easting: 450_001,
            northing: 300_002,
            postcode: Postcode::parse("QX1 1AA").unwrap(),
            property_type: PropertyType::Flat,
            subtype: None,
            tenure: None,
            new_build: false,
            standard: true,
            own_place: true,
            floor_area_m2: Some(61.5),
            habitable_rooms: Some(3),
            age_band: None,
            rating: None,
            attributes_day: Some(attributes_day),
            distance_m: 2.0,
        }
    }

    #[test]
    fn a_sale_or_a_certificate_of_the_valuation_day_is_of_the_future() {
        let subject = subject();
        let today = subject.valuation_day;
        let before = Day(today.0 - 1);
        for (day, certificate, is_known) in [
            (before, before, true),
            (today, before, false),
            (before, today, false),
            (today, today, false),
        ] {
            let found = sales_response(&subject, [Ok(sale(None, day, certificate))].into_iter());
            let is_shown = matches!(&found, Ok(EvidenceResponse::Sales(sales)) if sales.len() == 1);
            let is_future = matches!(&found, Err(EvidenceError::Future { sale: 7 }));
            assert_eq!((is_shown, is_future), (is_known, !is_known), "{found:?}");
        }
    }

    #[test]
    fn a_sale_of_the_subject_lacks_its_stored_attributes_unless_they_are_allowed() {
        let (own, other) = (Nearness::SameProperty, Nearness::SamePostcode);
        for (uprn, of_sale, stored_data, nearness, is_shown) in [
            (Some(1), Some(1), true, own, true),
            (Some(1), Some(1), false, own, false),
            (Some(1), Some(2), true, other, true),
            (Some(1), Some(2), false, other, true),
            (Some(1), None, false, other, true),
            (None, Some(1), false, other, true),
            (None, None, false, other, true),
        ] {
            let subject = Subject {
                uprn,
                stored_data,
                ..subject()
            };
            let found = evidence_sale(&subject, sale(of_sale, Day(9_000), Day(9_001)));
            let case = (uprn, of_sale, stored_data);
            assert_eq!(found.nearness, nearness, "{case:?}");
            assert_eq!(found.floor_area_m2.is_some(), is_shown, "{case:?}");
            assert_eq!(found.habitable_rooms.is_some(), is_shown, "{case:?}");
            assert_eq!(found.attributes_day.is_some(), is_shown, "{case:?}");
        }
    }

    #[test]
    fn nearness_follows_the_postcode_and_not_its_spelling() {
        let subject = Postcode::parse("LE1 1AA").unwrap();
        for (other, expected) in [
            ("LE1 1AA", Nearness::SamePostcode),
            ("LE1 1AB", Nearness::SameSector),
            ("LE1 2AA", Nearness::SameDistrict),
            ("LE11 1AA", Nearness::SameArea),
            ("L1 1AA", Nearness::Elsewhere),
        ] {
            assert_eq!(
                nearness(&subject, &Postcode::parse(other).unwrap()),
                expected,
                "{other}"
            );
        }
    }

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
