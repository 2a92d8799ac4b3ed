//! What ran, in a file, so that a run that was ended goes on.

use crate::chaos::faults::{ChaosFault, Store};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

/// The faults that were proved, in their order.
pub struct Record {
    path: Option<PathBuf>,
    lines: Vec<String>,
}

/// A fault that was proved.
pub struct Proved {
    pub kind: ChaosFault,
    pub recovery_millis: u128,
    pub answered: u64,
    pub unknown: u64,
    pub unknown_used: u64,
    pub jobs: usize,
    pub said: Option<String>,
}

impl Record {
    /// Returns the record of a seed's run, as far as that went, or one that is not kept.
    pub fn open(store: Store, kept: Option<u64>) -> Record {
        let path = kept.map(|seed| {
            let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("chaos");
            fs::create_dir_all(&folder).unwrap();
            folder.join(format!("{store:?}-{seed}.tsv").to_lowercase())
        });
        let text = path.as_ref().and_then(|path| fs::read_to_string(path).ok());
        let lines = text.unwrap_or_default();
        Record {
            path,
            lines: lines.lines().map(str::to_owned).collect(),
        }
    }

    /// Counts the faults that were proved.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Adds a fault.
    pub fn add(&mut self, proved: &Proved) {
        let line = format!(
            "{:?}\t{}\t{}\t{}\t{}\t{}\t{}",
            proved.kind,
            proved.recovery_millis,
            proved.jobs,
            proved.answered,
            proved.unknown,
            proved.unknown_used,
            proved.said.as_deref().unwrap_or("-"),
        );
        if let Some(path) = &self.path {
            let mut file = File::options()
                .create(true)
                .append(true)
                .open(path)
                .unwrap();
            writeln!(file, "{line}").unwrap();
        }
        self.lines.push(line);
    }

    /// Prints the counts of each kind.
    pub fn print(&self, store: Store, seed: u64) {
        let mut kinds = BTreeMap::<&str, (u64, u64)>::new();
        let mut sums = [0; 4];
        for line in &self.lines {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |at: usize| fields[at].parse::<u64>().unwrap();
            let (count, longest) = kinds.entry(fields[0]).or_default();
            *count += 1;
            *longest = number(1).max(*longest);
            for (at, sum) in sums.iter_mut().enumerate() {
                *sum += number(at + 2);
            }
        }
        for (kind, (count, longest)) in &kinds {
            println!("counts: chaos on {store:?}: {kind} {count}, longest recovery {longest} ms");
        }
        let [jobs, answered, unknown, used] = sums;
        println!(
            "counts: chaos on {store:?}, seed {seed}: faults {}, jobs {jobs}, units of values answered \
             {answered}, lost 0, doubled 0, of unknown outcome {unknown}, of which used {used}",
            self.len()
        );
    }
}
