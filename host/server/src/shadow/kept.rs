//! Pairs on disk: a folder for each candidate, in it one for each release that it stood beside.
//!
//! Each row is a line of JSON that is written whole. So many lines are kept in `pairs.jsonl`; then that becomes
//! `pairs.before.jsonl`, in place of what had that name, so that the latest rows are always there and the folder never
//! grows past twice as many.

use super::about::About;
use crate::private_file;
use domesday_backtest::compare::paired::Paired;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Rows in a file, some 600 bytes each.
pub const ROWS: usize = 10_000;
/// The rows that are written.
pub const NOW: &str = "pairs.jsonl";
/// The rows before them.
pub const BEFORE: &str = "pairs.before.jsonl";
/// What they are of.
pub const ABOUT: &str = "about.json";

/// One row with its time.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// When the current release answered, seconds since 1970-01-01 UTC.
    pub at: i64,
    /// What both said.
    pub pair: Paired,
}

/// Keeps pairs of one candidate.
pub(super) struct Keeper {
    folder: PathBuf,
    most: usize,
    open: Option<Open>,
}

/// The rows beside one release.
struct Open {
    current: String,
    folder: PathBuf,
    file: File,
    rows: usize,
}

impl Keeper {
    /// Keeps them in this folder, which is made when there is the first.
    pub fn new(folder: PathBuf) -> Keeper {
        Keeper {
            folder,
            most: ROWS,
            open: None,
        }
    }

    /// Keeps a row beside the current release; `about` says once what the rows are of.
    ///
    /// # Errors
    /// Where it cannot be written; the next row is tried anew.
    pub fn keep(
        &mut self,
        current: &str,
        row: &Kept,
        about: impl FnOnce() -> About,
    ) -> std::io::Result<()> {
        let mut open = match self.open.take() {
            Some(open) if open.current == current => open,
            _ => Open::new(&self.folder, current, &about())?,
        };
        if open.rows >= self.most {
            fs::rename(open.folder.join(NOW), open.folder.join(BEFORE))?;
            (open.file, open.rows) = appending(&open.folder)?;
        }
        let mut line = serde_json::to_vec(row)?;
        line.push(b'\n');
        // One call, so that a reader never sees a part of it but at the very end.
        open.file.write_all(&line)?;
        open.rows += 1;
        self.open = Some(open);
        Ok(())
    }
}

impl Open {
    fn new(candidate: &Path, current: &str, about: &About) -> std::io::Result<Open> {
        let folder = candidate.join(current);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        private_file::write(&folder.join(ABOUT), &serde_json::to_vec(about)?)?;
        let (file, rows) = appending(&folder)?;
        Ok(Open {
            current: current.to_owned(),
            folder,
            file,
            rows,
        })
    }
}

/// The file that rows are added to, and how many it has. The end of a row that was cut off when a host went down is ended.
fn appending(folder: &Path) -> std::io::Result<(File, usize)> {
    let path = folder.join(NOW);
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).mode(0o600).open(&path)?;
    let bytes = fs::read(&path)?;
    if bytes.last().is_some_and(|last| *last != b'\n') {
        file.write_all(b"\n")?;
    }
    Ok((file, bytes.iter().filter(|byte| **byte == b'\n').count()))
}

/// The rows of a folder, oldest first, and whether there were more. A line that was cut off is left out.
///
/// # Errors
/// Where a file is there and cannot be read.
pub fn rows(folder: &Path) -> std::io::Result<(Vec<Kept>, bool)> {
    let mut rows = Vec::new();
    let before = folder.join(BEFORE);
    let more = before.exists();
    for path in [before, folder.join(NOW)] {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for line in BufReader::new(file).split(b'\n') {
            rows.extend(serde_json::from_slice::<Kept>(&line?).ok());
        }
    }
    Ok((rows, more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_backtest::compare::header::{Compared, Header, Source};
    use domesday_backtest::compare::paired::{Said, Side};
    use domesday_backtest::compare::sides::Sides;
    use domesday_backtest::report::Learnt;
    use domesday_registers::codes::PropertyType;
    use std::os::unix::fs::PermissionsExt;

    fn about() -> About {
        let release = || Compared {
            release_id: "made-up".to_owned(),
            model: "made-up".to_owned(),
            model_version: "1".to_owned(),
            snapshot_id: "made-up".to_owned(),
            snapshot_content: String::new(),
            latest_sale: None,
            nominal_coverage: 0.8,
            bands: Vec::new(),
            learnt: Learnt::Nothing,
        };
        let releases = Sides {
            a: release(),
            b: release(),
        };
        let rows = Source::Fixtures {
            file: String::new(),
        };
        About {
            header: Header {
                releases,
                rows,
                least_rows: 30,
            },
            authorities: Default::default(),
        }
    }

    fn row(at: i64) -> Kept {
        let side = || Side {
            said: Said::Referred {
                reason: "short_lease".to_owned(),
            },
            fuel: 7,
            micros: 1.5,
        };
        let pair = Paired {
            row: String::new(),
            property_type: PropertyType::Flat,
            authority: String::new(),
            postcode_area: "ZZ".to_owned(),
            price: None,
            sides: Sides {
                a: side(),
                b: side(),
            },
        };
        Kept { at, pair }
    }

    fn times(folder: &Path) -> (Vec<i64>, bool) {
        let (rows, more) = rows(folder).unwrap();
        (rows.iter().map(|row| row.at).collect(), more)
    }

    #[test]
    fn the_latest_rows_are_kept_and_no_more_than_twice_as_many_as_a_file_has() {
        let kept = tempfile::tempdir().unwrap();
        let folder = kept.path().join("candidate");
        let mut keeper = Keeper::new(folder.clone());
        keeper.most = 3;
        for at in 0..3 {
            keeper.keep("current", &row(at), about).unwrap();
        }
        assert_eq!(times(&folder.join("current")), (vec![0, 1, 2], false));
        // Another host's life begins with what is there.
        let mut keeper = Keeper::new(folder.clone());
        keeper.most = 3;
        for at in 3..8 {
            keeper.keep("current", &row(at), about).unwrap();
        }
        assert_eq!(times(&folder.join("current")), (vec![3, 4, 5, 6, 7], true));
        // Rows beside another release stand for themselves.
        keeper.keep("next", &row(9), about).unwrap();
        keeper.keep("current", &row(10), about).unwrap();
        assert_eq!(times(&folder.join("next")), (vec![9], false));
        assert_eq!(times(&folder.join("current")).0.last(), Some(&10));
        let mode = |name: &str| {
            let path = folder.join("current").join(name);
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        };
        assert_eq!((mode(NOW), mode(ABOUT)), (0o600, 0o600));
    }

    #[test]
    fn a_line_that_was_cut_off_costs_itself_alone() {
        let kept = tempfile::tempdir().unwrap();
        let folder = kept.path().join("current");
        let mut keeper = Keeper::new(kept.path().to_owned());
        keeper.keep("current", &row(1), about).unwrap();
        let mut text = fs::read(folder.join(NOW)).unwrap();
        text.extend_from_slice(b"{\"at\": 2, \"pai");
        fs::write(folder.join(NOW), text).unwrap();
        assert_eq!(times(&folder).0, [1]);
        Keeper::new(kept.path().to_owned())
            .keep("current", &row(3), about)
            .unwrap();
        assert_eq!(times(&folder).0, [1, 3]);
    }
}
