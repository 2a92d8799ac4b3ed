//! The frame of every page.

use crate::clock::random;
use crate::console_sessions::{ConsoleUser, Session};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domesday_console::form_token;
use domesday_console::program_copies::ProgramCopy;
use domesday_state::{DatasetAccess, Scope};
use maud::{DOCTYPE, Markup, html};

/// The name of the field with the token of a session.
pub(super) const TOKEN: &str = "form_token";

/// The name of the field with the id of a form.
pub(super) const FORM_ID: &str = "form_id";

/// Returns a whole page. Without a session it has no links to other pages.
pub(super) fn page(title: &str, session: Option<&Session>, content: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Domesday" }
                link rel="stylesheet" href="/assets/console.css";
                link rel="icon" href="/assets/icon.svg";
                script src="/assets/console.js" type="module" {}
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header {
                    p.brand { a href="/" { "Domesday" } }
                    @if let Some(session) = session { (navigation(title, session)) }
                }
                main id="content" { (content) }
            }
        }
    };
    let headers = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (headers, page.into_string()).into_response()
}

/// Returns the pages that a user's scopes allow, each with its path.
fn pages(user: &ConsoleUser) -> impl Iterator<Item = (&'static str, &'static str)> {
    let scopes = &user.scopes;
    let any = |access: &DatasetAccess| *access != DatasetAccess::None;
    let pages = [
        ("Value a home", "/", scopes.has(Scope::AvmValue)),
        ("Markets", "/markets", any(scopes.markets())),
        ("Rates", "/rates", any(scopes.rates())),
        ("Jobs", "/jobs", scopes.has(Scope::AvmValue)),
        ("Usage", "/usage", scopes.has(Scope::AvmValue)),
        ("Releases", "/releases", true),
        ("Operation", "/operation", user.operator),
    ];
    let allowed = pages.into_iter().filter(|(.., allowed)| *allowed);
    allowed.map(|(name, path, _)| (name, path))
}

/// Returns the path of the first page that a user's scopes allow.
pub(super) fn first_page(user: &ConsoleUser) -> &'static str {
    pages(user).next().map_or("/releases", |(_, path)| path)
}

/// Returns the links to the pages that the session's scopes allow.
fn navigation(title: &str, session: &Session) -> Markup {
    let user = &session.user;
    html! {
        nav aria-label="Pages" {
            ul {
                @for (name, path) in pages(user) {
                    li { a href=(path) aria-current=[(name == title).then_some("page")] { (name) } }
                }
            }
        }
        form.session method="post" action="/logout" {
            (token(session))
            span { "Tenant " strong { (user.tenant) } }
            button { "Log out" }
        }
    }
}

/// Returns the hidden field with the token of the session's forms, masked anew. Pages are
/// compressed, and their lengths tell nothing of a token that each page writes otherwise. Without
/// randomness the field is blank, and its form is refused.
pub(super) fn token(session: &Session) -> Markup {
    let masked = random().ok();
    let masked = masked.and_then(|pad| form_token::mask(&session.form_token, pad));
    html! { input type="hidden" name=(TOKEN) value=(masked.unwrap_or_default()); }
}

/// Returns the hidden field with the id of one form, by which a form that is sent twice is known.
pub(super) fn form_id(id: &str) -> Markup {
    html! { input type="hidden" name=(FORM_ID) value=(id); }
}

/// Returns the programs of a page.
pub(super) fn programs(copies: &[ProgramCopy]) -> Markup {
    html! {
        p.quiet {
            "They read a key of the API from " code { "DOMESDAY_KEY" } ". That in Python needs our client: "
            code { "pip install ./clients/python" } " in a checkout."
        }
        @for copy in copies { (listing(copy.heading, &copy.text)) }
    }
}

/// Returns a text that can be copied, under a heading that opens it.
pub(super) fn listing(heading: &str, text: &str) -> Markup {
    html! {
        details.listing {
            summary { (heading) }
            pre tabindex="0" { code { (text) } }
        }
    }
}
