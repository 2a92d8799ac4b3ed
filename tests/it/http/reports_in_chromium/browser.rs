//! A page in a real browser that has no network, looked at by a script on the page.

use crate::common::program::to_its_end;
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// No page takes a browser longer.
const TIMEOUT: Duration = Duration::from_secs(60);
const LOOKED_AT: &str = include_str!("looked_at.js");
/// A desk, and the narrowest that this browser has.
pub const WIDTHS: [u32; 2] = [1280, 500];

/// What there is on a page, and what is wrong with it.
#[derive(Debug, Deserialize)]
pub struct PageView {
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

impl PageView {
    /// Whether there is as much on it.
    pub fn as_much_as(&self, least: &PageView) -> bool {
        self.texts >= least.texts
            && self.plots >= least.plots
            && self.marks >= least.marks
            && self.tables >= least.tables
    }
}

/// Whether there is a browser; said where there is none.
pub fn installed() -> bool {
    let found = Command::new("chromium")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let installed = found.is_ok_and(|status| status.success());
    if !installed {
        println!("skipped: pages are not looked at without chromium (Debian: chromium)");
    }
    installed
}

/// Opens a page in a window so wide. A picture of it is kept beside what the tests were built to.
pub fn look(name: &str, page: &str, width: u32) -> PageView {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("page.html");
    fs::write(&copy, format!("{page}<script>{LOOKED_AT}</script>")).unwrap();
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
    let ran = to_its_end(command, TIMEOUT).ok();
    assert!(picture.is_file(), "no picture: {}", ran.stderr);
    println!("{}", picture.display());
    let found = ran
        .stdout
        .rsplit_once("<pre id=\"looked-at\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .unwrap_or_else(|| panic!("the script did not end: {}", ran.stderr))
        .0;
    serde_json::from_str(found).unwrap()
}
