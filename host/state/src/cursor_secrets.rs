//! The secrets under which cursors are authenticated, shared by all hosts of a state.

use crate::StateError;

/// One secret.
pub type CursorSecret = [u8; 32];

/// The current secret and the one before it, with which cursors given earlier are still taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CursorSecrets {
    /// New cursors are authenticated with this; none before the first start.
    pub current: Option<CursorSecret>,
    /// The one before the last rotation.
    pub before: Option<CursorSecret>,
}

impl CursorSecrets {
    /// Returns the secrets after a rotation: `fresh` is current, and the current one is before it.
    pub(crate) fn rotate(self, fresh: CursorSecret) -> CursorSecrets {
        CursorSecrets {
            current: Some(fresh),
            before: self.current,
        }
    }
}

/// A store of the secrets. Changes block until they are durable; reading answers from memory.
pub trait Cursors: Send + Sync {
    /// Keeps `fresh` where there is no secret yet, and otherwise changes nothing: of hosts that
    /// start at once, one gives the secret.
    fn begin_cursors(&self, fresh: CursorSecret) -> Result<(), StateError>;

    /// Puts `fresh` in the place of the current secret. Cursors made with the one before the
    /// current are no longer taken.
    fn rotate_cursors(&self, fresh: CursorSecret) -> Result<(), StateError>;

    /// Returns the secrets in force.
    fn cursor_secrets(&self) -> CursorSecrets;
}
