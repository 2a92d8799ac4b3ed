//! The form that finds an address as a person types it, and its results.
//!
//! The browser sends the text as a form, so no address stands in an address of a page or in a log.
//! A result is a link that holds an id.

use super::blocking::blocking_within;
use super::error::ConsoleError;
use super::{Console, layout};
use crate::console_sessions::Session;
use domesday_property::address_directory::{
    AddressDirectory, DirectoryError, FoundAddress, is_searchable,
};
use maud::{Markup, html};
use std::time::Duration;

/// The field with what was typed.
pub(super) const TYPED: &str = "find";
/// Results that are shown.
const MOST: usize = 10;
/// The longest text that is searched, bytes.
const MAX_TYPED: usize = 200;
/// The longest time of a search.
const TIME: Duration = Duration::from_secs(5);

/// Returns the addresses that fit what was typed. `None` without a directory.
///
/// # Errors
/// `State` if the directory cannot be read in time.
pub(super) async fn addresses(
    console: &Console,
    typed: &str,
) -> Result<Option<Vec<FoundAddress>>, ConsoleError> {
    let typed = typed.to_owned();
    let search = move |directory: &AddressDirectory| match typed.len() <= MAX_TYPED {
        true => directory.search(&typed, MOST),
        false => Ok(Vec::new()),
    };
    in_directory(console, search).await
}

/// Returns the address of an id, in hexadecimal. `None` without a directory, or where it has none.
///
/// # Errors
/// `State` if the directory cannot be read in time.
pub(super) async fn address(
    console: &Console,
    id: &str,
) -> Result<Option<FoundAddress>, ConsoleError> {
    let Ok(id) = u64::from_str_radix(id, 16) else {
        return Ok(None);
    };
    let found = in_directory(console, move |directory| directory.address(id)).await?;
    Ok(found.flatten())
}

/// Returns the form of the search with its results, if the console has a directory.
pub(super) fn search_of(console: &Console, session: &Session) -> Option<Markup> {
    let sessions = console.service.console.as_ref()?;
    sessions.addresses().map(|_| search(session, "", None))
}

/// Asks the directory on a thread that may block.
async fn in_directory<T: Send + 'static>(
    console: &Console,
    ask: impl FnOnce(&AddressDirectory) -> Result<T, DirectoryError> + Send + 'static,
) -> Result<Option<T>, ConsoleError> {
    let service = console.service.clone();
    let asking = blocking_within(TIME, "the address directory", move || {
        let sessions = service.console.as_ref()?;
        sessions.addresses().map(ask)
    });
    let found = asking.await?.transpose();
    found.map_err(|error| ConsoleError::State(error.to_string()))
}

/// Returns the form with what was typed and its results.
pub(super) fn search(session: &Session, typed: &str, results: Option<&Markup>) -> Markup {
    html! {
        form.find method="post" action="/addresses" role="search" data-find {
            (layout::token(session))
            label {
                span { "Find a home by its postcode, or by its number and street" }
                input type="search" name=(TYPED) value=(typed) maxlength=(MAX_TYPED) autocomplete="off"
                    placeholder="12 Mill Lane, or QA1 1AF";
            }
            button { "Find" }
            div.found data-found aria-live="polite" {
                @if let Some(results) = results { (results) }
            }
        }
    }
}

/// Returns the results as links, each with an id alone.
pub(super) fn results(typed: &str, found: &[FoundAddress]) -> Markup {
    html! {
        @if found.is_empty() {
            p.quiet {
                @if !is_searchable(typed) {
                    "Type a postcode, or a number and a street. A number alone fits too many homes."
                } @else {
                    "No address of the directory fits. State it below; the API knows more addresses."
                }
            }
        } @else {
            ul {
                @for address in found {
                    li { a href={ "/?home=" (format!("{:016x}", address.id)) } { (address.line()) } }
                }
            }
            @if found.len() == MOST {
                p.quiet { "The first " (MOST) ". Type more to see others." }
            }
        }
    }
}
