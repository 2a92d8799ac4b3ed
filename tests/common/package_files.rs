//! Folders of packages: their copies, and releases that differ from another in their manifest.

use domesday_package::{Draft, Source, Trust, ValuationBody, open, write};
use std::fs;
use std::path::Path;

/// Copies a folder.
pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Writes an unsigned release of this component: `original` under another id, with a change of its
/// manifest. Its one fixture is no fixture: only a replay reads it.
pub fn write_changed(
    releases: &Path,
    original: &Path,
    id: &str,
    component: Vec<u8>,
    change: impl FnOnce(&mut ValuationBody),
) {
    let mut body: ValuationBody = open(original, &Trust::Unsigned).unwrap().body().unwrap();
    body.release_id = id.parse().unwrap();
    let files = [
        (body.component.clone(), Source::Bytes(component)),
        (body.fixtures.clone(), Source::Bytes(b"{}\n".to_vec())),
    ];
    (
        body.model.parameters_sha256,
        body.model.training_window,
        body.backtest,
    ) = (None, None, None);
    change(&mut body);
    let draft = Draft {
        id: id.parse().unwrap(),
        created: "2026-10-01T00:00:00Z".parse().unwrap(),
        body,
        files: files.into(),
    };
    write(&releases.join("valuation"), draft).unwrap();
}
