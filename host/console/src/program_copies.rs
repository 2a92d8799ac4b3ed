//! The requests of a page as a program makes them: with curl, and with the client for Python.

use crate::fields::Fields;
use serde_json::Value;
use std::fmt::Write;

/// A text that a page offers to be copied.
pub struct ProgramCopy {
    /// Its heading.
    pub heading: &'static str,
    /// The text.
    pub text: String,
}

/// Returns the program that values a home at the API of an origin.
pub fn of_value(api: &str, request: &Value) -> [ProgramCopy; 2] {
    let request = serde_json::to_string_pretty(request).unwrap_or_default();
    // A quotation mark within the address ends the shell's text, stands for itself and begins anew.
    let quoted = request.replace('\'', r"'\''");
    let curl = format!(
        "curl -s {api}/v3/value \\\n  -H \"Authorization: Bearer $DOMESDAY_KEY\" \\\n  \
         -H \"Content-Type: application/json\" \\\n  -d '{quoted}'"
    );
    let body = request.replace("'''", r"\u0027''");
    let python = format!(
        "import json\n{}home = json.loads(r'''{body}''')\nresult = client.value(home)\n\
         print(result.model_dump_json(indent=2))",
        client(api)
    );
    copies(curl, python)
}

/// Returns the program that reads series of a family, such as `markets`. There is one query for
/// each selection that is compared.
pub fn of_series(api: &str, family: &str, selections: &[Fields]) -> [ProgramCopy; 2] {
    let curl: Vec<String> = selections
        .iter()
        .map(|fields| {
            format!(
                "curl -s \"{api}/v1/{family}/series?{}\" \\\n  -H \"Authorization: Bearer $DOMESDAY_KEY\"",
                fields.query()
            )
        })
        .collect();
    let mut python = client(api);
    python += "rows = []\n";
    for fields in selections {
        // A string of JSON is one of Python.
        let literal = |text: &str| Value::from(text).to_string();
        let mut arguments = literal(fields.get("dataset").unwrap_or_default());
        for (name, value) in fields.iter().filter(|(name, _)| *name != "dataset") {
            let name = if name == "from" { "from_" } else { name };
            // Names are those of the catalogue. Others are refused by the API and not shown.
            let _ = write!(arguments, ", {name}={}", literal(value));
        }
        let _ = writeln!(python, "rows += client.{family}.series({arguments})");
    }
    python += "for row in rows:\n    print(row[\"series_id\"], row[\"period\"], row[\"value\"], row[\"status\"])";
    copies(curl.join("\n"), python)
}

fn client(api: &str) -> String {
    format!(
        "import os\n\nfrom domesday_client import Client\n\n\
         client = Client({}, os.environ[\"DOMESDAY_KEY\"])\n",
        Value::from(api)
    )
}

fn copies(curl: String, python: String) -> [ProgramCopy; 2] {
    [
        ProgramCopy {
            heading: "curl",
            text: curl,
        },
        ProgramCopy {
            heading: "Python",
            text: python,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_address_with_quotation_marks_stays_one_text() {
        let [curl, python] = of_value("http://a", &json!({"street": "O'Neil'''s"}));
        assert!(curl.text.contains(r"O'\''Neil"), "{}", curl.text);
        assert!(python.text.contains(r"O'Neil\u0027''s"), "{}", python.text);
    }

    #[test]
    fn each_selection_is_a_query() {
        let fields = Fields::parse(b"dataset=bank_rate&from=2024-01-01&to=2024-02-01");
        let [curl, python] = of_series("http://a", "rates", &[fields.clone(), fields]);
        assert_eq!(
            curl.text
                .matches("/v1/rates/series?dataset=bank_rate")
                .count(),
            2
        );
        let query = r#"client.rates.series("bank_rate", from_="2024-01-01", to="2024-02-01")"#;
        assert_eq!(python.text.matches(query).count(), 2, "{}", python.text);
    }
}
