//! The console's map over the operator's tiles.

use super::browser::{CHROMIUM, console_python, console_ways};
use super::{Browser, HOME, link, start_with_console};
use crate::common::client::agent;
use crate::common::python::run_to_success;
use crate::common::server::{Start, start};
use reqwest::StatusCode;
use reqwest::blocking::Response;
use reqwest::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_SECURITY_POLICY, COOKIE, RANGE,
};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes a file of invented tiles: `vector`, or `raster`, `jpeg` or `webp` pictures.
fn make_tiles(kind: &str, folder: &Path) -> PathBuf {
    let (python, programs) = console_python();
    let tiles = folder.join(format!("{kind}.pmtiles"));
    let mut maker = Command::new(python);
    maker.arg(programs.join("make_tiles.py")).arg(kind);
    run_to_success(maker.arg(&tiles));
    tiles
}

fn start_with_map(tiles: &Path) -> Start {
    start_with_console().with(&["--console-map", tiles.to_str().unwrap()])
}

/// Asks for a range of the map.
fn range(browser: &Browser, path: &str, range: &str) -> Response {
    let request = agent().get(format!("{}{path}", browser.origin));
    let request = request.header(COOKIE, &browser.cookie);
    request.header(RANGE, range).send().unwrap()
}

/// Returns the path of the tiles that a page names.
fn tiles_of(page: &str) -> String {
    let named = page.split("data-tiles=\"").nth(1).unwrap();
    named.split('"').next().unwrap().to_owned()
}

#[test]
fn a_browser_of_a_session_reads_ranges_of_the_file_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let tiles = make_tiles("raster", folder.path());
    let bytes = std::fs::read(&tiles).unwrap();
    let server = start_with_map(&tiles).go();
    let browser = Browser::of_demo(&server);
    let page = browser.get(&browser.value(&HOME));
    let policy = page.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("worker-src 'self'"), "{policy}");
    for widened in ["unsafe", "blob:", "data:", "wasm", "http"] {
        assert!(!policy.contains(widened), "{policy}");
    }
    let page = page.text().unwrap();
    assert!(page.contains("© Invented &amp; Co</a>"), "{page}");
    assert!(page.contains("href=\"https://tiles.example/copyright\""));
    let path = tiles_of(&page);
    let read = range(&browser, &path, "bytes=127-1126");
    assert_eq!(read.status(), 206);
    let stated = read.headers()[CONTENT_RANGE].to_str().unwrap();
    assert_eq!(stated, format!("bytes 127-1126/{}", bytes.len()));
    assert!(
        read.headers()[CACHE_CONTROL]
            .to_str()
            .unwrap()
            .contains("private")
    );
    assert_eq!(read.bytes().unwrap(), bytes[127..1127]);
    for refused in ["bytes=9999999-", "bytes=0-1,5-6", "rows=1-2"] {
        let read = range(&browser, &path, refused);
        assert_eq!(
            read.status(),
            StatusCode::RANGE_NOT_SATISFIABLE,
            "{refused}"
        );
    }
    assert_eq!(
        browser.get(&path).status(),
        StatusCode::RANGE_NOT_SATISFIABLE
    );
    assert_eq!(
        range(&browser, "/map/other.pmtiles", "bytes=0-1").status(),
        404
    );
    let stranger = Browser {
        origin: browser.origin.clone(),
        cookie: String::new(),
        token: String::new(),
    };
    assert_eq!(range(&stranger, &path, "bytes=0-1").status(), 401);
    // Other pages have the narrow policy.
    let policy = &browser.get("/releases").headers()[CONTENT_SECURITY_POLICY].clone();
    assert!(!policy.to_str().unwrap().contains("worker-src"));
    server.stop();
}

#[test]
fn a_page_without_a_map_over_tiles_is_small_and_asks_for_no_script_of_it() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let page = browser.page(&browser.value(&HOME));
    for part in ["figure class=\"tiles\"", "pmtiles", "tile-map.js"] {
        assert!(!page.contains(part), "{part}: {page}");
    }
    for path in ["/", "/markets", "/releases"] {
        let page = browser.page(path);
        assert!(!page.contains("tile-map.js"), "{path}");
    }
    assert_eq!(range(&browser, "/map/x.pmtiles", "bytes=0-1").status(), 404);
    server.stop();
}

#[test]
fn scripts_of_the_map_are_sent_packed_and_kept() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let mut packed = 0;
    for name in [
        "maplibre-gl-6.17.0.mjs",
        "maplibre-gl-worker-6.17.0.mjs",
        "maplibre-gl-6.17.0.css",
        "pmtiles-4.5.0.js",
    ] {
        let file = browser.get(&format!("/assets/{name}"));
        assert_eq!(file.headers()[CONTENT_ENCODING], "gzip", "{name}");
        let kept = file.headers()[CACHE_CONTROL].to_str().unwrap().to_owned();
        assert!(kept.contains("immutable"), "{name}: {kept}");
        packed += file.bytes().unwrap().len();
    }
    assert!(packed < 500_000, "{packed}");
    server.stop();
}

#[test]
fn a_map_that_cannot_be_drawn_stops_the_start_with_its_flaw() {
    let folder = tempfile::tempdir().unwrap();
    let tiles = make_tiles("vector", folder.path());
    let mut bytes = std::fs::read(&tiles).unwrap();
    let cut = folder.path().join("cut.pmtiles");
    std::fs::write(&cut, &bytes[..bytes.len() - 1]).unwrap();
    // Tiles packed by Zstandard.
    bytes[98] = 4;
    let foreign = folder.path().join("foreign.pmtiles");
    std::fs::write(&foreign, &bytes).unwrap();
    // Pictures of a kind that the map does not read: AVIF.
    bytes[98] = 2;
    bytes[99] = 5;
    let avif = folder.path().join("avif.pmtiles");
    std::fs::write(&avif, &bytes).unwrap();
    let other = folder.path().join("other.mbtiles");
    std::fs::write(&other, b"SQLite format 3\0").unwrap();
    let missing = folder.path().join("missing.pmtiles");
    for (path, words) in [
        (&cut, "Copy it again"),
        (&foreign, "Make it with gzip"),
        (&avif, "PNG, JPEG or WebP"),
        (&other, "`pmtiles convert` makes one"),
        (&missing, "No such file"),
    ] {
        let refused = start_with_map(path).refused();
        assert!(refused.contains(words), "{refused}");
        assert!(refused.contains(path.to_str().unwrap()), "{refused}");
    }
    let alone = start().with(&["--console-map", tiles.to_str().unwrap()]);
    let refused = alone.refused();
    assert!(refused.contains("Give --console"), "{refused}");
}

#[test]
fn the_map_is_drawn_over_tiles_reached_by_keys_and_leads_to_the_rows() {
    if !Path::new(CHROMIUM).exists() {
        println!("skipped: the map in a browser needs Debian's chromium");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("console");
    std::fs::create_dir_all(&shots).unwrap();
    let (python, programs) = console_python();
    // Two more visits are without scripts and without WebGL. Pictures differ from one another in
    // how they are read alone.
    let kinds = match console_ways() {
        2 => vec![("vector", 1, 1)],
        _ => vec![
            ("vector", 2, 4),
            ("raster", 1, 1),
            ("jpeg", 1, 1),
            ("webp", 1, 1),
        ],
    };
    for (kind, windows, visits) in kinds {
        let server = start_with_map(&make_tiles(kind, folder.path())).go();
        let path = Browser::of_demo(&server).value(&HOME);
        let links: Vec<String> = (0..visits).map(|_| link(&server, &[])).collect();
        let mut browser = Command::new(&python);
        browser.arg(programs.join("use_map.py")).arg(&shots);
        let output = run_to_success(browser.args([kind, &path]).args(&links));
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            printed.contains(&format!("the map of {kind}, windows: {windows}")),
            "{printed}"
        );
        server.stop();
    }
    println!("screenshots are in {}", shots.display());
}
