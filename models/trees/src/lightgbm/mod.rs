//! LightGBM's text models (`Booster.save_model`), version 3 and 4 of the format.

mod header;
mod lines;
mod objective;
mod tree;

use crate::{Arithmetic, Ensemble, Refused};
use header::Header;
use lines::Lines;

/// Reads a text model.
///
/// # Errors
/// Where it is not well-formed, or asks for what is not represented: linear trees, several classes,
/// objectives whose answer is no value.
pub fn read(text: &str) -> Result<Ensemble, Refused> {
    // Files that were edited on Windows.
    let text = &text.replace("\r\n", "\n");
    let mut sections = text.split("\n\n").map(str::trim).filter(|s| !s.is_empty());
    let first = sections.next().unwrap_or_default();
    if first.lines().next().map(str::trim) != Some("tree") {
        return Err(Refused::NotLightGbm(
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
            return Err(Refused::NoTree {
                place,
                problem: format!("it is numbered {number}"),
            });
        }
        trees.push(tree::read(&lines, header.inputs.len())?);
    }
    if !ended {
        return Err(Refused::NotLightGbm(
            "the line \"end of trees\" does not follow the trees: the file is cut short".to_owned(),
        ));
    }
    if header.trees.is_some_and(|told| told != trees.len()) {
        return Err(Refused::NotLightGbm(format!(
            "tree_sizes tells of {} trees, and there are {}",
            header.trees.unwrap_or_default(),
            trees.len()
        )));
    }
    Ok(Ensemble {
        inputs: header.inputs,
        trees,
        arithmetic: Arithmetic::LightGbm,
        averaged: header.averaged,
        transform: header.transform,
    })
}

#[cfg(test)]
mod tests;
