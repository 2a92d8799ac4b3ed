//! Named breaks: places in the code where a rule of the contract can be broken on purpose.
//!
//! A test that no fault turns red proves nothing. For each rule, the one place that decides it asks
//! [`broken`] whether it should decide wrongly; `scripts/prove-breaks` builds with the feature `on`,
//! names one break after another in the environment variable `DOMESDAY_BREAK`, and demands that the
//! rule's own test fails. Rules, their tests and their breaks stand in `tests/contract/rules*.toml`.
//!
//! Without the feature, which is how everything is built otherwise, both functions are constantly
//! false and the variable is not read.

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
