//! What can go wrong between this host and a registry.

use domesday_package::PackageError;
use oci_client::errors::{OciDistributionError, OciErrorCode};
use std::io;

/// How much of what somebody else said is repeated, characters.
const MOST_SAID: usize = 200;

/// A package could not be published to a registry or pulled from one.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The address is none.
    #[error(
        "{text:?} is no registry's address (oci://HOST[:PORT]/REPOSITORY[:RELEASE]): {problem}"
    )]
    Address {
        /// As given.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An address of another kind than registries have.
    #[error(
        "{scheme}: is not how a registry's address begins, and no folder's name either; for a registry say {meant}"
    )]
    Scheme {
        /// What it begins with.
        scheme: String,
        /// What was meant, perhaps.
        meant: String,
    },
    /// A user or password in the address, which is not repeated here.
    #[error(
        "a registry's address holds no user and no password: others on the machine see command lines; set DOMESDAY_REGISTRY_USER and DOMESDAY_REGISTRY_PASSWORD, or use docker's configuration file"
    )]
    CredentialsInAddress,
    /// What is there to log in with cannot be read.
    #[error("the credentials for {host}: {problem}")]
    Credentials {
        /// The registry's host.
        host: String,
        /// What is wrong, without the credentials.
        problem: String,
    },
    /// The machine refuses.
    #[error("connections could not be made ready: {0}")]
    Machine(io::Error),
    /// There is nothing under that name.
    #[error("there is no {place}; `domesday release publish` puts a release there")]
    Absent {
        /// The address with its tag.
        place: String,
    },
    /// There is something that no command of Domesday put there.
    #[error("{place} is no package of Domesday's: {problem}")]
    NotAPackage {
        /// The address with its tag.
        place: String,
        /// What it lacks.
        problem: String,
    },
    /// The release stands there, and its package is gone.
    #[error(
        "{place} names its package as {package}, which the registry does not have (any more); publish the release there again"
    )]
    PackageGone {
        /// The address with its tag.
        place: String,
        /// The package's digest.
        package: String,
    },
    /// What stands under the id is not what its package says, so that others get something else
    /// there.
    #[error(
        "{place} is published already with other bytes than its own package says: {problem}; nothing was changed there; have that tag deleted in the registry, and publish again"
    )]
    Altered {
        /// The address with its tag.
        place: String,
        /// What differs.
        problem: String,
    },
    /// The registry sends its clients to a place where others could read the password.
    #[error(
        "{host} asks for a login at {realm:?}, which is not encrypted: others could read the password on its way, so it was not sent; --plain-http sends it"
    )]
    PlainRealm {
        /// The registry's host.
        host: String,
        /// What it names.
        realm: String,
    },
    /// The id is there with other bytes.
    #[error(
        "{place} is published already with other bytes; an id never changes, so take a new one"
    )]
    Republished {
        /// The address with its tag.
        place: String,
    },
    /// The registry does not let us.
    #[error(
        "{host} does not allow this ({message}); DOMESDAY_REGISTRY_USER and DOMESDAY_REGISTRY_PASSWORD, or docker's configuration file, say who is asking"
    )]
    Denied {
        /// The registry's host.
        host: String,
        /// What it said.
        message: String,
    },
    /// No answer.
    #[error("{host} cannot be reached: {problem}")]
    Unreachable {
        /// The registry's host.
        host: String,
        /// What the connection said.
        problem: String,
    },
    /// A connection that ended before the answer did.
    #[error(
        "{doing} at {host} broke off: {problem}; nothing of it is kept, so run the command again; should it break off again, ask who keeps the registry or a proxy before it"
    )]
    BrokeOff {
        /// What was being done.
        doing: String,
        /// The registry's host.
        host: String,
        /// What the connection said.
        problem: String,
    },
    /// What came is not what its digest says.
    #[error(
        "{file} came from {host} with other bytes than its manifest says; nothing of it is kept"
    )]
    Damaged {
        /// The registry's host.
        host: String,
        /// What was fetched.
        file: String,
    },
    /// More than was announced.
    #[error("{host} sends {file} with more than {bytes} bytes; nothing of it is kept")]
    TooLarge {
        /// The registry's host.
        host: String,
        /// What was fetched.
        file: String,
        /// The most that is taken.
        bytes: u64,
    },
    /// Anything else that the registry or the connection does.
    #[error("{doing} at {host}: {message}")]
    Failed {
        /// What was being done.
        doing: String,
        /// The registry's host.
        host: String,
        /// What happened, as it may be shown.
        message: String,
        /// Whether the same may succeed a moment later.
        passing: bool,
    },
    /// A file of this machine.
    #[error("{file}: {error}")]
    File {
        /// Which.
        file: String,
        /// What the system said.
        error: io::Error,
    },
    /// The component's outside cannot be read.
    #[error("the component cannot be described: {0}")]
    Component(#[from] domesday_engine::AdmissionError),
    /// The package is not what it must be.
    #[error(transparent)]
    Package(#[from] PackageError),
}

impl RegistryError {
    /// What a failure of the library's means, while `doing` something at `host`.
    pub fn of(error: OciDistributionError, host: &str, doing: &str) -> RegistryError {
        if let Some(message) = denial(&error) {
            let host = host.to_owned();
            return RegistryError::Denied { host, message };
        }
        let failed = |message: String, passing| RegistryError::Failed {
            doing: doing.to_owned(),
            host: host.to_owned(),
            message,
            passing,
        };
        match error {
            OciDistributionError::DigestError(_) => RegistryError::Damaged {
                host: host.to_owned(),
                file: doing.to_owned(),
            },
            OciDistributionError::RequestError(error) => of_request(error, host, doing),
            // The same login has succeeded before.
            OciDistributionError::AuthenticationFailure(_) => {
                failed("the token service gave no token".to_owned(), true)
            }
            error => {
                let passing = may_pass(&error);
                failed(printable(&chain(&error)), passing)
            }
        }
    }

    /// What happened, without what to do: it is being done.
    pub fn briefly(&self) -> String {
        match self {
            RegistryError::BrokeOff {
                doing,
                host,
                problem,
            } => format!("{doing} at {host} broke off: {problem}"),
            other => other.to_string(),
        }
    }

    /// Whether the same may succeed a moment later.
    pub fn may_pass(&self) -> bool {
        match self {
            RegistryError::Unreachable { .. } | RegistryError::BrokeOff { .. } => true,
            RegistryError::Failed { passing, .. } => *passing,
            _ => false,
        }
    }
}

fn may_pass(error: &OciDistributionError) -> bool {
    match error {
        OciDistributionError::IoError(_) => true,
        OciDistributionError::ServerError { code, .. } => *code >= 500 || *code == 429,
        OciDistributionError::RegistryError { envelope, .. } => envelope
            .errors
            .iter()
            .any(|error| error.code == OciErrorCode::Toomanyrequests),
        _ => false,
    }
}

/// What a connection's failure means, while `doing` something at `host`. Addresses are not
/// repeated: one that a registry sent us to may hold a secret.
pub fn of_request(error: reqwest::Error, host: &str, doing: &str) -> RegistryError {
    let (host, doing) = (host.to_owned(), doing.to_owned());
    let error = error.without_url();
    if let Some(status) = error.status() {
        let message = format!("status {}", status.as_u16());
        return match status.as_u16() {
            401 | 403 => RegistryError::Denied { host, message },
            code => RegistryError::Failed {
                doing,
                host,
                message,
                passing: code >= 500 || code == 429,
            },
        };
    }
    let problem = printable(&chain(&error));
    if error.is_connect() || error.is_timeout() {
        return RegistryError::Unreachable {
            host,
            problem: format!("{problem} ({doing})"),
        };
    }
    if error.is_builder() || error.is_redirect() {
        return RegistryError::Failed {
            doing,
            host,
            message: problem,
            passing: false,
        };
    }
    RegistryError::BrokeOff {
        doing,
        host,
        problem,
    }
}

/// What somebody else said, as it may be shown on a terminal: a little of it, and nothing that
/// moves a cursor or turns the writing about.
pub fn printable(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    let mut shown: String = text
        .trim()
        .chars()
        .take(MOST_SAID)
        .map(|c| match c {
            c if c.is_whitespace() => ' ',
            c if c.is_control() || turns(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect();
    if text.trim().chars().nth(MOST_SAID).is_some() {
        shown.push('…');
    }
    shown
}

/// An error with its causes, each once: a connection's own text says only that it failed.
fn chain(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let text = next.to_string();
        if !message.ends_with(&text) {
            message = format!("{message}: {text}");
        }
        cause = next.source();
    }
    message
}

/// What the registry said, where it wants somebody else to ask.
fn denial(error: &OciDistributionError) -> Option<String> {
    match error {
        OciDistributionError::UnauthorizedError { .. } => Some("not authorized".to_owned()),
        OciDistributionError::ServerError {
            code: code @ (401 | 403),
            ..
        } => Some(format!("status {code}")),
        OciDistributionError::RegistryError { envelope, .. } => envelope
            .errors
            .iter()
            .find(|error| {
                matches!(
                    error.code,
                    OciErrorCode::Unauthorized | OciErrorCode::Denied
                )
            })
            .map(|error| printable(&error.message)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_short_and_moves_no_cursor() {
        assert_eq!(printable(" it is\nbroken "), "it is broken");
        let shown = printable("\u{1b}[2Jall is well\u{202e}\u{9b}1m");
        assert_eq!(shown, "\u{fffd}[2Jall is well\u{fffd}\u{fffd}1m");
        assert_eq!(printable(&"x".repeat(9999)).chars().count(), MOST_SAID + 1);
        assert_eq!(printable(&"x".repeat(MOST_SAID)).chars().count(), MOST_SAID);
    }

    #[test]
    fn a_login_that_fails_for_a_moment_is_no_refusal() {
        let failure = OciDistributionError::AuthenticationFailure("503".to_owned());
        let failed = RegistryError::of(failure, "registry.example", "sending");
        assert!(failed.may_pass(), "{failed}");
        assert!(!failed.to_string().contains("does not allow"), "{failed}");
    }
}
