//! The reference for people: one HTML page, made from the document. It has no script, and no font
//! or style from elsewhere.

mod fields;
mod text;

use super::document;
use super::examples::errors::ErrorExample;
use super::headers::HEADERS;
use super::route::{Route, TAGS};
use super::routes::routes;
use domesday_contract::error::Code;
use domesday_contract::vocabulary::Vocabulary;
use fields::schema;
use std::fmt::Write;
use text::{escape, inline, prose};
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::{HttpMethod, ParameterIn};

const STYLE: &str = include_str!("html/style.css");

/// Renders the page.
///
/// # Errors
/// None that is known: a schema that cannot be written as JSON.
pub fn page() -> Result<String, serde_json::Error> {
    let document = document();
    let title = escape(&document.info.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\
         <a class=\"skip\" href=\"#content\">Skip to the content</a>"
    );
    contents(&mut out, &document);
    out.push_str("<main id=\"content\">");
    let _ = write!(out, "<h1>{title} <small>v3 and v1</small></h1>");
    out.push_str(&prose(
        document.info.description.as_deref().unwrap_or_default(),
    ));
    out.push_str(
        "<p>The same in full, for programs: <a href=\"/openapi.json\">openapi.json</a> (OpenAPI \
         3.1). The examples name homes of the demo, so a fresh checkout answers them: set \
         <code>BASE_URL</code> to the service's address and <code>API_KEY</code> to your key.</p>",
    );
    out.push_str("<h2 id=\"authentication\">Authentication</h2>");
    out.push_str(&prose(crate::document::KEY));
    headers(&mut out);
    errors(&mut out);
    for (tag, about) in TAGS {
        let _ = write!(
            out,
            "<h2 id=\"{}\">{tag}</h2>{}",
            tag.to_lowercase(),
            prose(about)
        );
        for route in routes().filter(|route| route.tag == tag) {
            operation(&mut out, route);
        }
    }
    out.push_str("<h2 id=\"schemas\">Schemas</h2>");
    if let Some(components) = &document.components {
        for (name, value) in &components.schemas {
            out.push_str(&schema(name, value)?);
        }
    }
    out.push_str("</main></body></html>\n");
    Ok(out)
}

fn contents(out: &mut String, document: &OpenApi) {
    out.push_str("<nav aria-label=\"Contents\"><ul><li><a href=\"#content\">Overview</a></li>\
        <li><a href=\"#authentication\">Authentication</a></li><li><a href=\"#headers\">Headers</a></li>\
        <li><a href=\"#errors\">Errors</a></li>");
    for (tag, _) in TAGS {
        let _ = write!(out, "<li><a href=\"#{}\">{tag}</a><ul>", tag.to_lowercase());
        for route in routes().filter(|route| route.tag == tag) {
            let _ = write!(
                out,
                "<li><a href=\"#{}\">{}</a></li>",
                route.id,
                escape(route.summary)
            );
        }
        out.push_str("</ul></li>");
    }
    out.push_str("<li><a href=\"#schemas\">Schemas</a><ul>");
    for name in document
        .components
        .iter()
        .flat_map(|components| components.schemas.keys())
    {
        let _ = write!(out, "<li><a href=\"#schema-{name}\">{name}</a></li>");
    }
    out.push_str("</ul></li></ul></nav>");
}

fn headers(out: &mut String) {
    out.push_str(
        "<h2 id=\"headers\">Headers of answers</h2><table><thead><tr><th scope=\"col\">Header\
         <th scope=\"col\">Meaning</tr></thead><tbody>",
    );
    for header in &HEADERS {
        let _ = write!(
            out,
            "<tr id=\"header-{name}\"><td><code>{name}</code></td><td>{}</td></tr>",
            inline(header.about),
            name = header.name,
        );
    }
    out.push_str("</tbody></table>");
}

fn errors(out: &mut String) {
    out.push_str(
        "<h2 id=\"errors\">Errors</h2><p>Every refusal of valuations has one body, \
         <a href=\"#schema-ErrorBody\">ErrorBody</a>, whose <code>field</code> points at the \
         invalid field (JSON Pointer), relative to the row in a batch. That of market statistics and rates is \
         <a href=\"#schema-SeriesErrorBody\">SeriesErrorBody</a>, whose <code>field</code> is a \
         parameter.</p>\
         <table><thead><tr><th scope=\"col\">Status<th scope=\"col\">Code<th scope=\"col\">Retry\
         <th scope=\"col\">Meaning</tr></thead><tbody>",
    );
    for code in Code::ALL {
        let _ = write!(
            out,
            "<tr id=\"code-{code}\"><td>{}</td><td><code>{code}</code></td><td>{}</td><td>{}</td></tr>",
            code.status(),
            if code.retryable() { "yes" } else { "no" },
            inline(code.meaning()),
        );
    }
    out.push_str("</tbody></table>");
    for route in ["value", "ratesSeries"] {
        error_example(out, route);
    }
}

/// Renders the example of an error that a route of the id has for a name that it does not know.
fn error_example(out: &mut String, id: &str) {
    let Some(route) = routes().find(|route| route.id == id) else {
        return;
    };
    let unknown = [Code::UnknownParameter, Code::UnknownField];
    let code = unknown
        .into_iter()
        .find(|code| route.codes().any(|own| own == *code));
    let example = code.and_then(|code| ErrorExample::of(route, code));
    let body = example.and_then(|example| example.body(route).ok());
    if let Some(body) = body {
        let _ = write!(
            out,
            "<details><summary>Example of {}</summary><pre tabindex=\"0\"><code>{}</code></pre></details>",
            route.error,
            escape(&format!("{body:#}")),
        );
    }
}

fn operation(out: &mut String, route: &Route) {
    let method = match route.method {
        HttpMethod::Post => "POST",
        _ => "GET",
    };
    let _ = write!(
        out,
        "<section class=\"route\"><h3 id=\"{id}\"><a class=\"anchor\" href=\"#{id}\">{}</a></h3>\
         <p class=\"path\"><span class=\"{method}\">{method}</span> <code>{}</code></p>{}",
        escape(route.summary),
        escape(route.path),
        prose(route.about),
        id = route.id,
    );
    parameters(out, route);
    if let Some((name, examples)) = &route.body {
        let _ = write!(out, "<p>Body: <a href=\"#schema-{name}\">{name}</a></p>");
        for example in *examples {
            let _ = write!(
                out,
                "<details><summary>{}</summary><pre tabindex=\"0\"><code>curl -sS \"$BASE_URL{}\" \\\n  \
                 -H \"Authorization: Bearer $API_KEY\" \\\n  -H 'Content-Type: application/json' \\\n  \
                 --data @- &lt;&lt;'JSON'\n{}JSON</code></pre></details>",
                escape(example.summary),
                escape(route.path),
                escape(example.text),
            );
        }
    } else {
        let path = shell_path(route);
        let query = match route.path {
            "/v3/coverage" => "?postcode=QA1+1AF",
            "/v1/markets/series" | "/v1/markets/coverage" => {
                "?dataset=market_activity&amp;area=E06990001"
            }
            "/v1/rates/series" | "/v1/rates/coverage" => {
                "?dataset=ois_spot_curve&amp;tenor_months=60"
            }
            _ => "",
        };
        let _ = write!(
            out,
            "<pre tabindex=\"0\"><code>curl -sS \"$BASE_URL{}{query}\" -H \"Authorization: Bearer $API_KEY\"</code></pre>",
            escape(&path),
        );
    }
    answers(out, route);
    out.push_str("</section>");
}

/// Returns the route's path with a variable of the shell for each parameter in it.
fn shell_path(route: &Route) -> String {
    let parameters = (route.parameters)().into_iter();
    let in_path = parameters.filter(|(_, location, ..)| matches!(location, ParameterIn::Path));
    in_path.fold(route.path.to_owned(), |path, (name, ..)| {
        path.replace(&format!("{{{name}}}"), &format!("${}", name.to_uppercase()))
    })
}

fn parameters(out: &mut String, route: &Route) {
    let parameters = (route.parameters)();
    if parameters.is_empty() {
        return;
    }
    out.push_str("<table><thead><tr><th scope=\"col\">Parameter<th scope=\"col\">In<th scope=\"col\">Meaning</tr></thead><tbody>");
    for (name, location, required, _, about) in parameters {
        let location = match location {
            ParameterIn::Path => "path",
            _ => "query",
        };
        let need = if required {
            " <span class=\"need\">required</span>"
        } else {
            ""
        };
        let _ = write!(
            out,
            "<tr><td><code>{name}</code>{need}</td><td>{location}</td><td>{}</td></tr>",
            inline(&about)
        );
    }
    out.push_str("</tbody></table>");
}

fn answers(out: &mut String, route: &Route) {
    out.push_str(
        "<table><thead><tr><th scope=\"col\">Status<th scope=\"col\">Answer</tr></thead><tbody>",
    );
    for answer in route.answers {
        let body = answer.schema.map_or_else(String::new, |name| {
            format!(" <a href=\"#schema-{name}\">{name}</a>")
        });
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}{body}</td></tr>",
            answer.status,
            inline(answer.about),
        );
    }
    for (status, codes) in route.refusals() {
        let codes: Vec<String> = codes
            .iter()
            .map(|code| format!("<a href=\"#code-{code}\"><code>{code}</code></a>"))
            .collect();
        let _ = write!(
            out,
            "<tr><td>{status}</td><td>{}</td></tr>",
            codes.join(", ")
        );
    }
    out.push_str("</tbody></table>");
    for answer in route.answers {
        for example in answer.examples {
            let _ = write!(
                out,
                "<details><summary>Answer {}: {}</summary><pre tabindex=\"0\"><code>{}</code></pre></details>",
                answer.status,
                escape(example.summary),
                escape(example.text),
            );
        }
    }
}
