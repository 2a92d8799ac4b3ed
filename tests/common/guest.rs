//! Guests built from their source in this workspace: for the suites of the sandbox and of the
//! program.

use std::path::PathBuf;
use std::process::Command;

/// Returns a guest crate of this workspace as a component, which is built once a run.
pub fn component(package: &str) -> Vec<u8> {
    let folder = domesday_test_shared::once(&format!("component-{package}"), |folder| {
        std::fs::write(folder.join("component.wasm"), build(package)).unwrap();
    });
    std::fs::read(folder.join("component.wasm")).unwrap()
}

/// Builds a guest crate of this workspace and wraps it as a component.
fn build(package: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    // A separate folder, since the one of the running test is locked.
    let target = root.join("target/guests");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--profile", "guest", "--lib"])
        .args(["--target", "wasm32-unknown-unknown", "--package", package])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(&root)
        .env_remove("RUSTFLAGS")
        .status()
        .unwrap();
    assert!(status.success(), "{package} could not be built");
    let module = target
        .join("wasm32-unknown-unknown/guest")
        .join(package.replace('-', "_") + ".wasm");
    domesday_engine::component::encode(&std::fs::read(module).unwrap()).unwrap()
}
