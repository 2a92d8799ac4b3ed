//! The accuracy of values of a real place as the API serves them, beside that of the back-test on
//! the same sales.
//!
//! The place is Leicestershire, which has the fewest sales, and whose homes have addresses in a
//! register.

use crate::common::downloads::folder;
use crate::common::program::run;
use crate::common::served_sales::{SoldAddresses, assert_as_tested};
use crate::common::server::start;
use crate::real_place::RealPlace;
use domesday_registers::BytesRead;
use domesday_registers::codes::PropertyType;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::PricePaid;
use domesday_registers::rows::Rows;
use std::path::Path;

const SALES: &str = "ppd/leicestershire-matched-ppd.csv";
const CERTIFICATES: &str = "epc/leicestershire-certificates.csv";
/// The days of the sales that are valued, which are the release's valuation days.
const WINDOW: [&str; 2] = ["2020-01-01", "2025-12-31"];

fn addresses(file: &Path) -> SoldAddresses {
    let mut sold = SoldAddresses::default();
    for row in Rows::<PricePaidFile>::open(file, &BytesRead::default()).unwrap() {
        let PricePaid {
            day,
            price_gbp,
            postcode: Some(postcode),
            property_type,
            paon,
            saon,
            street,
            ..
        } = row.unwrap().unwrap()
        else {
            continue;
        };
        let letter = match property_type {
            PropertyType::Detached => "D",
            PropertyType::SemiDetached => "S",
            PropertyType::Terraced => "T",
            PropertyType::Flat => "F",
            PropertyType::Other => continue,
        };
        let key = [day.to_string(), price_gbp.to_string(), letter.to_owned()];
        sold.add(key, [postcode.to_string(), paon, saon, street]);
    }
    sold
}

#[test]
fn a_back_test_of_a_real_place_has_the_accuracy_of_what_is_served() {
    let test = "a_back_test_of_a_real_place_has_the_accuracy_of_what_is_served";
    let Some(data) = folder(test, SALES) else {
        return;
    };
    let work = tempfile::tempdir().unwrap();
    let place = RealPlace::new(&data, work.path());
    let files = [("--price-paid", SALES), ("--certificates", CERTIFICATES)];
    place.add_snapshot("place", &files);
    // The window of docs/explanation/accuracy.md.
    let (fitted, calibrated) = ("2016-12-31", "2019-12-31");
    let days = ["--train-until", fitted, "--calibrate-until", calibrated];
    let valued = ["--valuation-from", WINDOW[0], "--valuation-to", WINDOW[1]];
    // The back-test that the package holds is none of this test.
    let few = ["--max-backtest-rows", "100"];
    place.add_release("now", "place", &[&days[..], &valued, &few].concat());

    let file = work.path().join("rows.csv");
    let [releases, rows] = [place.releases(), &file].map(|path| path.to_str().unwrap());
    let window = ["--from", WINDOW[0], "--to", WINDOW[1], "--rows", rows];
    // The host has all sales before each day.
    let as_served = ["--evidence-lag", "0", "--leakage-probe", "0"];
    let backtest = ["release", "backtest", "now", "--releases", releases];
    run([&backtest[..], &window, &as_served].concat()).ok();

    let server = start()
        .releases(place.releases())
        .with(&["--release", "now"])
        .go();
    assert_as_tested(&server.demo(), &file, &addresses(&data.join(SALES)), 1_500);
    server.stop();
}
