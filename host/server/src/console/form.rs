//! Fields that a browser sends, in a query or as a form.

use super::error::ConsoleError;
use super::layout::TOKEN;
use crate::console_sessions::Session;
use axum::body::{Body, Bytes};
use http_body_util::{BodyExt, Limited};
use std::time::Duration;

/// The largest form, bytes: a file of homes for a job.
pub(super) const MAX_BYTES: usize = 9_500_000;
/// The time that a form has to arrive.
const TIME: Duration = Duration::from_secs(10);

/// Receives a body of no more than some bytes.
///
/// # Errors
/// `Form` if it does not arrive whole and in time.
pub(super) async fn receive(body: Body, most: usize) -> Result<Bytes, ConsoleError> {
    let collect = Limited::new(body, most).collect();
    match tokio::time::timeout(TIME, collect).await {
        Ok(Ok(received)) => Ok(received.to_bytes()),
        Ok(Err(_)) => Err(ConsoleError::Form(format!(
            "it is larger than {most} bytes, or broke off"
        ))),
        Err(_) => Err(ConsoleError::Form(format!(
            "it did not arrive within {} seconds",
            TIME.as_secs()
        ))),
    }
}

/// The fields of a form or a query, in their order. Empty fields are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses fields as a browser encodes them.
    pub(super) fn parse(bytes: &[u8]) -> Fields {
        let fields = form_urlencoded::parse(bytes)
            .map(|(name, value)| (name.into_owned(), value.trim().to_owned()))
            .filter(|(_, value)| !value.is_empty());
        Fields(fields.collect())
    }

    /// Reads a form that carries the token of a session.
    ///
    /// # Errors
    /// `Form` if it does not arrive whole and in time, `OtherForm` if its token is another's.
    pub(super) async fn of_session(body: Body, session: &Session) -> Result<Fields, ConsoleError> {
        let fields = Fields::read(body).await?;
        match fields.is_of(session) {
            true => Ok(fields),
            false => Err(ConsoleError::OtherForm),
        }
    }

    /// Reports whether the form carries the token of a session.
    pub(super) fn is_of(&self, session: &Session) -> bool {
        self.get(TOKEN) == Some(&session.form_token)
    }

    /// Reads a form.
    ///
    /// # Errors
    /// `Form` if it does not arrive whole and in time.
    pub(super) async fn read(body: Body) -> Result<Fields, ConsoleError> {
        Ok(Fields::parse(&receive(body, MAX_BYTES).await?))
    }

    /// Returns the first field of a name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.iter();
        fields
            .find(|(field, _)| field == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the fields in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Adds a field, unless it is empty.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        let value = value.trim();
        if !value.is_empty() {
            self.0.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Sets a field.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// Removes a field.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(field, _)| field != name);
    }

    /// Returns the fields as a query.
    pub(super) fn query(&self) -> String {
        form_urlencoded::Serializer::new(String::new())
            .extend_pairs(self.iter())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_written() {
        let fields = Fields::parse(b"a=1&b=&a=2&c=x+y%26");
        assert_eq!(fields.get("a"), Some("1"));
        assert_eq!(fields.get("b"), None);
        assert_eq!(fields.get("c"), Some("x y&"));
        assert_eq!(fields.query(), "a=1&a=2&c=x+y%26");
    }
}
