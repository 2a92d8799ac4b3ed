//! Packing of a model into its layout, which `packed/layout.rs` describes.

mod columns;
mod nodes;

use crate::packed::layout::{AVERAGED, HEADER_WORDS, MAGIC, Part, SINGLE};
use crate::{Arithmetic, Ensemble, ModelError};
use columns::Columns;

/// Most words of eight bytes of a packed model.
pub const MAX_WORDS: usize = 6 << 20;

/// Packs a model into words, which [`crate::Forest::read`] reads.
///
/// # Errors
/// [`ModelError::TooMany`] if the model exceeds a limit of the layout.
pub fn pack(model: &Ensemble) -> Result<Vec<u64>, ModelError> {
    let columns = Columns::of(model)?;
    let layout = nodes::lay_out(model, &columns)?;
    let header = [
        MAGIC,
        model.inputs.len() as u64,
        model.transform.number()
            | u64::from(model.averaged) << AVERAGED
            | match model.arithmetic {
                Arithmetic::LightGbm => 0,
                Arithmetic::XgBoost { base } => 1 << SINGLE | u64::from(base.to_bits()) << 32,
            },
        layout.deepest as u64,
        columns.count() as u64,
    ];
    let mut words = header.to_vec();
    words.resize(HEADER_WORDS, 0);
    let mut add = |part: Part, section: Vec<u64>| {
        words[part.header()] = (words.len() as u64) | (section.len() as u64) << 32;
        words.extend(section);
    };
    add(Part::Ranked, columns.ranked_words());
    add(Part::Rules, columns.rule_words());
    add(Part::Thresholds, columns.threshold_words());
    add(Part::Sets, columns.set_words());
    add(Part::Categories, columns.category_words()?);
    add(Part::Starts, layout.starts);
    add(Part::Firsts, layout.firsts);
    add(Part::Nodes, layout.nodes);
    add(Part::Leaves, layout.leaves);
    if words.len() > MAX_WORDS {
        return Err(ModelError::TooMany {
            place: "the model".to_owned(),
            what: "words of eight bytes once packed",
            found: words.len(),
            limit: MAX_WORDS,
        });
    }
    Ok(words)
}
