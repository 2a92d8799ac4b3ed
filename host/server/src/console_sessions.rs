//! Sessions of the console: one-time links, and the cookies of browsers.
//!
//! A session has an API key of its tenant, which stays in this process: the browser has a cookie
//! alone. Links and sessions are in memory. A restart ends them, and their keys expire by
//! themselves.

use crate::console_origin::ConsoleOrigin;
use crate::console_values::ConsoleValues;
use crate::console_work::ConsoleWork;
use domesday_console::recent::Recent;
use domesday_property::address_directory::AddressDirectory;
use domesday_state::{KeyId, Scopes, Secret, TenantId, UnixMillis};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The time in which a link opens a session.
pub const LINK_MILLIS: i64 = 10 * 60 * 1000;
/// The time after which a session ends.
pub const SESSION_MILLIS: i64 = 8 * 60 * 60 * 1000;
/// Links and sessions at once. The oldest goes first.
const MOST: usize = 200;
/// The digest of a link's token, or of a cookie.
type TokenDigest = [u8; 32];

/// Whom a session acts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleUser {
    /// The tenant whose plan its valuations count against.
    pub tenant: TenantId,
    /// The scopes of its key.
    pub scopes: Scopes,
    /// True for an operator, who sees the pages of operation too.
    pub operator: bool,
}

/// A session of one browser.
pub struct Session {
    /// Whom it acts for.
    pub user: ConsoleUser,
    /// The key that its requests to the API carry.
    pub key: Secret,
    /// The key's id.
    pub key_id: KeyId,
    /// The token that each form of its pages carries.
    pub form_token: String,
    /// The end of the session.
    pub expires: UnixMillis,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session(of {})", self.user.tenant)
    }
}

/// The links and sessions of one host's console, and its values.
pub struct ConsoleSessions {
    origin: ConsoleOrigin,
    api_origin: String,
    work: ConsoleWork,
    values: Option<Arc<ConsoleValues>>,
    open: Mutex<OpenSessions>,
    addresses: OnceLock<AddressDirectory>,
}

#[derive(Default)]
struct OpenSessions {
    links: Recent<TokenDigest, (ConsoleUser, UnixMillis)>,
    sessions: Recent<TokenDigest, Arc<Session>>,
}

impl ConsoleSessions {
    /// Returns the sessions of a console that browsers reach at `origin`, beside an API at
    /// `api_origin`.
    pub fn new(origin: ConsoleOrigin, api_origin: String) -> ConsoleSessions {
        ConsoleSessions {
            origin,
            api_origin,
            work: ConsoleWork::default(),
            values: None,
            open: Mutex::default(),
            addresses: OnceLock::new(),
        }
    }

    /// Gives the console the values of its data folder.
    pub fn with_values(mut self, values: ConsoleValues) -> ConsoleSessions {
        self.values = Some(Arc::new(values));
        self
    }

    /// Returns the values that its pages can show again.
    pub fn values(&self) -> Option<&Arc<ConsoleValues>> {
        self.values.as_ref()
    }

    /// Returns the console's origin.
    pub fn origin(&self) -> &ConsoleOrigin {
        &self.origin
    }

    /// Returns the forms and jobs of its sessions.
    pub fn work(&self) -> &ConsoleWork {
        &self.work
    }

    /// Returns the origin of the API.
    pub fn api_origin(&self) -> &str {
        &self.api_origin
    }

    /// Returns the addresses that the console searches.
    pub fn addresses(&self) -> Option<&AddressDirectory> {
        self.addresses.get()
    }

    /// Gives the console addresses to search. The first ones stay.
    pub fn set_addresses(&self, directory: AddressDirectory) {
        self.addresses.get_or_init(|| directory);
    }

    /// Makes a link that opens one session for a user, and returns it.
    pub fn make_link(&self, user: ConsoleUser, token: [u8; 32], now: UnixMillis) -> String {
        let token = hex::encode(token);
        let expires = UnixMillis(now.0 + LINK_MILLIS);
        self.open().links.add(digest(&token), (user, expires), MOST);
        format!("{}/login?token={token}", self.origin.as_str())
    }

    /// Returns the user of a link that was not used yet, and leaves the link as it is.
    pub fn user_of_link(&self, token: &str, now: UnixMillis) -> Option<ConsoleUser> {
        let open = self.open();
        let (user, expires) = open.links.get(&digest(token))?;
        (now < *expires).then(|| user.clone())
    }

    /// Uses a link up, and returns its user if it was good.
    pub fn redeem(&self, token: &str, now: UnixMillis) -> Option<ConsoleUser> {
        let (user, expires) = self.open().links.remove(&digest(token))?;
        (now < expires).then_some(user)
    }

    /// Begins a session, and returns the value of its cookie.
    pub fn begin(&self, session: Session, cookie: [u8; 32]) -> String {
        let cookie = hex::encode(cookie);
        self.open()
            .sessions
            .add(digest(&cookie), Arc::new(session), MOST);
        cookie
    }

    /// Returns the session of a cookie, if it has one that has not ended.
    pub fn session(&self, cookie: &str, now: UnixMillis) -> Option<Arc<Session>> {
        let open = self.open();
        let session = open.sessions.get(&digest(cookie))?;
        (now < session.expires).then(|| session.clone())
    }

    /// Ends the session of a cookie, and returns it if there was one.
    pub fn end(&self, cookie: &str) -> Option<Arc<Session>> {
        self.open().sessions.remove(&digest(cookie))
    }

    fn open(&self) -> MutexGuard<'_, OpenSessions> {
        // Every change is whole before anything can panic.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn digest(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_000);

    fn user(tenant: &str) -> ConsoleUser {
        ConsoleUser {
            tenant: tenant.parse().unwrap(),
            scopes: Scopes::all(),
            operator: false,
        }
    }

    fn sessions() -> ConsoleSessions {
        let origin = ConsoleOrigin::parse("http://127.0.0.1:1").unwrap();
        ConsoleSessions::new(origin, String::new())
    }

    fn token(link: &str) -> &str {
        link.rsplit('=').next().unwrap()
    }

    #[test]
    fn a_link_opens_one_session_within_its_time() {
        let sessions = sessions();
        let link = sessions.make_link(user("a"), [7; 32], NOW);
        assert!(link.starts_with("http://127.0.0.1:1/login?token=0707"));
        assert_eq!(sessions.user_of_link(token(&link), NOW), Some(user("a")));
        assert_eq!(sessions.redeem(token(&link), NOW), Some(user("a")));
        assert_eq!(sessions.redeem(token(&link), NOW), None);

        let link = sessions.make_link(user("a"), [8; 32], NOW);
        let late = UnixMillis(NOW.0 + LINK_MILLIS);
        assert_eq!(sessions.user_of_link(token(&link), late), None);
        assert_eq!(sessions.redeem(token(&link), late), None);
        assert_eq!(sessions.redeem("", NOW), None);
    }

    #[test]
    fn the_oldest_links_are_forgotten() {
        let sessions = sessions();
        let link = |at: u8| sessions.make_link(user("a"), [at; 32], NOW);
        let first = link(0);
        for at in 1..=200 {
            link(at);
        }
        assert_eq!(sessions.redeem(token(&first), NOW), None);
        assert!(sessions.redeem(&hex::encode([1; 32]), NOW).is_some());
    }
}
