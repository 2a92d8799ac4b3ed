//! The names of categories, which a model that was trained on a data frame states.

use crate::ModelError;
use serde::Deserialize;
use serde_json::Value;

/// The member `cats` of a model: an entry for each input.
#[derive(Default, Deserialize)]
pub(super) struct Names {
    #[serde(default)]
    enc: Vec<Encoding>,
}

/// The categories of an input. Text is one run of bytes, cut at the offsets.
#[derive(Deserialize)]
struct Encoding {
    offsets: Option<Vec<usize>>,
    values: Vec<Value>,
}

impl Names {
    /// Returns the names of each input's categories.
    pub(super) fn read(self, inputs: usize) -> Result<Vec<Option<Vec<String>>>, ModelError> {
        if self.enc.is_empty() {
            return Ok(Vec::new());
        }
        if self.enc.len() != inputs {
            return Err(ModelError::WrongCount {
                place: "cats".to_owned(),
                name: "enc",
                found: self.enc.len(),
                needed: inputs,
            });
        }
        self.enc.into_iter().map(Encoding::names).collect()
    }
}

impl Encoding {
    fn names(self) -> Result<Option<Vec<String>>, ModelError> {
        let Some(offsets) = self.offsets else {
            return Ok(crate::category_names::of(self.values));
        };
        let invalid = || ModelError::NotXgBoost("cats: the names of categories are cut".to_owned());
        let bytes = self.values.iter().map(|value| {
            let byte = value.as_u64().and_then(|byte| u8::try_from(byte).ok());
            byte.ok_or_else(invalid)
        });
        let bytes = bytes.collect::<Result<Vec<u8>, _>>()?;
        let names = offsets.windows(2).map(|ends| {
            let name = bytes.get(ends[0]..ends[1]).ok_or_else(invalid)?;
            String::from_utf8(name.to_vec()).map_err(|_| invalid())
        });
        let names = names.collect::<Result<Vec<String>, ModelError>>()?;
        Ok((!names.is_empty()).then_some(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As XGBoost 3.1 writes them for a data frame of pandas.
    const CATS: &str = r#"{"enc": [
        {"offsets": [], "values": []},
        {"offsets": [0, 4, 12], "values": [102, 108, 97, 116, 116, 101, 114, 114, 97, 99, 101, 100]},
        {"type": 15, "values": [1, 2, 3]}
    ], "feature_segments": [0, 0, 2, 5], "sorted_idx": [0, 1, 0, 1, 2]}"#;

    fn names(text: &str, inputs: usize) -> Result<Vec<Option<Vec<String>>>, ModelError> {
        serde_json::from_str::<Names>(text).unwrap().read(inputs)
    }

    #[test]
    fn text_is_cut_at_its_offsets_and_numbers_are_written_out() {
        let text = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let expected: Vec<Option<Vec<String>>> =
            vec![None, text(&["flat", "terraced"]), text(&["1", "2", "3"])];
        assert_eq!(names(CATS, 3).unwrap(), expected);
        assert_eq!(names("{}", 3).unwrap(), []);
    }

    #[test]
    fn names_that_are_cut_or_of_other_inputs_are_refused() {
        assert!(names(CATS, 2).is_err());
        assert!(names(&CATS.replace("[0, 4, 12]", "[0, 4, 99]"), 3).is_err());
        assert!(names(&CATS.replace("102", "999"), 3).is_err());
    }
}
