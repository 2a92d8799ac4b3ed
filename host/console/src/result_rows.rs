//! The rows of a file of results: the columns of the file of homes, and those of the results.

use crate::homes_file::{HomesFile, REFERENCE};
use crate::homes_text::column_name;
use crate::number::cell;
use serde_json::Value;

/// The columns of the results.
const COLUMNS: [&str; 10] = [
    "valuation_status",
    "estimated_value_gbp",
    "lower_value_gbp",
    "upper_value_gbp",
    "confidence_score",
    "confidence_band",
    "valuation_id",
    "release_id",
    "problem_field",
    "problem",
];
/// The column with the number of a row.
const ROW: &str = "row";

/// Returns the table of results, with the columns of the file in front where it is kept.
pub fn table(homes: Option<&HomesFile>, results: &[Vec<String>]) -> Vec<Vec<String>> {
    let own = match homes {
        Some(homes) => homes.headings.iter().map(|name| heading(name)).collect(),
        None => vec![REFERENCE.to_owned()],
    };
    let mut head = vec![ROW.to_owned()];
    head.extend(own);
    head.extend(COLUMNS.map(str::to_owned));
    let mut table = vec![head];
    for (at, result) in results.iter().enumerate() {
        let mut row = vec![(at + 1).to_string()];
        match homes {
            Some(homes) => row.extend(homes.rows.get(at).cloned().unwrap_or_default()),
            None => row.extend(result.first().cloned()),
        }
        row.extend(result.iter().skip(1).cloned());
        table.push(row);
    }
    table
}

/// Returns the heading of a column of the file. One that the results have too is renamed.
fn heading(name: &str) -> String {
    let folded = column_name(name);
    match folded == ROW || COLUMNS.contains(&folded.as_str()) {
        true => format!("input_{folded}"),
        false => name.to_owned(),
    }
}

/// Returns the reference of a result, and its columns.
pub fn cells(result: &Value, release: &Value) -> Vec<String> {
    let (value, range) = (&result["valuation"], &result["valuation"]["range"]);
    let error = &result["errors"][0];
    let reasons = [&error["message"], &result["referral"]["message"]];
    let problem = reasons.into_iter().find(|reason| reason.is_string());
    let release_id = [&result["release_id"], release];
    let release_id = release_id.into_iter().find(|id| id.is_string());
    vec![
        cell(&result[REFERENCE]),
        cell(&result["status"]),
        cell(&value["estimated_value_gbp"]),
        cell(&range["lower_value_gbp"]),
        cell(&range["upper_value_gbp"]),
        cell(&result["confidence"]["score"]),
        cell(&result["confidence"]["band"]),
        cell(&result["valuation_id"]),
        release_id.map(cell).unwrap_or_default(),
        cell(&error["field"]),
        problem.map(cell).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_stand_beside_the_columns_of_the_file() {
        let file = "postcode,loan_id,Row\nQA1 1AF,a,9\nQA1 1AG,b,9\nQA1 1AH,c,9\n";
        let homes = HomesFile::read(file).unwrap();
        let results = [
            json!({"status": "valued", "valuation_id": "v", "valuation": {"estimated_value_gbp": 1, "range": null},
             "confidence": {"score": 0.5, "band": "low"}, "request_reference": "own"}),
            json!({"status": "rejected", "errors": [{"field": "/street", "message": "no such street"}]}),
            json!({"status": "referred", "valuation_id": "w", "valuation": {"range": null},
             "referral": {"code": "short_lease", "message": "The lease is too short."}}),
        ]
        .map(|result| cells(&result, &"r".into()));
        let rows = table(Some(&homes), &results);
        assert_eq!(
            rows[0][..5],
            [
                "row",
                "postcode",
                "loan_id",
                "input_row",
                "valuation_status"
            ]
        );
        assert_eq!(rows[1].join("|"), "1|QA1 1AF|a|9|valued|1|||0.5|low|v|r||");
        assert_eq!(
            rows[2].join("|"),
            "2|QA1 1AG|b|9|rejected|||||||r|/street|no such street"
        );
        assert_eq!(
            rows[3].join("|"),
            "3|QA1 1AH|c|9|referred||||||w|r||The lease is too short."
        );
        let rows = table(None, &results);
        assert_eq!(rows[0][..2], ["row", "request_reference"]);
        assert_eq!(rows[1][1], "own");
    }
}
