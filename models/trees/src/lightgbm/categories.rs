//! The names of categories, which a model that was trained on a data frame of pandas states.

use crate::ModelError;
use serde_json::Value;

/// Begins the line that states them, after the trees.
const LINE: &str = "pandas_categorical:";

/// The place of that line in a message.
const PLACE: &str = "the end of the model";

/// Reads the names of each input's categories. The file lists them for the categorical inputs in
/// their order, without the inputs' names.
///
/// `stated` says which inputs are categorical, and `is_categorical` does by name for the others.
pub(super) fn read(
    text: &str,
    inputs: &[String],
    stated: &[Option<bool>],
    is_categorical: &dyn Fn(&str) -> bool,
) -> Result<Vec<Option<Vec<String>>>, ModelError> {
    let Some(line) = text.lines().rev().find_map(|line| line.strip_prefix(LINE)) else {
        return Ok(Vec::new());
    };
    let lists: Option<Vec<Vec<Value>>> =
        serde_json::from_str(line).map_err(|why| ModelError::InvalidLine {
            place: PLACE.to_owned(),
            name: "pandas_categorical",
            found: why.to_string(),
        })?;
    let lists = lists.unwrap_or_default();
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    let has_list = find_listed(inputs, stated, is_categorical, lists.len())?;
    let mut lists = lists.into_iter();
    let names = has_list.into_iter().map(|has_list| match has_list {
        true => crate::category_names::of(lists.next().unwrap_or_default()),
        false => None,
    });
    Ok(names.collect())
}

/// Finds the inputs that have a list, of which there are `lists`.
///
/// LightGBM states `none` for an input that no tree can use, whether its constant is a number or a
/// category. Those of categories have a list too.
fn find_listed(
    inputs: &[String],
    stated: &[Option<bool>],
    is_categorical: &dyn Fn(&str) -> bool,
    lists: usize,
) -> Result<Vec<bool>, ModelError> {
    let listed_with = |decide: &dyn Fn(&str) -> bool| -> Vec<bool> {
        let named = inputs.iter().zip(stated);
        named
            .map(|(input, stated)| stated.unwrap_or_else(|| decide(input.as_str())))
            .collect()
    };
    let count = |listed: &[bool]| listed.iter().filter(|is| **is).count();
    let fewest = listed_with(&|_| false);
    let most = listed_with(&|_| true);
    let bounds = (count(&fewest), count(&most));
    for listed in [fewest, most, listed_with(is_categorical)] {
        if count(&listed) == lists {
            return Ok(listed);
        }
    }
    if !(bounds.0..=bounds.1).contains(&lists) {
        return Err(ModelError::WrongCount {
            place: PLACE.to_owned(),
            name: "pandas_categorical",
            found: lists,
            needed: lists.clamp(bounds.0, bounds.1),
        });
    }
    let open = inputs.iter().zip(stated);
    let open: Vec<&str> = open
        .filter(|(_, stated)| stated.is_none())
        .map(|(input, _)| input.as_str())
        .collect();
    Err(ModelError::Unsupported {
        place: PLACE.to_owned(),
        what: format!(
            "pandas_categorical lists the categories of {} of the constant inputs {} without a name",
            lists - bounds.0,
            open.join(", ")
        ),
        instead: "map each input of categories to a categorical feature, or train without these",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str, is_categorical: &[bool]) -> Result<Vec<Option<Vec<String>>>, String> {
        let stated: Vec<Option<bool>> = is_categorical.iter().copied().map(Some).collect();
        names_with(line, &stated, &|_| false)
    }

    /// Reads the names of inputs that are called a, b and so on.
    fn names_with(
        line: &str,
        stated: &[Option<bool>],
        is_categorical: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Option<Vec<String>>>, String> {
        let text = format!("end of parameters\n\n{line}\n");
        let inputs: Vec<String> = ('a'..='z').map(String::from).collect();
        read(&text, &inputs, stated, is_categorical).map_err(|error| error.to_string())
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
    fn a_constant_input_of_categories_has_a_list_too() {
        let line = r#"pandas_categorical:[["england"], ["flat", "terraced"]]"#;
        let of = |names: &[&str]| -> Option<Vec<String>> {
            Some(names.iter().map(|name| (*name).to_owned()).collect())
        };
        let (country, kind) = (of(&["england"]), of(&["flat", "terraced"]));
        let sure = names_with(line, &[None, Some(true)], &|_| false);
        assert_eq!(sure.unwrap(), [country.clone(), kind.clone()]);
        let stated = [None, Some(false), Some(true), None];
        for (constant, expected) in [
            ("a", [country.clone(), None, kind.clone(), None]),
            ("d", [None, None, country, kind]),
        ] {
            let found = names_with(line, &stated, &|input| input == constant);
            assert_eq!(found.unwrap(), expected);
        }
        let refused = names_with(line, &stated, &|_| false).unwrap_err();
        assert!(
            refused.contains("the categories of 1 of the constant inputs a, d without a name"),
            "{refused}"
        );
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
