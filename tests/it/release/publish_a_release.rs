//! `domesday release new`: what it refuses. The page that leads on from it,
//! docs/tutorial/first-release.md, is typed by the suite `documents`.

use crate::common::program::run;

#[test]
fn an_invalid_or_existing_name_is_refused() {
    assert_eq!(run(["release", "new", "My_Model"]).code, Some(2));
    assert_eq!(run(["release", "new", "match"]).code, Some(2));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/in");
    let new = || {
        let path = path.display().to_string();
        run(["release", "new", "a-model", "--path", &path])
    };
    new().ok();
    assert!(path.join("src/lib.rs").is_file());
    let refusal = new().refused();
    assert!(refusal.contains("is not empty"), "{refusal}");
}
