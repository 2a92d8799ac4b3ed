//! Inspects a page by a script, in a real browser without a network.

use crate::common::program::run_command;
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// No page takes a browser longer.
const TIMEOUT: Duration = Duration::from_secs(60);
const INSPECTION: &str = include_str!("inspect_page.js");
/// A desk, and the narrowest that this browser has.
pub const WIDTHS: [u32; 2] = [1280, 500];

/// The contents and faults of a page.
#[derive(Debug, Deserialize)]
pub struct PageReport {
    /// Descriptions of what is wrong with it.
    pub faults: Vec<String>,
    /// Visible pieces of text.
    pub texts: usize,
    /// Drawings.
    pub plots: usize,
    /// Shapes in colour on them.
    pub marks: usize,
    /// Tables.
    pub tables: usize,
}

impl PageReport {
    /// Reports whether the page holds at least this much.
    pub fn has_at_least(&self, least: &PageReport) -> bool {
        self.texts >= least.texts
            && self.plots >= least.plots
            && self.marks >= least.marks
            && self.tables >= least.tables
    }
}

/// Reports whether Chromium is installed, and prints a note where it is not.
pub fn is_installed() -> bool {
    let found = Command::new("chromium")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let installed = found.is_ok_and(|status| status.success());
    if !installed {
        println!("skipped: reports need chromium (Debian: chromium)");
    }
    installed
}

/// Opens a page in a window of this width, and stores a screenshot beside the build's output.
pub fn inspect(name: &str, page: &str, width: u32) -> PageReport {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("page.html");
    fs::write(&copy, format!("{page}<script>{INSPECTION}</script>")).unwrap();
    let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&pictures).unwrap();
    let picture = pictures.join(format!("{name}-{width}.png"));
    let _ = fs::remove_file(&picture);
    let mut command = Command::new("chromium");
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--disable-background-networking", "--disable-dev-shm-usage"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", folder.path().display()))
        .arg(format!("--window-size={width},4000"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", copy.display()));
    let ran = run_command(command, TIMEOUT).ok();
    assert!(picture.is_file(), "no picture: {}", ran.stderr);
    println!("{}", picture.display());
    let found = ran
        .stdout
        .rsplit_once("<pre id=\"page-report\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .unwrap_or_else(|| panic!("the script did not end: {}", ran.stderr))
        .0;
    serde_json::from_str(found).unwrap()
}
