//! Lays a model out for walking. `packed.rs` says what the words mean.

mod columns;
mod nodes;

use crate::packed::{AVERAGED, HEADER_WORDS, MAGIC, Part, SINGLE};
use crate::{Arithmetic, Ensemble, Refused};
use columns::Columns;

/// The largest packed model, words of eight bytes.
const MOST_WORDS: usize = 6 << 20;

/// Packs a model into words that a [`crate::Forest`] is read from.
///
/// # Errors
/// Where the model has more of something than the layout can number.
pub fn pack(model: &Ensemble) -> Result<Vec<u64>, Refused> {
    let columns = Columns::of(model)?;
    let laid = nodes::lay(model, &columns)?;
    let header = [
        MAGIC,
        model.inputs.len() as u64,
        model.transform.number()
            | u64::from(model.averaged) << AVERAGED
            | match model.arithmetic {
                Arithmetic::LightGbm => 0,
                Arithmetic::XgBoost { base } => 1 << SINGLE | u64::from(base.to_bits()) << 32,
            },
        laid.deepest as u64,
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
    add(Part::Starts, laid.starts);
    add(Part::Firsts, laid.firsts);
    add(Part::Nodes, laid.nodes);
    add(Part::Leaves, laid.leaves);
    if words.len() > MOST_WORDS {
        return Err(Refused::TooMany {
            place: "the model".to_owned(),
            what: "words of eight bytes once packed",
            found: words.len(),
            limit: MOST_WORDS,
        });
    }
    Ok(words)
}
