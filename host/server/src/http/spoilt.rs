//! Answers that lack what a rule asks for, for `scripts/prove-breaks`; an ordinary build has nothing
//! of this but the function that changes nothing.
//!
//! `answer:NAME` leaves every member NAME out of JSON answers, `word:WORD` has another word in the place
//! of every string WORD of them, `header:NAME` leaves a header out of all, and `status:FROM:TO` answers
//! one status with another.

use axum::Router;

/// The same routes.
#[cfg(not(feature = "breaks"))]
pub fn spoilt(router: Router) -> Router {
    router
}

/// The same routes with answers that are broken as `DOMESDAY_BREAK` wishes.
#[cfg(feature = "breaks")]
pub fn spoilt(router: Router) -> Router {
    router.layer(axum::middleware::map_response(wished::spoil))
}

#[cfg(feature = "breaks")]
mod wished {
    use axum::body::Body;
    use axum::http::{StatusCode, header};
    use axum::response::Response;
    use domesday_breaks::wished;
    use http_body_util::BodyExt;
    use serde_json::Value;

    pub async fn spoil(mut response: Response) -> Response {
        if let Some(name) = wished().strip_prefix("header:") {
            response.headers_mut().remove(name);
        } else if let Some(name) = wished().strip_prefix("answer:") {
            return changed(response, |answer| leave_out(answer, name)).await;
        } else if let Some(word) = wished().strip_prefix("word:") {
            return changed(response, |answer| misspell(answer, word)).await;
        } else if let Some((from, to)) = wished()
            .strip_prefix("status:")
            .and_then(|statuses| statuses.split_once(':'))
            && response.status().as_str() == from
        {
            *response.status_mut() = to.parse().unwrap_or(StatusCode::IM_A_TEAPOT);
        }
        response
    }

    async fn changed(response: Response, change: impl FnOnce(&mut Value)) -> Response {
        let (mut head, body) = response.into_parts();
        let bytes = body.collect().await.map(|whole| whole.to_bytes());
        let bytes = bytes.unwrap_or_default();
        let Ok(mut value) = serde_json::from_slice(&bytes) else {
            return Response::from_parts(head, Body::from(bytes));
        };
        change(&mut value);
        head.headers.remove(header::CONTENT_LENGTH);
        Response::from_parts(head, Body::from(value.to_string()))
    }

    fn leave_out(value: &mut Value, name: &str) {
        match value {
            Value::Object(members) => {
                members.remove(name);
                members
                    .values_mut()
                    .for_each(|value| leave_out(value, name));
            }
            Value::Array(values) => values.iter_mut().for_each(|value| leave_out(value, name)),
            _ => {}
        }
    }

    fn misspell(value: &mut Value, word: &str) {
        match value {
            Value::String(text) if text == word => *text = "misspelt".to_owned(),
            Value::Object(members) => members.values_mut().for_each(|value| misspell(value, word)),
            Value::Array(values) => values.iter_mut().for_each(|value| misspell(value, word)),
            _ => {}
        }
    }
}
