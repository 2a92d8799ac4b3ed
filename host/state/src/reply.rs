//! The answer of an operation that a request waits for.

use std::future::Future;
use std::pin::Pin;

use crate::StateError;

/// The reply of an operation, which comes once it is durable.
///
/// The operation begins when it is called, not when the reply is polled. It goes on though the
/// reply is dropped, except for a claim, which is given back. So a caller may do other work
/// meanwhile. Calling never blocks. Of operations that fail with [`StateError::Storage`] it is
/// unknown whether they took effect.
pub type Reply<T> = Pin<Box<dyn Future<Output = Result<T, StateError>> + Send>>;
