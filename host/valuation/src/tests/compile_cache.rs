//! The folder of compiled code, and the secret that vouches for it.

use domesday_valuation::compile_cache::{CompileCacheError, open_cache, own_folder};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

#[test]
fn a_folder_that_others_can_write_into_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a/b");
    own_folder(&folder, "the folder").unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    own_folder(&folder, "the folder").unwrap();
    for mode in [0o720, 0o702] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let refused = own_folder(&folder, "the folder");
        assert!(matches!(refused, Err(CompileCacheError::NotOurs { .. })));
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    own_folder(&folder, "the folder").unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = own_folder(&file, "the folder");
    assert!(matches!(refused, Err(CompileCacheError::NotAFolder { .. })));
}

#[test]
fn the_secret_of_compiled_code_is_made_once_and_checked() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("data");
    open_cache(&folder, "the data folder").unwrap();
    let secret = folder.join("host.secret");
    let bytes = fs::read(&secret).unwrap();
    assert_eq!(bytes.len(), 32);
    assert_ne!(bytes, [0; 32]);
    assert_eq!(fs::metadata(&secret).unwrap().mode() & 0o777, 0o600);
    open_cache(&folder, "the data folder").unwrap();
    assert_eq!(fs::read(&secret).unwrap(), bytes);
    fs::write(&secret, [7; 31]).unwrap();
    let refused = open_cache(&folder, "the data folder").err();
    assert!(matches!(refused, Some(CompileCacheError::Secret { path }) if path == secret));
    // A link to itself is there, and cannot be read.
    fs::remove_file(&secret).unwrap();
    symlink("host.secret", &secret).unwrap();
    let refused = open_cache(&folder, "the data folder").err();
    assert!(matches!(refused, Some(CompileCacheError::Io { path, .. }) if path == secret));
}
