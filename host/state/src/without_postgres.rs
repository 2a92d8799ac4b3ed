//! Stands in for the state in PostgreSQL in a build without the feature `postgres`.

use std::sync::Arc;

use crate::{State, StateError};

/// Refuses an address of a database.
///
/// # Errors
/// [`StateError::NoPostgres`], always.
pub fn open_postgres(_: &str) -> Result<Arc<dyn State>, StateError> {
    Err(StateError::NoPostgres)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_database_names_the_missing_feature() {
        let error = open_postgres("postgres://host/name").err().unwrap();
        assert!(error.to_string().contains("--features postgres"), "{error}");
    }
}
