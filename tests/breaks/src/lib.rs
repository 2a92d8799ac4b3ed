//! Named breaks: places in the code where a rule of the contract can be broken on purpose.
//!
//! A test that no fault turns red proves nothing. For each rule, the one place that decides it asks
//! [`broken`] whether it should decide wrongly; `scripts/prove-breaks` builds with the feature `on`,
//! names one break after another in the environment variable `DOMESDAY_BREAK`, and demands that the
//! rule's own test fails. Rules, their tests and their breaks stand in `tests/contract/rules*.toml` and `promises.toml`.
//!
//! A fault of ours is asked for as well: [`panic_here`] panics where `DOMESDAY_PANIC` names the place, so
//! that a test can see what a panic does to the program.
//!
//! Without the feature, which is how everything is built otherwise, nothing is broken and no variable
//! is read.

/// Whether the break of this name is wished.
#[cfg(not(feature = "on"))]
#[inline(always)]
#[must_use]
pub const fn broken(_name: &str) -> bool {
    false
}

/// Whether the break `field:` with this pointer and this name behind it is wished.
#[cfg(not(feature = "on"))]
#[inline(always)]
#[must_use]
pub const fn field_broken(_pointer: &str, _name: &str) -> bool {
    false
}

/// Panics where that is wished of this place.
#[cfg(not(feature = "on"))]
#[inline(always)]
pub const fn panic_here(_place: &str) {}

/// Panics where that is wished of this place.
///
/// # Panics
/// On purpose.
#[cfg(feature = "on")]
pub fn panic_here(place: &str) {
    static WISHED: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let wished = WISHED.get_or_init(|| std::env::var("DOMESDAY_PANIC").unwrap_or_default());
    assert!(wished != place, "a secret of ours in {place}");
}

/// The name of the break that is wished, or nothing.
#[cfg(feature = "on")]
#[must_use]
pub fn wished() -> &'static str {
    static WISHED: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    WISHED.get_or_init(|| std::env::var("DOMESDAY_BREAK").unwrap_or_default())
}

/// Whether the break of this name is wished.
#[cfg(feature = "on")]
#[must_use]
pub fn broken(name: &str) -> bool {
    wished() == name
}

/// Whether the break `field:` with this pointer and this name behind it is wished.
#[cfg(feature = "on")]
#[must_use]
pub fn field_broken(pointer: &str, name: &str) -> bool {
    wished()
        .strip_prefix("field:")
        .and_then(|wished| wished.strip_prefix(pointer))
        .and_then(|wished| wished.strip_prefix('/'))
        == Some(name)
}

#[cfg(all(test, not(feature = "on")))]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_broken_in_an_ordinary_build() {
        // Decided when it is compiled, so no variable can change it.
        const { assert!(!broken("options-1") && !field_broken("/size", "bedrooms")) };
    }
}
