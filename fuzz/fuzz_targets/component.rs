//! Any bytes as the component of a release. Its names are listed and its imports examined. An
//! engine that keeps instances admits it or refuses it.
#![no_main]

use domesday_engine::admission::imports;
use domesday_engine::component::outline;
use domesday_engine::config::Allocation;
use domesday_engine::{Limits, Profile, Runtime};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new(Allocation::Pooling { instances: 1 }).unwrap());

fuzz_target!(|component: &[u8]| {
    let outline = outline(component);
    for profile in [Profile::Pure, Profile::Wasi] {
        let Ok(imported) = imports(component, profile) else {
            continue;
        };
        // What is admitted can be listed, and the pure profile has evidence alone.
        assert!(outline.is_ok());
        let is_ours = |name: &String| name.starts_with("domesday:");
        assert!(
            profile == Profile::Wasi || imported.iter().all(is_ours),
            "{imported:?}"
        );
    }
    let _ = RUNTIME.admit(component, Limits::new(1_000_000, 16 << 20));
});
