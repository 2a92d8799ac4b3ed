//! Columns: each is an input under one rule of what is missing, or against one set of categories.

use crate::packed::{BITS_A_WORD, Rule};
use crate::{Ensemble, Missing, Node, Numeric, Refused, Set, Split};
use std::collections::BTreeMap;

/// Distinct thresholds of one input: the highest number of sixteen bits marks leaves, and what is missing
/// and goes right.
const MOST_THRESHOLDS: usize = 0xFFFE;
/// Columns of a model.
const MOST_COLUMNS: usize = 0xFFFF;
/// Words of eight bytes in the table of an input's categories.
const MOST_CATEGORY_WORDS: usize = 4 << 20;

/// Rows of a table beside those of categories: for all others, and for what is no number.
const BESIDE: usize = 2;

/// The columns of a model, numbered in the order of inputs; comparisons first, then sets.
pub(super) struct Columns<'a> {
    inputs: &'a [String],
    ranked: BTreeMap<usize, Ranked>,
    sets: BTreeMap<usize, BTreeMap<&'a Set, usize>>,
    count: usize,
}

/// An input that is compared with thresholds.
#[derive(Default)]
struct Ranked {
    /// Rising, none twice.
    thresholds: Vec<f64>,
    /// The rules in use, with the column of each.
    rules: BTreeMap<Rule, usize>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(model: &'a Ensemble) -> Result<Columns<'a>, Refused> {
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
            if thresholds.len() > MOST_THRESHOLDS {
                return Err(Refused::TooMany {
                    place: format!("the input {}", model.inputs[*input]),
                    what: "distinct thresholds",
                    found: thresholds.len(),
                    limit: MOST_THRESHOLDS,
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
        if columns.count > MOST_COLUMNS {
            return Err(Refused::TooMany {
                place: "the model".to_owned(),
                what: "columns: rules of missing values and distinct sets of categories",
                found: columns.count,
                limit: MOST_COLUMNS,
            });
        }
        Ok(columns)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The column of a node and the highest number in it that goes left.
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

    /// Of each ranked input: its number, where its thresholds begin and how many they are, the rank of
    /// nought and how many rules there are.
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

    /// Of each categorical input: its number, how many categories have a row, how many sets there are and
    /// where its table begins.
    pub(super) fn set_words(&self) -> Vec<u64> {
        let mut start = 0;
        let mut words = Vec::new();
        for (input, sets) in &self.sets {
            let (rows, width) = table(sets.keys().copied());
            words.push(*input as u64);
            words.push(rows as u64 | (sets.len() as u64) << 32);
            words.push(start as u64);
            start += (rows + BESIDE) * width;
        }
        words
    }

    /// Of each categorical input a row for each category, one for all others and one for what is no number: a bit
    /// for each set that it is not of.
    pub(super) fn category_words(&self) -> Result<Vec<u64>, Refused> {
        let mut words = Vec::new();
        for (input, sets) in &self.sets {
            let (rows, width) = table(sets.keys().copied());
            let size = (rows + BESIDE) * width;
            if size > MOST_CATEGORY_WORDS {
                return Err(Refused::TooMany {
                    place: format!("the input {}", self.inputs[*input]),
                    what: "words in the table of its categories and sets",
                    found: size,
                    limit: MOST_CATEGORY_WORDS,
                });
            }
            let mut row = |holds: &dyn Fn(&Set) -> bool| {
                let mut row = vec![u64::MAX; width];
                for (at, set) in sets.keys().enumerate() {
                    if holds(set) {
                        row[at / BITS_A_WORD] &= !(1 << (at % BITS_A_WORD));
                    }
                }
                words.extend(row);
            };
            for category in 0..rows {
                row(&|set| set.holds(category));
            }
            row(&|_| false);
            row(&Set::holds_missing);
        }
        Ok(words)
    }
}

/// Rows of categories, and words in each.
fn table<'s>(sets: impl ExactSizeIterator<Item = &'s Set>) -> (usize, usize) {
    let width = sets.len().div_ceil(BITS_A_WORD);
    (sets.map(Set::end).max().unwrap_or(0), width)
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
