//! Sold homes, valued as the API serves them and by a back-test, on the same sales.

use super::client::Client;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The largest differences that the API may show: of the median error, and of the coverage.
const GAPS: [f64; 2] = [0.002, 0.01];
/// Requests of one batch, which has 25 seconds.
const BATCH: usize = 500;

/// A row of a back-test's file.
type Line = BTreeMap<String, String>;

/// The addresses of sales, by their day, price and type.
#[derive(Default)]
pub struct SoldAddresses(BTreeMap<[String; 3], BTreeSet<[String; 4]>>);

impl SoldAddresses {
    /// Adds the postcode, number, unit and street of a sale of this day, price and type.
    pub fn add(&mut self, key: [String; 3], address: [String; 4]) {
        self.0.entry(key).or_default().insert(address);
    }

    /// Returns the address of a line's sale, unless another sale has its day, price and type.
    fn of(&self, line: &Line) -> Option<&[String; 4]> {
        let price = line["price_gbp"].trim_end_matches(".0").to_owned();
        let key = [line["date"].clone(), price, type_letter(line).to_owned()];
        let addresses = self.0.get(&key)?;
        addresses.first().filter(|_| addresses.len() == 1)
    }
}

fn lines(path: &Path) -> Vec<Line> {
    let mut file = csv::Reader::from_path(path).unwrap();
    file.deserialize().map(Result::unwrap).collect()
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
    let of_batch = |requests: &[Value]| {
        let body = json!({"requests": requests});
        let mut answer = client.post("/v3/batch-value", &body).json();
        match answer["results"].take() {
            Value::Array(results) if results.len() == requests.len() => results,
            results => panic!("{answer}: {results}"),
        }
    };
    requests.chunks(BATCH).flat_map(of_batch).collect()
}

/// Requests a value of each sale of a back-test that the addresses tell apart. Prints both figures
/// of both, and asserts that they are alike.
#[track_caller]
pub fn assert_as_tested(client: &Client, rows: &Path, sold: &SoldAddresses, least: usize) {
    let mut asked = Vec::new();
    for line in lines(rows) {
        // A new home is valued by the routes of proposed property.
        if line["outcome"] == "valued"
            && line["new_build"] == "false"
            && !line["lower_gbp"].is_empty()
            && let Some(address) = sold.of(&line)
        {
            asked.push((request(&line, address), line));
        }
    }
    let requests: Vec<Value> = asked.iter().map(|(request, _)| request.clone()).collect();
    let results = value_all(client, &requests);
    let (mut served, mut tested) = (Values::default(), Values::default());
    let (mut without, mut most_apart) = (None, 0.0_f64);
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
            let of_test = pounds("estimate_gbp");
            most_apart = most_apart.max((estimate / of_test - 1.0).abs());
            served.add(price, estimate, lower, upper);
            tested.add(price, of_test, pounds("lower_gbp"), pounds("upper_gbp"));
        } else {
            without.get_or_insert(result);
        }
    }
    let valued = served.errors.len();
    assert!(
        valued >= least,
        "{valued} of {} have a value: {without:#?}",
        asked.len()
    );
    let (served, tested) = (served.figures(), tested.figures());
    println!(
        "counts: as served: {valued} of {} sales have a value, median error {:.2} % and by the back-test {:.2} %, in range {:.1} and {:.1} %, no estimate differs by more than {:.2} %",
        asked.len(),
        100.0 * served[0],
        100.0 * tested[0],
        100.0 * served[1],
        100.0 * tested[1],
        100.0 * most_apart
    );
    for (at, most) in GAPS.into_iter().enumerate() {
        assert!(
            (served[at] - tested[at]).abs() <= most,
            "{served:?} {tested:?}"
        );
    }
}
