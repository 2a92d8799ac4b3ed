//! Sales of homes that the manifest does not list.

use super::*;
use crate::backtest::sales::Window;
use crate::testing::{demo, narrow};
use domesday_engine::evidence::SnapshotEvidence;
use domesday_registers::codes::PropertyType;
use domesday_registers::records::Country;

#[test]
fn a_home_that_the_manifest_does_not_list_is_referred_as_a_service_refers_it() {
    let open = demo();
    let mut manifest = open.manifest.clone();
    narrow(&mut manifest.property_types, &mut manifest.countries);
    let valuer = Valuer {
        manifest: &manifest,
        release: &open.release,
        snapshot: &open.snapshot,
        evidence: Arc::new(SnapshotEvidence::new(open.snapshot.clone())),
        as_at: AsAt::Sale,
        lag: 0,
        shape: RequestShape::Stored,
    };
    let [from, to] = [(4, 1), (9, 30)].map(|(month, day)| Day::from_ymd(2026, month, day).unwrap());
    let window = Window::count(&open.snapshot, (from, to), Some(100)).unwrap();
    let (mut flats, mut welsh, mut valued) = (0, 0, 0);
    for sold in window.sales().unwrap() {
        let sold = sold.unwrap();
        let row = valuer.row(&sold).unwrap().unwrap();
        let referred = |reason: &str| row.answer == Prediction::Referred(reason.to_owned());
        if sold.sale.property_type == PropertyType::Flat {
            assert!(referred("outside_property_types"), "{row:?}");
            flats += 1;
        } else if sold.country == Country::Wales {
            assert!(referred("outside_countries"), "{row:?}");
            welsh += 1;
        } else {
            valued += usize::from(row.estimate().is_some());
        }
    }
    assert!(
        flats > 0 && welsh > 0 && valued > 0,
        "{flats} {welsh} {valued}"
    );
}
