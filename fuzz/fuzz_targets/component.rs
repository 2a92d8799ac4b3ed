//! Any bytes as the component of a release: its names are listed and its imports examined, or it
//! is refused.
#![no_main]

use domesday_engine::Profile;
use domesday_engine::admission::imports;
use domesday_engine::component::outline;
use libfuzzer_sys::fuzz_target;

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
});
