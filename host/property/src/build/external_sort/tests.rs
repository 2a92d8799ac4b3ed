//! The order is the same whatever fits the memory.

use super::*;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Word(u16, Vec<u64>);

impl Seed for Word {
    type Key = Word;
    fn key(&self) -> Word {
        self.clone()
    }
    fn heap(&self) -> usize {
        self.1.capacity() * 8
    }
}

fn sort_words(
    words: &[Word],
    memory: usize,
) -> (SortedSeeds<Word>, Rc<Scratch>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let scratch = Scratch::within(folder.path(), memory).unwrap();
    let mut sorter = Sorter::new(&scratch);
    for word in words {
        sorter.push(word.clone()).unwrap();
    }
    (sorter.finish().unwrap(), scratch, folder)
}

fn all(rows: Rows<'_, Word>) -> Vec<Word> {
    rows.map(Result::unwrap).collect()
}

proptest! {
    #[test]
    fn any_memory_gives_one_order(
        words in proptest::collection::vec((any::<u16>(), proptest::collection::vec(any::<u64>(), 0..4)), 0..300),
        memory in 0_usize..40_000,
    ) {
        let words: Vec<Word> = words.into_iter().map(|(a, b)| Word(a, b)).collect();
        let mut expected = words.clone();
        expected.sort();
        let (found, _scratch, _folder) = sort_words(&words, memory);
        prop_assert_eq!(found.count(), words.len() as u64);
        prop_assert_eq!(&all(found.rows().unwrap()), &expected, "lent");
        prop_assert_eq!(&all(found.drain().unwrap()), &expected, "drained");
    }
}

#[test]
fn drained_runs_are_deleted() {
    let words: Vec<Word> = (0..5_000).rev().map(|n| Word(n, vec![7])).collect();
    let (found, scratch, folder) = sort_words(&words, 1_000);
    let files = |place: &std::path::Path| std::fs::read_dir(place).unwrap().count();
    let place = scratch.file().parent().unwrap().to_owned();
    assert!((1..MOST_RUNS).contains(&files(&place)), "{}", files(&place));
    let mut rows = found.drain().unwrap();
    assert_eq!(
        files(&place),
        0,
        "their names go when they are read for the last time"
    );
    assert_eq!(rows.next().unwrap().unwrap(), Word(0, vec![7]));
    drop((rows, scratch));
    assert_eq!(files(folder.path()), 0);
}

/// Returns a kind of group that may have this many rows.
fn group_kind(most: usize) -> GroupKind<u32> {
    GroupKind {
        describe: |key| format!("the number {key}"),
        flags: "--rows",
        most,
    }
}

#[test]
fn a_group_has_no_more_rows_than_its_bound() {
    let rows = || [7, 7, 8, 8, 8, 9].into_iter().map(Ok);
    let mut groups = Groups::new(rows(), |row: &u32| *row, group_kind(3)).unwrap();
    while groups.next().unwrap().is_some() {}
    let mut groups = Groups::new(rows(), |row: &u32| *row, group_kind(2)).unwrap();
    assert_eq!(groups.next().unwrap(), Some((7, vec![7, 7])));
    let error = groups.next().unwrap_err();
    assert!(matches!(error, BuildError::TooManyRows { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("more than 2 rows of --rows share the number 8"),
        "{text}"
    );
}

#[test]
fn groups_skip_keys_below_the_query() {
    let rows = [(1, 'a'), (1, 'b'), (2, 'c'), (5, 'd'), (5, 'e'), (9, 'f')];
    let rows = rows.into_iter().map(Ok);
    let mut groups = Groups::new(rows, |row: &(u32, char)| row.0, group_kind(2)).unwrap();
    assert_eq!(groups.next().unwrap(), Some((1, vec![(1, 'a'), (1, 'b')])));
    assert_eq!(groups.at(3).unwrap(), []);
    assert_eq!(groups.at(5).unwrap(), [(5, 'd'), (5, 'e')]);
    assert_eq!(groups.at(5).unwrap(), []);
    assert_eq!(groups.ahead(), Some(9));
    assert_eq!(groups.next().unwrap(), Some((9, vec![(9, 'f')])));
    assert_eq!(groups.next().unwrap(), None);
}
