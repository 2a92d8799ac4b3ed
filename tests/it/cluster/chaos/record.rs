//! What ran, in a file, so that a run that was ended goes on.

use crate::chaos::faults::{ChaosFault, Store};
use crate::chaos::usage::Comparison;
use crate::common::program::repository;
use domesday_package::Sha256Digest;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Parts of the campaign that are no part of this binary.
const PARTS: [&str; 3] = [
    "examples/nginx/domesday.conf",
    "tests/faults/clock.c",
    "tests/faults/disk.c",
];

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
    /// The comparison of what was answered since the fault before.
    pub compared: Comparison,
    pub said: Option<String>,
}

impl Record {
    /// Returns the record of a seed's run, as far as that went, or one that is not kept. It is that
    /// of this program and this campaign: another one has to be proved anew.
    pub fn open(store: Store, kept: Option<u64>) -> Record {
        let path = kept.map(|seed| {
            let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("chaos");
            fs::create_dir_all(&folder).unwrap();
            let form = form();
            folder.join(format!("{store:?}-{seed}-{form}.tsv").to_lowercase())
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
            "{:?}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            proved.kind,
            proved.recovery_millis,
            proved.jobs,
            proved.answered,
            proved.unknown,
            proved.unknown_used,
            proved.compared.answers,
            proved.compared.lost,
            proved.compared.doubled,
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

    /// Prints the counts of each kind. The first faults were proved by earlier runs.
    pub fn print(&self, store: Store, seed: u64, earlier: usize) {
        let mut kinds = BTreeMap::<&str, (u64, u64)>::new();
        let mut sums = [0; 7];
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
        let [jobs, answered, unknown, used, answers, lost, doubled] = sums;
        let [answers, lost, doubled] =
            [answers, lost, doubled].map(|sum| usize::try_from(sum).unwrap());
        let compared = Comparison {
            answers,
            lost,
            doubled,
        };
        println!(
            "counts: chaos on {store:?}, seed {seed}: faults {}, {} of them now, jobs {jobs}, units \
             of values answered {answered}, {compared}, units of unknown outcome {unknown}, of which \
             used {used}",
            self.len(),
            self.len() - earlier
        );
    }
}

/// Returns a digest of the program under test and of the campaign.
fn form() -> String {
    let mut digests = String::new();
    let mut add = |path: &Path| {
        let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (digest, _) = Sha256Digest::of_stream(file, |_| Ok(())).unwrap();
        digests.push_str(&digest.to_string());
    };
    add(Path::new(env!("CARGO_BIN_EXE_domesday")));
    add(&std::env::current_exe().unwrap());
    for part in PARTS {
        add(&repository().join(part));
    }
    Sha256Digest::of(digests.as_bytes()).to_string()[..16].to_owned()
}
