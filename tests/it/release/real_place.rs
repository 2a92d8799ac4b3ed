//! A folder of releases that are built from the publishers' own files.

use crate::common::program::{domesday, repository};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The files that place each home and move prices to a day.
const COMMON: [(&str, &str); 5] = [
    ("--code-point", "postcodes/codepo_gb.zip"),
    ("--areas", "areas/SAM_LAD_DEC_2023_UK.csv"),
    (
        "--authority-codes",
        "areas/local-authority-codes-past-and-current.csv",
    ),
    ("--house-price-index", "hpi/UK-HPI-regions-full-columns.csv"),
    ("--house-price-index", "hpi/UK-HPI-London-full-columns.csv"),
];

/// A folder of releases, with the key that signs them.
pub struct RealPlace {
    data: PathBuf,
    key: PathBuf,
    releases: PathBuf,
}

impl RealPlace {
    /// Makes a folder with a key in `work`, for releases of the files of `data`.
    pub fn new(data: &Path, work: &Path) -> RealPlace {
        let place = RealPlace {
            data: data.to_owned(),
            key: work.join("key"),
            releases: work.join("releases"),
        };
        make(["release", "keygen", text(&place.key), "--comment", "test"]);
        let keys = place.releases.join("keys");
        std::fs::create_dir_all(&keys).unwrap();
        let public = place.key.with_added_extension("pub");
        std::fs::copy(public, keys.join("test.pub")).unwrap();
        place
    }

    /// Returns the folder of releases.
    pub fn releases(&self) -> &Path {
        &self.releases
    }

    /// Builds a snapshot of these files, with those that place homes.
    pub fn add_snapshot(&self, id: &str, files: &[(&str, &str)]) {
        let files: Vec<(&str, PathBuf)> = (files.iter().chain(&COMMON))
            .map(|(option, name)| (*option, self.data.join(name)))
            .collect();
        let files = files
            .iter()
            .flat_map(|(option, file)| [*option, text(file)]);
        let build = ["property", "build", "--snapshot-id", id];
        make(build.into_iter().chain(files).chain(self.to_folder()));
    }

    /// Builds a release of the reference model. Other tests check releases.
    pub fn add_release(&self, id: &str, snapshot: &str, options: &[&str]) {
        let model = repository().join("models/hedonic");
        let build = [
            "release",
            "build",
            "--release-id",
            id,
            "--snapshot",
            snapshot,
            "--model",
            text(&model),
            "--without-check",
        ];
        let options = options.iter().copied();
        make(build.into_iter().chain(options).chain(self.to_folder()));
    }

    fn to_folder(&self) -> [&str; 4] {
        [
            "--sign-with",
            text(&self.key),
            "--releases",
            text(&self.releases),
        ]
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs the program. The first build of a model takes minutes, so no limit but the runner's holds.
#[track_caller]
fn make<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) {
    let output = domesday()
        .args(arguments)
        .current_dir(repository())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}
