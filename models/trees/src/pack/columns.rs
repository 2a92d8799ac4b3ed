//! The columns of a model: an input under one rule for missing values, or against one set.

use crate::packed::layout::{BITS_A_WORD, Rule};
use crate::{CategorySet, Ensemble, Missing, ModelError, Node, Numeric, Split};
use std::collections::BTreeMap;

/// Most distinct thresholds of an input. The greatest 16-bit number marks leaves and missing inputs
/// that go right.
const MAX_THRESHOLDS: usize = 0xFFFE;
/// Most columns of a model.
const MAX_COLUMNS: usize = 0xFFFF;
/// Most words of an input's table of categories.
const MAX_CATEGORY_WORDS: usize = 4 << 20;

/// Rows of a table beside the categories: other categories, and NaN.
const EXTRA_ROWS: usize = 2;

/// The columns of a model, in the order of inputs: comparisons first, then sets.
pub(super) struct Columns<'a> {
    inputs: &'a [String],
    ranked: BTreeMap<usize, InputThresholds>,
    sets: BTreeMap<usize, BTreeMap<&'a CategorySet, usize>>,
    count: usize,
}

/// The thresholds and rules of an input.
#[derive(Default)]
struct InputThresholds {
    /// Distinct thresholds, increasing.
    thresholds: Vec<f64>,
    /// Column of each rule in use.
    rules: BTreeMap<Rule, usize>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(model: &'a Ensemble) -> Result<Columns<'a>, ModelError> {
        let mut columns = Columns {
            inputs: &model.inputs,
            ranked: BTreeMap::new(),
            sets: BTreeMap::new(),
            count: 0,
        };
        for node in model.trees.iter().flat_map(|tree| &tree.nodes) {
            match &node.split {
                Split::Numeric(numeric) => {
                    let ranked = columns.ranked.entry(node.input).or_default();
                    ranked.thresholds.push(numeric.threshold);
                    ranked.rules.insert(rule(numeric), 0);
                }
                Split::Categorical(set) => {
                    let sets = columns.sets.entry(node.input).or_default();
                    sets.insert(set, 0);
                }
            }
        }
        for (input, ranked) in &mut columns.ranked {
            let thresholds = &mut ranked.thresholds;
            thresholds.sort_unstable_by(f64::total_cmp);
            // -0 and 0 are one threshold.
            thresholds.dedup_by(|a, b| a == b);
            if thresholds.len() > MAX_THRESHOLDS {
                return Err(ModelError::TooMany {
                    place: format!("the input {}", model.inputs[*input]),
                    what: "distinct thresholds",
                    found: thresholds.len(),
                    limit: MAX_THRESHOLDS,
                });
            }
        }
        let rules = columns
            .ranked
            .values_mut()
            .flat_map(|r| r.rules.values_mut());
        let sets = columns.sets.values_mut().flat_map(BTreeMap::values_mut);
        for column in rules.chain(sets) {
            *column = columns.count;
            columns.count += 1;
        }
        if columns.count > MAX_COLUMNS {
            return Err(ModelError::TooMany {
                place: "the model".to_owned(),
                what: "columns: rules of missing values and distinct sets of categories",
                found: columns.count,
                limit: MAX_COLUMNS,
            });
        }
        Ok(columns)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the column of a node and the greatest rank that goes left.
    pub(super) fn split(&self, node: &Node) -> (usize, usize) {
        match &node.split {
            Split::Numeric(numeric) => {
                let ranked = &self.ranked[&node.input];
                let at = ranked
                    .thresholds
                    .partition_point(|threshold| *threshold < numeric.threshold);
                (ranked.rules[&rule(numeric)], at)
            }
            Split::Categorical(set) => (self.sets[&node.input][set], 0),
        }
    }

    /// Returns three words for each ranked input. The first is its number. The second packs its
    /// first threshold and their number. The third packs the rank of zero and the number of rules.
    pub(super) fn ranked_words(&self) -> Vec<u64> {
        let mut start = 0;
        let mut words = Vec::new();
        for (input, ranked) in &self.ranked {
            let of_zero = ranked
                .thresholds
                .partition_point(|threshold| *threshold < 0.0);
            words.push(*input as u64);
            words.push(start as u64 | (ranked.thresholds.len() as u64) << 32);
            words.push(of_zero as u64 | (ranked.rules.len() as u64) << 32);
            start += ranked.thresholds.len();
        }
        words
    }

    pub(super) fn rule_words(&self) -> Vec<u64> {
        let rules = self.ranked.values().flat_map(|ranked| ranked.rules.keys());
        rules.map(|rule| *rule as u64).collect()
    }

    pub(super) fn threshold_words(&self) -> Vec<u64> {
        let all = self.ranked.values().flat_map(|ranked| &ranked.thresholds);
        all.map(|threshold| threshold.to_bits()).collect()
    }

    /// Returns three words for each categorical input. The first is its number. The second packs
    /// the numbers of categories and sets. The third is the first word of its table.
    pub(super) fn set_words(&self) -> Vec<u64> {
        let mut start = 0;
        let mut words = Vec::new();
        for (input, sets) in &self.sets {
            let (rows, width) = table(sets.keys().copied());
            words.push(*input as u64);
            words.push(rows as u64 | (sets.len() as u64) << 32);
            words.push(start as u64);
            start += (rows + EXTRA_ROWS) * width;
        }
        words
    }

    /// Returns the tables of categories: a row for each category, one for others and one for NaN. A
    /// bit is 1 if the set lacks the category.
    pub(super) fn category_words(&self) -> Result<Vec<u64>, ModelError> {
        let mut words = Vec::new();
        for (input, sets) in &self.sets {
            let (rows, width) = table(sets.keys().copied());
            let size = (rows + EXTRA_ROWS) * width;
            if size > MAX_CATEGORY_WORDS {
                return Err(ModelError::TooMany {
                    place: format!("the input {}", self.inputs[*input]),
                    what: "words in the table of its categories and sets",
                    found: size,
                    limit: MAX_CATEGORY_WORDS,
                });
            }
            let mut row = |holds: &dyn Fn(&CategorySet) -> bool| {
                let mut row = vec![u64::MAX; width];
                for (at, set) in sets.keys().enumerate() {
                    if holds(set) {
                        row[at / BITS_A_WORD] &= !(1 << (at % BITS_A_WORD));
                    }
                }
                words.extend(row);
            };
            for category in 0..rows {
                row(&|set| set.contains(category));
            }
            row(&|_| false);
            row(&CategorySet::contains_missing);
        }
        Ok(words)
    }
}

/// Returns the number of categories, and the words of a row.
fn table<'s>(sets: impl ExactSizeIterator<Item = &'s CategorySet>) -> (usize, usize) {
    let width = sets.len().div_ceil(BITS_A_WORD);
    (sets.map(CategorySet::end).max().unwrap_or(0), width)
}

fn rule(numeric: &Numeric) -> Rule {
    match (numeric.missing, numeric.default_left) {
        (Missing::None, _) => Rule::Plain,
        (Missing::Zero, true) => Rule::ZeroLeft,
        (Missing::Zero, false) => Rule::ZeroRight,
        (Missing::Nan, true) => Rule::NanLeft,
        (Missing::Nan, false) => Rule::NanRight,
    }
}
