//! The units that the session's tenant used in a month, by purpose.

use super::csv_file::download;
use super::error::ConsoleError;
use super::guard::require_scope;
use super::{Console, layout};
use crate::console_sessions::Session;
use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use domesday_console::fields::Fields;
use domesday_console::number::{thousands, whole};
use domesday_console::usage::{COLUMNS, UsageSums, cells, path_after, table_of_entries};
use domesday_console::usage_month::{MOST_ENTRIES, MonthEntries, advice, read_month};
use domesday_state::{Month, Scope, StateError, TenantId, UsageEntry, UsagePosition, UsageQuery};
use maud::{Markup, html};
use std::sync::Arc;

pub(super) const TITLE: &str = "Usage";
/// Entries that a page lists.
const LISTED: usize = 200;

/// Shows the sums of a month, and a page of its entries.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    request: Request,
) -> Result<Response, ConsoleError> {
    require_scope(&session, Scope::AvmValue)?;
    let fields = fields_of(&request);
    let (month, tenant) = (month_of(&console, &fields)?, &session.user.tenant);
    let number = |name| fields.get(name).and_then(|text| text.parse().ok());
    let after = number("row").zip(number("place"));
    let after = after.and_then(|(row, place)| {
        Some(UsagePosition {
            tenant: tenant.clone(),
            row,
            place: u32::try_from(place).ok()?,
        })
    });
    // A month may have many entries, so its sums stand on its first page alone.
    let sums = match after {
        Some(_) => {
            html! { p { a href={ "/usage?month=" (month) } { "The units of " (month) } " stand on the first page." } }
        }
        None => sums_of(&console, tenant, month).await?,
    };
    let query = UsageQuery {
        month,
        tenant: Some(tenant.clone()),
        after,
        limit: LISTED,
    };
    let listed = console.service.state.usage_entries(query).await;
    let listed = listed.map_err(unreadable)?;
    let content = html! {
        h1 { (TITLE) }
        form.inputs method="get" action="/usage" {
            label {
                span { "Month" }
                input type="month" name="month" value=(month) required;
            }
            button { "Show" }
        }
        (sums)
        (table_of_entries(&listed.entries))
        @if let Some(next) = &listed.next { p { a href=(path_after(month, next)) { "More entries" } } }
    };
    Ok(layout::page(TITLE, Some(&session), &content))
}

/// Returns the units of a month, by day and kind.
async fn sums_of(
    console: &Console,
    tenant: &TenantId,
    month: Month,
) -> Result<Markup, ConsoleError> {
    let mut sums = UsageSums::default();
    let read = read(console, tenant, month, |entries| sums.add(entries)).await?;
    Ok(html! {
        p {
            (thousands(sums.sum_units())) " units used in " (month) ", by " (whole(read.count)) " entries"
            @if read.is_whole { ". " a href={ "/usage.csv?month=" (month) } { "Download as CSV" } }
            @else { ", which are a part of the month. " (advice(month)) }
        }
        (sums.table())
    })
}

/// Sends the entries of a month as a file.
pub(super) async fn file(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    request: Request,
) -> Result<Response, ConsoleError> {
    require_scope(&session, Scope::AvmValue)?;
    let month = month_of(&console, &fields_of(&request))?;
    let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
    let add =
        |entries: &[UsageEntry]| rows.extend(entries.iter().map(|entry| cells(entry).to_vec()));
    let read = read(&console, &session.user.tenant, month, add).await?;
    if !read.is_whole {
        return Err(ConsoleError::TooManyRows(advice(month)));
    }
    download(&format!("usage-{month}"), rows)
}

fn fields_of(request: &Request) -> Fields {
    Fields::parse(request.uri().query().unwrap_or_default().as_bytes())
}

/// Returns the month that is asked for, or the current one.
fn month_of(console: &Console, fields: &Fields) -> Result<Month, ConsoleError> {
    match fields.get("month") {
        None => Ok(Month::of(console.service.clock.now())),
        Some(text) => text.parse().map_err(|_| ConsoleError::NoPage),
    }
}

/// Reads the entries of a month, as many as the console reads.
async fn read(
    console: &Console,
    tenant: &TenantId,
    month: Month,
    each: impl FnMut(&[UsageEntry]),
) -> Result<MonthEntries, ConsoleError> {
    let state = &*console.service.state;
    let read = read_month(state, tenant, month, MOST_ENTRIES, each).await;
    read.map_err(unreadable)
}

fn unreadable(error: StateError) -> ConsoleError {
    ConsoleError::State(error.to_string())
}
