//! The names of categories, which a model that was trained on a data frame of pandas states.

use crate::ModelError;
use serde_json::Value;

/// Begins the line that states them, after the trees.
const LINE: &str = "pandas_categorical:";

/// Reads the names of each input's categories. The file lists them for the categorical inputs in
/// their order, without the inputs' names.
pub(super) fn read(
    text: &str,
    is_categorical: &[bool],
) -> Result<Vec<Option<Vec<String>>>, ModelError> {
    let Some(stated) = text.lines().rev().find_map(|line| line.strip_prefix(LINE)) else {
        return Ok(Vec::new());
    };
    let lists: Option<Vec<Vec<Value>>> =
        serde_json::from_str(stated).map_err(|why| ModelError::InvalidLine {
            place: "the end of the model".to_owned(),
            name: "pandas_categorical",
            found: why.to_string(),
        })?;
    let lists = lists.unwrap_or_default();
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    let categorical = is_categorical.iter().filter(|is| **is).count();
    if categorical != lists.len() {
        return Err(ModelError::WrongCount {
            place: "the end of the model".to_owned(),
            name: "pandas_categorical",
            found: lists.len(),
            needed: categorical,
        });
    }
    let mut lists = lists.into_iter();
    let names = is_categorical.iter().map(|is| match is {
        true => crate::category_names::of(lists.next().unwrap_or_default()),
        false => None,
    });
    Ok(names.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str, is_categorical: &[bool]) -> Result<Vec<Option<Vec<String>>>, String> {
        let text = format!("end of parameters\n\n{line}\n");
        read(&text, is_categorical).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_belong_to_the_categorical_inputs_in_their_order() {
        let line = r#"pandas_categorical:[["flat", "terraced"], [0, 1]]"#;
        let found = names(line, &[false, true, false, true]).unwrap();
        let of_type = Some(vec!["flat".to_owned(), "terraced".to_owned()]);
        assert_eq!(found, [None, of_type, None, None]);
        for none in ["pandas_categorical:[]", "pandas_categorical:null", ""] {
            assert_eq!(names(none, &[true]).unwrap(), []);
        }
    }

    #[test]
    fn a_list_that_fits_no_input_is_refused() {
        let refused = names(r#"pandas_categorical:[["flat"]]"#, &[true, true]).unwrap_err();
        assert!(
            refused.contains("pandas_categorical has 1 values; 2 are needed"),
            "{refused}"
        );
        assert!(names("pandas_categorical:[[", &[true]).is_err());
    }
}
