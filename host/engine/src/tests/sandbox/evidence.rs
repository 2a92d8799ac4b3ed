//! The evidence of a row: the bound of its sales, and the stored attributes of its own ones.

use super::demo::{demo_evidence, homes};
use super::interface_versions::sales;
use domesday_engine::evidence::{
    Bounds, EvidenceQuery, EvidenceResponse, EvidenceSource, MAX_SALES, Nearness, Refusal, RowWork,
    SalesOrder, SalesQuery,
};
use domesday_engine::subject::Subject;
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;

#[test]
fn an_answer_beyond_the_sales_of_a_row_is_withheld_and_uses_none() {
    let mut bounds = Bounds::default();
    for (count, is_shown) in [
        (MAX_SALES - 1, true),
        (2, false),
        (1, true),
        (1, false),
        (0, true),
    ] {
        let found = sales().into_iter().cycle().take(count).collect();
        let answer = bounds.release(EvidenceResponse::Sales(found));
        let refused = EvidenceResponse::Refused(Refusal::TooManySales);
        assert_eq!(answer != refused, is_shown, "{count}");
    }
}

/// An own sale in an answer of sales with a known floor area would reveal that the area is stored.
#[test]
fn own_sales_reveal_no_stored_floor_area_unless_it_is_allowed() {
    let evidence = demo_evidence();
    let home = homes().into_iter().find(|home| home.row == "home-04");
    let home = home.unwrap().subject;
    for (stored_data, floor_area_only, expected) in [
        (true, true, Some(true)),
        (true, false, Some(true)),
        (false, true, None),
        (false, false, Some(false)),
    ] {
        let subject = Subject {
            stored_data,
            ..home.clone()
        };
        let query = EvidenceQuery::NearbySales(SalesQuery {
            center: subject.place,
            radius_m: 500,
            since: Day(0),
            types: vec![PropertyType::Terraced],
            standard_only: false,
            floor_area_only,
            order: SalesOrder::Nearest,
            limit: 100,
            work: RowWork::default(),
        });
        let EvidenceResponse::Sales(sales) = evidence.ask(&subject, &query).unwrap() else {
            panic!("no sales");
        };
        let (own, others): (Vec<_>, Vec<_>) = sales
            .into_iter()
            .partition(|sale| sale.nearness == Nearness::SameProperty);
        let areas = own.iter().map(|sale| sale.floor_area_m2.is_some());
        let case = (stored_data, floor_area_only);
        assert_eq!(
            areas.reduce(|one, other| one && other),
            expected,
            "{case:?}"
        );
        assert!(!others.is_empty(), "{case:?}");
    }
}
