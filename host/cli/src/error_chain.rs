//! The text of an error with its causes.

/// Formats an error with its causes. It omits a cause that the text before it already ends with.
pub fn error_chain(error: &anyhow::Error) -> String {
    let mut chain = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if chain.is_empty() {
            chain = cause;
        } else if !chain.ends_with(&cause) {
            chain = format!("{chain}: {cause}");
        }
    }
    chain
}
