//! The reference for people: Scalar, which draws the document, and a plain list of routes for
//! readers without scripts.
//!
//! Scalar is in `vendor/`, so the page loads nothing from elsewhere. Its script is some megabytes,
//! so the page starts it after the plain list is painted.

use super::document;
use super::route::TAGS;
use super::routes::routes;
use maud::{DOCTYPE, html};
use utoipa::openapi::path::HttpMethod;

/// The paths of the page's scripts.
pub const SCALAR_PATH: &str = "/reference/scalar-1.46.4.js";
/// The path of the script that starts it.
pub const START_PATH: &str = "/reference/start.js";

/// The style of the plain list.
const STYLE: &str = "#plain { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; \
    font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }";

/// Scalar, packed by gzip.
pub const SCALAR: &[u8] = include_bytes!("../vendor/scalar-api-reference/standalone.js.gz");
/// The script that starts Scalar.
pub const START: &str = include_str!("page/start.js");

/// Renders the page.
pub fn page() -> String {
    let document = document();
    let title = &document.info.title;
    let about = document.info.description.as_deref().unwrap_or_default();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " API reference" }
                link rel="icon" href="data:,";
                style { (STYLE) }
                script src=(START_PATH) data-scalar=(SCALAR_PATH) defer {}
            }
            body {
                // It stays without scripts, and is painted while Scalar loads.
                main id="plain" {
                    h1 { (title) }
                    @for paragraph in about.split("\n\n") {
                        @match paragraph.strip_prefix("## ") {
                            Some(heading) => h2 { (heading) },
                            None => p { (paragraph) },
                        }
                    }
                    p {
                        "The whole description: " a href="/openapi.json" { "openapi.json" } " (OpenAPI 3.1)."
                    }
                    @for (tag, words) in TAGS {
                        h2 { (tag) }
                        p { (words) }
                        ul {
                            @for route in routes().filter(|route| route.tag == tag) {
                                li { code { (method(&route.method)) " " (route.path) } ": " (route.summary) }
                            }
                        }
                    }
                }
                div id="reference" {}
            }
        }
    };
    page.into_string()
}

fn method(method: &HttpMethod) -> &'static str {
    match method {
        HttpMethod::Post => "POST",
        _ => "GET",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use sha2::{Digest, Sha256};
    use std::io::Read;

    #[test]
    fn scalar_is_the_version_whose_digest_is_noted() {
        let mut unpacked = Vec::new();
        GzDecoder::new(SCALAR).read_to_end(&mut unpacked).unwrap();
        let digest = hex::encode(Sha256::digest(&unpacked));
        let notes = include_str!("../vendor/scalar-api-reference/README.md");
        assert!(notes.contains(&digest), "{digest}");
        let head = String::from_utf8_lossy(&unpacked[..400]).into_owned();
        let version = SCALAR_PATH.trim_start_matches("/reference/scalar-");
        let version = version.trim_end_matches(".js");
        assert!(
            head.contains(&format!("@scalar/api-reference {version}")),
            "{head}"
        );
        assert!(notes.contains(&format!("`@scalar/api-reference` {version}")));
    }
}
