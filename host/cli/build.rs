//! Gives the program the commit that it is built from.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DOMESDAY_COMMIT");
    let commit = env::var("DOMESDAY_COMMIT").ok().or_else(released_commit);
    println!(
        "cargo::rustc-env=DOMESDAY_COMMIT={}",
        commit.as_deref().unwrap_or("unknown")
    );
}

/// Returns the commit of the checkout for a build that is optimised. Others would be linked anew at
/// each commit.
fn released_commit() -> Option<String> {
    if env::var("PROFILE").ok()? != "release" {
        return None;
    }
    // Its log has a line more after each commit and each checkout.
    println!(
        "cargo::rerun-if-changed={}",
        git(&["rev-parse", "--git-path", "logs/HEAD"])?
    );
    git(&["describe", "--always", "--abbrev=12", "--dirty"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
