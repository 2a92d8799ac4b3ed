//! The cases: addresses with the answers that requests for them get.

use domesday_contract::error::Code;
use domesday_contract::vocabulary::Vocabulary;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const TABLE: &str = include_str!("../../../sandbox/cases.toml");

/// The table as it is written.
#[derive(Deserialize)]
struct Table {
    /// The members of a request that are the same in every case.
    request: Value,
    case: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    /// Building, street and postcode.
    address: [String; 3],
    status: String,
    code: Option<String>,
    estimate_gbp: Option<u64>,
    range_gbp: Option<[u64; 2]>,
    confidence: Option<f64>,
    band: Option<String>,
    /// Members that only this case has.
    request: Option<Value>,
}

/// A case as integrators read it.
#[derive(Debug, Serialize)]
pub struct Case {
    /// Its name, which never changes.
    pub name: String,
    /// HTTP status of a single route.
    pub http_status: u16,
    /// The request of an existing property.
    pub request: Value,
    /// The members of the request that only this case has, beside its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<Value>,
    /// Members of the row's result in a batch or a job. A single route gives the same result, or
    /// the code of a rejected row in an error body.
    pub result: Value,
}

/// The table is damaged, which no built program's is.
#[derive(Debug, thiserror::Error)]
#[error("the table of the sandbox's cases is damaged: {0}")]
pub struct TableError(#[from] toml::de::Error);

/// Reads the cases, in the order of the table.
///
/// # Errors
/// [`TableError`] if the table is damaged.
pub fn cases() -> Result<Vec<Case>, TableError> {
    let table: Table = toml::from_str(TABLE)?;
    Ok(table
        .case
        .into_iter()
        .map(|row| Case {
            http_status: if row.status == "rejected" { 422 } else { 200 },
            request: request(&table.request, &row),
            result: result(&row),
            with: row.request,
            name: row.name,
        })
        .collect())
}

fn request(shared: &Value, row: &Row) -> Value {
    let mut request = shared.clone();
    let [building, street, postcode] = &row.address;
    let address = json!({
        "building_number_or_name": building, "street": street, "postcode": postcode,
    });
    merge(&mut request, json!({ "property": address }));
    if let Some(own) = &row.request {
        merge(&mut request, own.clone());
    }
    request
}

/// Adds members to an object, and members of objects to those.
fn merge(target: &mut Value, members: Value) {
    match (target, members) {
        (Value::Object(target), Value::Object(members)) => {
            for (name, value) in members {
                merge(target.entry(name).or_insert(Value::Null), value);
            }
        }
        (target, value) => *target = value,
    }
}

fn result(row: &Row) -> Value {
    let mut result = Map::new();
    result.insert("status".to_owned(), json!(row.status));
    let (member, value) = match row.status.as_str() {
        "valued" => {
            let range = row.range_gbp.map(|[lower, upper]| {
                json!({ "lower_value_gbp": lower, "upper_value_gbp": upper, "nominal_coverage": 0.8 })
            });
            let confidence = json!({ "score": row.confidence, "band": row.band });
            result.insert("confidence".to_owned(), confidence);
            (
                "valuation",
                json!({ "estimated_value_gbp": row.estimate_gbp, "range": range }),
            )
        }
        "referred" => ("referral", json!({ "code": row.code })),
        _ => {
            let code = row.code.as_deref().and_then(Code::from_code);
            let retryable = code.is_some_and(Code::retryable);
            (
                "errors",
                json!([{ "code": row.code, "retryable": retryable }]),
            )
        }
    };
    result.insert(member.to_owned(), value);
    Value::Object(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_contract::v3::result::ReferralCode;
    use std::collections::BTreeSet;

    #[test]
    fn every_referral_and_every_band_has_a_case() {
        let cases = cases().unwrap();
        let words = |pointer: &str| -> BTreeSet<String> {
            let found = cases.iter().filter_map(|case| case.result.pointer(pointer));
            found.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let referrals = ReferralCode::ALL.iter().map(|code| code.code().to_owned());
        assert_eq!(words("/referral/code"), referrals.collect());
        let bands = ["high", "low", "medium"].map(str::to_owned);
        assert_eq!(words("/confidence/band"), BTreeSet::from(bands));
    }

    #[test]
    fn a_case_has_a_name_and_an_address_that_no_other_has() {
        let cases = cases().unwrap();
        let names: BTreeSet<_> = cases.iter().map(|case| &case.name).collect();
        let addresses: BTreeSet<_> = (cases.iter())
            .map(|case| case.request["property"].to_string())
            .collect();
        assert_eq!((names.len(), addresses.len()), (cases.len(), cases.len()));
    }

    #[test]
    fn a_case_adds_its_own_members_to_the_shared_request() {
        let cases = cases().unwrap();
        let case = (cases.iter())
            .find(|case| case.name == "rejected_invalid_value")
            .unwrap();
        assert_eq!(
            case.request["size"],
            json!({"floor_area_m2": -1, "bedrooms": 3})
        );
        assert_eq!(case.http_status, 422);
    }
}
