//! The accuracy of values as the API serves them, beside that of the back-test on the same sales.

use crate::common::client::Client;
use crate::common::demo::RELEASE;
use crate::common::packages::Releases;
use crate::common::program::run;
use crate::common::server::start;
use domesday_test_shared::once;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The demo's release, with valuation dates of the past.
const PAST: &str = "the-past";
/// The sales of its back-test.
const WINDOW: [&str; 2] = ["2026-04-02", "2026-09-30"];
/// The largest differences that the API may show: of the median error, and of the coverage.
const GAPS: [f64; 2] = [0.002, 0.01];

type Line = BTreeMap<String, String>;

fn lines(path: &Path) -> Vec<Line> {
    let mut file = csv::Reader::from_path(path).unwrap();
    file.deserialize().map(Result::unwrap).collect()
}

/// Returns the demo's sales by their day, price and type, without those that share them.
fn addresses() -> BTreeMap<[String; 3], [String; 4]> {
    let folder: PathBuf = once("registers-of-served-accuracy", |folder| {
        let folder = folder.display().to_string();
        run(["demo-data", &folder, "--seed", "1086"]).ok();
    });
    let mut found = BTreeMap::<_, Vec<_>>::new();
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
            let address = [field(3), field(7), field(8), field(9)];
            let sales = found.entry([day, field(1), field(4)]).or_default();
            if !sales.contains(&address) {
                sales.push(address);
            }
        }
    }
    found
        .into_iter()
        .filter_map(|(key, mut sales)| Some((key, sales.pop().filter(|_| sales.is_empty())?)))
        .collect()
}

/// Returns the type as the register and the API write it.
fn type_letter(line: &Line) -> &'static str {
    match line["property_type"].as_str() {
        "detached" => "D",
        "semi_detached" => "S",
        "terraced" => "T",
        _ => "F",
    }
}

/// Returns the request that values a line's home as on the day of its sale.
fn request(line: &Line, [postcode, number, unit, street]: &[String; 4]) -> Value {
    let number = match unit.as_str() {
        "" => number.clone(),
        unit => format!("{unit}, {number}"),
    };
    let bedrooms: u32 = line["bedrooms"].parse().unwrap();
    let mut request = json!({
        "property": {
            "valuation_date": line["date"], "postcode": postcode,
            "building_number_or_name": number, "street": street,
            "type": type_letter(line), "subtype": line["subtype"],
            "title_tenure": line["title_tenure"],
        },
        "occupancy": {"status": "owner_occupied"},
        "size": {"bedrooms": bedrooms},
        "options": {"use_stored_data": true},
    });
    if line["title_tenure"] == "leasehold" {
        request["lease"] = json!({"years_remaining": 99});
    }
    request
}

/// The estimates of some sales: each relative to the price, and whether the range holds that.
#[derive(Default)]
struct Values {
    errors: Vec<f64>,
    held: usize,
}

impl Values {
    fn add(&mut self, price: f64, estimate: f64, lower: f64, upper: f64) {
        self.errors.push((estimate / price - 1.0).abs());
        self.held += usize::from((lower..=upper).contains(&price));
    }

    /// Returns the median absolute error and the coverage.
    fn figures(mut self) -> [f64; 2] {
        self.errors.sort_by(f64::total_cmp);
        let rows = self.errors.len();
        [self.errors[rows / 2], self.held as f64 / rows as f64]
    }
}

fn value_all(client: &Client, requests: &[Value]) -> Vec<Value> {
    let body = json!({"requests": requests});
    let mut answer = client.post("/v3/batch-value", &body).json();
    match answer["results"].take() {
        Value::Array(results) => results,
        _ => panic!("{answer}"),
    }
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

    let addresses = addresses();
    let mut asked = Vec::new();
    for line in lines(&file) {
        // A new home is valued by the routes of proposed property.
        if line["outcome"] != "valued"
            || line["new_build"] == "true"
            || line["lower_gbp"].is_empty()
        {
            continue;
        }
        let price = line["price_gbp"].trim_end_matches(".0").to_owned();
        let key = [line["date"].clone(), price, type_letter(&line).to_owned()];
        if let Some(address) = addresses.get(&key) {
            asked.push((request(&line, address), line));
        }
    }
    let server = start()
        .releases(releases.path())
        .with(&["--release", PAST, "--allow-unsigned", PAST])
        .go();
    let requests: Vec<Value> = asked.iter().map(|(request, _)| request.clone()).collect();
    let results = value_all(&server.demo(), &requests);
    let (mut served, mut tested) = (Values::default(), Values::default());
    for ((_, line), result) in asked.iter().zip(&results) {
        let pounds = |name: &str| line[name].parse::<f64>().unwrap();
        let price = pounds("price_gbp");
        let value = &result["valuation"];
        let of = |pointer: &str| value.pointer(pointer).and_then(Value::as_f64);
        if let (Some(estimate), Some(lower), Some(upper)) = (
            of("/estimated_value_gbp"),
            of("/range/lower_value_gbp"),
            of("/range/upper_value_gbp"),
        ) {
            served.add(price, estimate, lower, upper);
            tested.add(
                price,
                pounds("estimate_gbp"),
                pounds("lower_gbp"),
                pounds("upper_gbp"),
            );
        }
    }
    let rows = served.errors.len();
    assert!(
        rows >= 300,
        "{rows} of {} have a value: {:#?}",
        asked.len(),
        results.first()
    );
    let (served, tested) = (served.figures(), tested.figures());
    println!(
        "counts: as served: {rows} sales, median error {:.2} % and by the back-test {:.2} %, in range {:.1} and {:.1} %",
        100.0 * served[0],
        100.0 * tested[0],
        100.0 * served[1],
        100.0 * tested[1]
    );
    for (at, most) in GAPS.into_iter().enumerate() {
        assert!(
            (served[at] - tested[at]).abs() <= most,
            "{served:?} {tested:?}"
        );
    }
    server.stop();
}
