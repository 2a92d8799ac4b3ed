//! The response headers of the description.

use domesday_contract::schema::{pattern, uuid};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{Object, Schema, Type};
use utoipa::openapi::{Header, Ref};

/// A response header.
pub struct ResponseHeader {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub about: &'static str,
    schema: fn() -> Object,
}

/// The longest value of a rate limit header, in characters.
const RATE_LONGEST: usize = 80;

/// Every header of the description.
pub const HEADERS: [ResponseHeader; 10] = [
    ResponseHeader {
        name: "X-Service-Request-Id",
        about: "Identifies the request: a UUID, on every answer. Quote it when you report a problem.",
        schema: uuid,
    },
    ResponseHeader {
        name: "RateLimit-Policy",
        about: "Your plan's rate, on every answer to a good key: `\"requests\";q=100;w=2` is a \
            burst of 100 requests, which comes back evenly within 2 seconds.",
        schema: || pattern(r#"^"requests";q=[0-9]+;w=[0-9]+$"#, RATE_LONGEST),
    },
    ResponseHeader {
        name: "RateLimit",
        about: "How your rate stands, on every answer to a good key: `\"requests\";r=99;t=1` says \
            that 99 more may come at once, and one more than that within a second.",
        schema: || pattern(r#"^"requests";r=[0-9]+;t=[0-9]+$"#, RATE_LONGEST),
    },
    ResponseHeader {
        name: "Retry-After",
        about: "Wait at least this long before trying again: seconds, or an HTTP date.",
        schema: || Object::with_type(Type::String),
    },
    ResponseHeader {
        name: "Location",
        about: "Path of the job.",
        schema: || Object::with_type(Type::String),
    },
    ResponseHeader {
        name: "WWW-Authenticate",
        about: "Bearer: how to present a key.",
        schema: || Object::with_type(Type::String),
    },
    ResponseHeader {
        name: "Allow",
        about: "The methods that the path takes.",
        schema: || Object::with_type(Type::String),
    },
    ResponseHeader {
        name: "ETag",
        about: "Names the answer but for its request id: send it as If-None-Match, and 304 says \
            that nothing changed.",
        schema: || Object::with_type(Type::String),
    },
    ResponseHeader {
        name: "Cache-Control",
        about: "How long you may cache the answer: a minute for the current release and for a \
            catalogue, without limit for other answers of a named one.",
        schema: || Object::with_type(Type::String),
    },
    ResponseHeader {
        name: "Vary",
        about: "Authorization: what one key may see, another may not. Accept-Encoding: a large answer \
            may be compressed.",
        schema: || Object::with_type(Type::String),
    },
];

impl ResponseHeader {
    /// Returns the header as a part of the description.
    pub fn openapi(&self) -> Header {
        HeaderBuilder::new()
            .schema(Some(Schema::from((self.schema)())))
            .description(Some(self.about))
            .build()
    }
}

/// Returns a reference to a named header of the description.
pub fn reference(name: &str) -> Ref {
    Ref::new(format!("#/components/headers/{name}"))
}

/// Returns the headers of every response to a valid key.
pub fn of_every_answer() -> impl Iterator<Item = &'static str> {
    HEADERS[..3].iter().map(|header| header.name)
}

/// Returns the headers of an error response with this status.
pub fn of_a_refusal(status: u16) -> impl Iterator<Item = &'static str> {
    // Without a valid key there is no tenant, and so no rate limit.
    let common = if status == 401 { 1 } else { 3 };
    let own = match status {
        401 => Some("WWW-Authenticate"),
        405 => Some("Allow"),
        429 | 503 => Some("Retry-After"),
        _ => None,
    };
    of_every_answer().take(common).chain(own)
}
