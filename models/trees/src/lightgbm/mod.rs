//! LightGBM's text models (`Booster.save_model`), versions 3 and 4 of the format.

#[cfg(not(target_arch = "wasm32"))]
mod categories;
mod header;
mod lines;
mod objective;
mod tree;

use crate::{Arithmetic, Ensemble, ModelError};
use header::Header;
use lines::Lines;

/// Reads a text model.
///
/// # Errors
/// [`ModelError`] if the text is malformed, or the model has linear leaves, several classes or an
/// objective that does not predict a value.
pub fn read(text: &str) -> Result<Ensemble, ModelError> {
    read_with(text, &|_| false)
}

/// Reads the same. `is_categorical` decides by name which inputs are categorical among those that
/// no tree can use, since the text does not say it.
///
/// # Errors
/// [`ModelError`], as [`read`].
pub fn read_with(
    text: &str,
    is_categorical: &dyn Fn(&str) -> bool,
) -> Result<Ensemble, ModelError> {
    // An editor on Windows may have changed line ends.
    let text = &text.replace("\r\n", "\n");
    let mut sections = text.split("\n\n").map(str::trim).filter(|s| !s.is_empty());
    let first = sections.next().unwrap_or_default();
    if first.lines().next().map(str::trim) != Some("tree") {
        return Err(ModelError::NotLightGbm(
            "it does not begin with the line \"tree\"; save it with Booster.save_model".to_owned(),
        ));
    }
    let header = Header::read(&Lines::of("the header", first))?;
    let mut trees = Vec::new();
    let mut ended = false;
    for section in sections {
        let first = section.lines().next().unwrap_or_default();
        if !first.starts_with("Tree=") {
            ended = first.trim() == "end of trees";
            break;
        }
        let place = format!("tree {}", trees.len());
        let lines = Lines::of(&place, section);
        let number: usize = lines.one("Tree")?;
        if number != trees.len() {
            return Err(ModelError::InvalidTree {
                place,
                problem: format!("it is numbered {number}"),
            });
        }
        trees.push(tree::read(&lines, header.inputs.len())?);
    }
    if !ended {
        return Err(ModelError::NotLightGbm(
            "the line \"end of trees\" does not follow the trees: the file is cut short".to_owned(),
        ));
    }
    if header.trees.is_some_and(|stated| stated != trees.len()) {
        return Err(ModelError::NotLightGbm(format!(
            "tree_sizes states {} trees; the file has {}",
            header.trees.unwrap_or_default(),
            trees.len()
        )));
    }
    // The sandbox reads no model.
    #[cfg(not(target_arch = "wasm32"))]
    let category_names =
        categories::read(text, &header.inputs, &header.is_categorical, is_categorical)?;
    #[cfg(target_arch = "wasm32")]
    let category_names = {
        let _ = is_categorical;
        Vec::new()
    };
    Ok(Ensemble {
        category_names,
        inputs: header.inputs,
        trees,
        arithmetic: Arithmetic::LightGbm,
        averaged: header.averaged,
        transform: header.transform,
    })
}

#[cfg(test)]
mod tests;
