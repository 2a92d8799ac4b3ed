//! Any query string of a series route, and any cursor. A query is the same after a continuation,
//! and no text but a written cursor is one.
#![no_main]

use domesday_package::{Full, Trust};
use domesday_series::catalogue::Family;
use domesday_series::select::{Parameters, Query, QueryKind, select};
use domesday_series::store::Release;
use domesday_state::CursorSecrets;
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

#[path = "../../host/server/src/http/v1/cursor.rs"]
mod cursor;

static RELEASE: LazyLock<Release> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("../releases/rates/synthetic-rates-2026-10");
    Release::open(&folder, Family::Rates, &Trust::Unsigned, &Full).unwrap()
});

fn query(text: &str) -> Option<Query> {
    let pairs = form_urlencoded::parse(text.as_bytes()).into_owned();
    let parameters = Parameters::read(pairs).ok()?;
    let dataset = parameters.dataset(Family::Rates).ok()?;
    let query = parameters.query(QueryKind::Series, dataset, &RELEASE, false);
    query.ok()
}

fuzz_target!(|text: &str| {
    let secrets = CursorSecrets {
        current: Some([7; 32]),
        before: None,
    };
    let tenant = "acme".parse().unwrap();
    assert_eq!(cursor::read(&secrets, &tenant, Family::Rates, text), None);
    let Some(query) = query(text) else { return };
    let continuation = query.continuation(&RELEASE, 1);
    let written = cursor::write(&secrets, &tenant, Family::Rates, continuation.clone()).unwrap();
    let read = cursor::read(&secrets, &tenant, Family::Rates, &written);
    assert_eq!(read.as_ref(), Some(&continuation));
    let restored = Query::restore(&continuation, &RELEASE).unwrap();
    assert_eq!(restored.canonical(), query.canonical());
    let selection = select(&RELEASE, &query);
    let page = selection.page(0, query.page_size());
    assert!(page.series.len() <= selection.series().len());
});
