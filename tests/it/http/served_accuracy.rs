//! The accuracy of values as the API serves them, beside that of the back-test on the same sales.

use crate::common::demo::RELEASE;
use crate::common::packages::Releases;
use crate::common::program::run;
use crate::common::served_sales::{SoldAddresses, assert_as_tested};
use crate::common::server::start;
use domesday_test_shared::once;
use std::fs;
use std::path::PathBuf;

/// The demo's release, with valuation dates of the past.
const PAST: &str = "the-past";
/// The sales of its back-test.
const WINDOW: [&str; 2] = ["2026-04-02", "2026-09-30"];

/// Returns the addresses of the demo's sales.
fn addresses() -> SoldAddresses {
    let folder: PathBuf = once("registers-of-served-accuracy", |folder| {
        let folder = folder.display().to_string();
        run(["demo-data", &folder, "--seed", "1086"]).ok();
    });
    let mut sold = SoldAddresses::default();
    for name in ["price-paid.csv", "price-paid-monthly-change.csv"] {
        let mut file = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_path(folder.join(name))
            .unwrap();
        for sale in file.records() {
            let sale = sale.unwrap();
            // The registers have damaged lines on purpose.
            if sale.len() != 16 || sale[2].len() < 10 {
                continue;
            }
            let field = |at: usize| sale[at].to_owned();
            let day = field(2)[..10].to_owned();
            sold.add([day, field(1), field(4)], [3, 7, 8, 9].map(field));
        }
    }
    sold
}

#[test]
fn a_back_test_has_the_accuracy_of_what_is_served() {
    let releases = Releases::copy();
    let component = fs::read(releases.release(RELEASE).join("component.wasm")).unwrap();
    releases.add_changed(PAST, component, |body| {
        body.valuation_date.from = WINDOW[0].parse().unwrap();
        body.valuation_date.to = WINDOW[1].parse().unwrap();
        body.effective_date = body.valuation_date.from;
    });
    let file = releases.path().join("rows.csv");
    let [folder, rows] = [releases.path(), &file].map(|path| path.display().to_string());
    let options = ["--evidence-lag", "0", "--leakage-probe", "0"];
    let window = ["--from", WINDOW[0], "--to", WINDOW[1], "--rows", &rows];
    let release = ["release", "backtest", PAST, "--allow-unsigned", PAST];
    let places = ["--releases", &folder];
    run([&release[..], &window, &options, &places].concat()).ok();

    let server = start()
        .releases(releases.path())
        .with(&["--release", PAST, "--allow-unsigned", PAST])
        .go();
    assert_as_tested(&server.demo(), &file, &addresses(), 300);
    server.stop();
}
