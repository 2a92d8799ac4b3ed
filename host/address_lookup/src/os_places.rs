//! A strict reader of responses in the form of the OS Places API.
//!
//! It follows the technical specification. `header` has `totalresults`, `offset` and `maxresults`.
//! `results` is absent where there are none. Each result has a `DPA` (Royal Mail's delivery point)
//! or an `LPI` (the local authority's identifier). Numbers may come as text, and text as numbers.
//! The reader ignores other members.

use crate::Failure;
use serde::Deserialize;

/// Longest text of a field, bytes: as long as a request's own.
const TEXT_MAX: usize = 500;

/// One page of results.
#[derive(Debug)]
pub(crate) struct Page {
    /// Number of results over all pages.
    pub(crate) total: usize,
    /// The results of this page.
    pub(crate) results: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct PlacesResponse {
    header: Header,
    #[serde(default)]
    results: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Header {
    totalresults: usize,
    #[serde(default)]
    offset: Option<usize>,
    #[serde(default)]
    output_srs: Option<String>,
}

/// One result, which has one of the two forms.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE", default)]
pub(crate) struct Item {
    pub(crate) dpa: Option<Dpa>,
    pub(crate) lpi: Option<Lpi>,
}

/// Royal Mail's delivery point.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE", default)]
pub(crate) struct Dpa {
    #[serde(flatten)]
    pub(crate) common: Common,
    pub(crate) organisation_name: Text,
    pub(crate) sub_building_name: Text,
    pub(crate) building_name: Text,
    pub(crate) building_number: Text,
    pub(crate) dependent_thoroughfare_name: Text,
    pub(crate) thoroughfare_name: Text,
    pub(crate) double_dependent_locality: Text,
    pub(crate) dependent_locality: Text,
    pub(crate) post_town: Text,
    pub(crate) postcode: Text,
}

/// The local authority's identifier.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE", default)]
pub(crate) struct Lpi {
    #[serde(flatten)]
    pub(crate) common: Common,
    pub(crate) organisation: Text,
    pub(crate) sao_text: Text,
    pub(crate) sao_start_number: Text,
    pub(crate) sao_start_suffix: Text,
    pub(crate) sao_end_number: Text,
    pub(crate) sao_end_suffix: Text,
    pub(crate) pao_text: Text,
    pub(crate) pao_start_number: Text,
    pub(crate) pao_start_suffix: Text,
    pub(crate) pao_end_number: Text,
    pub(crate) pao_end_suffix: Text,
    pub(crate) street_description: Text,
    pub(crate) locality_name: Text,
    pub(crate) town_name: Text,
    pub(crate) postcode_locator: Text,
    pub(crate) lpi_logical_status_code: Text,
}

/// The members of both forms.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE", default)]
pub(crate) struct Common {
    pub(crate) uprn: Text,
    pub(crate) classification_code: Text,
    pub(crate) country_code: Text,
    pub(crate) logical_status_code: Text,
    pub(crate) blpu_state_code: Text,
    /// Representative point code: the accuracy of the property's point.
    pub(crate) rpc: Text,
    pub(crate) x_coordinate: Option<f64>,
    pub(crate) y_coordinate: Option<f64>,
}

/// A text, or a number as text; blank where it is absent.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "AnyText")]
pub(crate) struct Text(pub(crate) String);

#[derive(Deserialize)]
#[serde(untagged)]
enum AnyText {
    Text(String),
    Number(u64),
    Nothing(()),
}

impl From<AnyText> for Text {
    fn from(any: AnyText) -> Text {
        Text(match any {
            AnyText::Text(text) => text,
            AnyText::Number(number) => number.to_string(),
            AnyText::Nothing(()) => String::new(),
        })
    }
}

impl Text {
    /// Returns the text without white space around it.
    pub(crate) fn get(&self) -> &str {
        self.0.trim()
    }

    /// Returns whether the text exceeds the bound.
    fn is_too_long(&self) -> bool {
        self.0.len() > TEXT_MAX
    }
}

/// Reads the page at `offset`, of at most `most` results.
pub(crate) fn read(body: &[u8], offset: usize, most: usize) -> Result<Page, Failure> {
    let whole: PlacesResponse = serde_json::from_slice(body).map_err(|error| {
        tracing::debug!(%error, "cannot parse the address provider's response");
        Failure::Unreadable("the body is not the JSON of an address search")
    })?;
    let Header {
        totalresults,
        offset: stated,
        output_srs,
    } = whole.header;
    if stated.is_some_and(|stated| stated != offset) {
        return Err(Failure::Unreadable(
            "the offset differs from the requested one",
        ));
    }
    let grid = |srs: &String| matches!(srs.as_str(), "EPSG:27700" | "BNG");
    if output_srs.as_ref().is_some_and(|srs| !grid(srs)) {
        return Err(Failure::Unreadable("the coordinates are not National Grid"));
    }
    if whole.results.len() > most || offset + whole.results.len() > totalresults {
        return Err(Failure::Unreadable(
            "more results than `totalresults` states",
        ));
    }
    // An address is exact only among all the others, so a list with holes decides nothing.
    if whole.results.is_empty() && offset < totalresults {
        return Err(Failure::Unreadable(
            "fewer results than `totalresults` states",
        ));
    }
    if whole.results.iter().any(Item::is_too_long) {
        return Err(Failure::Unreadable("a field exceeds the length limit"));
    }
    Ok(Page {
        total: totalresults,
        results: whole.results,
    })
}

impl Item {
    fn is_too_long(&self) -> bool {
        let dpa = self.dpa.iter().flat_map(|dpa| {
            [
                &dpa.organisation_name,
                &dpa.sub_building_name,
                &dpa.building_name,
                &dpa.building_number,
                &dpa.dependent_thoroughfare_name,
                &dpa.thoroughfare_name,
                &dpa.double_dependent_locality,
                &dpa.dependent_locality,
                &dpa.post_town,
            ]
        });
        let lpi = self.lpi.iter().flat_map(|lpi| {
            [
                &lpi.organisation,
                &lpi.sao_text,
                &lpi.sao_start_number,
                &lpi.sao_start_suffix,
                &lpi.sao_end_number,
                &lpi.sao_end_suffix,
                &lpi.pao_text,
                &lpi.pao_start_number,
                &lpi.pao_start_suffix,
                &lpi.pao_end_number,
                &lpi.pao_end_suffix,
                &lpi.street_description,
                &lpi.locality_name,
                &lpi.town_name,
            ]
        });
        dpa.chain(lpi).any(Text::is_too_long)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(body: &str) -> Failure {
        read(body.as_bytes(), 0, 100).unwrap_err()
    }

    #[test]
    fn a_page_without_results_is_one_where_there_are_none() {
        let page = read(br#"{"header":{"totalresults":0,"offset":0}}"#, 0, 100).unwrap();
        assert_eq!((page.total, page.results.len()), (0, 0));
    }

    #[test]
    fn numbers_and_text_are_read_alike_and_the_rest_is_left_aside() {
        let body = br#"{"header":{"totalresults":2,"output_srs":"EPSG:27700","epoch":"120"},"results":[
            {"DPA":{"UPRN":"990000000001","BUILDING_NUMBER":"12","X_COORDINATE":437292.43,"NEW":[1]}},
            {"LPI":{"UPRN":990000000001,"PAO_START_NUMBER":12,"SAO_TEXT":null,"X_COORDINATE":437292}}]}"#;
        let page = read(body, 0, 100).unwrap();
        let dpa = page.results[0].dpa.as_ref().unwrap();
        let lpi = page.results[1].lpi.as_ref().unwrap();
        assert_eq!(dpa.common.uprn.get(), lpi.common.uprn.get());
        assert_eq!(dpa.building_number.get(), lpi.pao_start_number.get());
        assert_eq!(lpi.sao_text.get(), "");
        assert_eq!(lpi.common.x_coordinate, Some(437_292.0));
    }

    #[test]
    fn a_malformed_page_is_refused() {
        let one = r#""results":[{"DPA":{}}]"#;
        for body in [
            "".to_owned(),
            "<html>Sign in</html>".to_owned(),
            "[]".to_owned(),
            "{}".to_owned(),
            r#"{"results":[]}"#.to_owned(),
            r#"{"header":{"totalresults":-1}}"#.to_owned(),
            format!(r#"{{"header":{{"totalresults":1,"offset":100}},{one}}}"#),
            format!(r#"{{"header":{{"totalresults":0}},{one}}}"#),
            r#"{"header":{"totalresults":3}}"#.to_owned(),
            format!(r#"{{"header":{{"totalresults":1,"output_srs":"EPSG:4326"}},{one}}}"#),
            r#"{"header":{"totalresults":1},"results":[{"DPA":{"UPRN":{}}}]}"#.to_owned(),
            r#"{"header":{"totalresults":1},"results":[{"DPA":{"X_COORDINATE":"4"}}]}"#.to_owned(),
            format!(
                r#"{{"header":{{"totalresults":1}},"results":[{{"LPI":{{"PAO_TEXT":"{}"}}}}]}}"#,
                "x".repeat(501)
            ),
            "[".repeat(100_000),
        ] {
            assert!(matches!(why(&body), Failure::Unreadable(_)), "{body:.200}");
        }
        let many = r#"{"header":{"totalresults":900},"results":[{},{},{}]}"#;
        assert!(read(many.as_bytes(), 0, 2).is_err());
    }
}
