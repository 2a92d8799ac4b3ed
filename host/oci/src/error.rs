//! Errors between this host and a registry.

use super::reach::DestinationError;
use domesday_package::{PackageError, join_causes, printable};
use std::error::Error;
use std::io;

/// A package could not be published to a registry or pulled from one.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The address is not valid.
    #[error(
        "invalid registry address {text:?} (oci://HOST[:PORT]/REPOSITORY[:RELEASE]): {problem}"
    )]
    Address {
        /// The text of the user.
        text: String,
        /// The problem of the text.
        problem: String,
    },
    /// An address of another kind than registries have.
    #[error(
        "{scheme} begins neither a registry address nor a folder's name. For a registry use {suggestion}"
    )]
    Scheme {
        /// The scheme of the text.
        scheme: String,
        /// The address that the user may have meant.
        suggestion: String,
    },
    /// A user or password in the address, which is not repeated here.
    #[error(
        "a registry address must not contain a user or password: others on the machine see command \
         lines. Set DOMESDAY_REGISTRY_USER and DOMESDAY_REGISTRY_PASSWORD, or use docker's \
         configuration file"
    )]
    CredentialsInAddress,
    /// The credentials cannot be read, or only half of them is set.
    #[error("invalid credentials for {host}: {problem}")]
    Credentials {
        /// The registry's host.
        host: String,
        /// The problem, without the credentials.
        problem: String,
    },
    /// Another thread stopped the transfer.
    #[error("the transfer was stopped")]
    Stopped,
    /// The system refuses to start a connection.
    #[error("cannot prepare connections: {0}")]
    Machine(io::Error),
    /// The registry has nothing under that name.
    #[error("{reference} not found in the registry. Publish it with `domesday release publish`")]
    Absent {
        /// The address with its tag.
        reference: String,
    },
    /// The artifact is not one that Domesday writes.
    #[error("{reference} is not a Domesday package: {problem}")]
    NotAPackage {
        /// The address with its tag.
        reference: String,
        /// The problem of the artifact.
        problem: String,
    },
    /// The registry has the release's component but not its package.
    #[error(
        "{reference} refers to the package {package}, which the registry does not have: publish the \
         release there again"
    )]
    PackageGone {
        /// The address with its tag.
        reference: String,
        /// The package's digest.
        package: String,
    },
    /// The artifact under the id differs from its package, so a pull would fetch other bytes.
    #[error(
        "{reference} is published already with other bytes than its own package states: {problem}. \
         Nothing was changed. Delete that tag in the registry and publish again"
    )]
    Altered {
        /// The address with its tag.
        reference: String,
        /// The difference.
        problem: String,
    },
    /// The registry names a token service without TLS, where others could read the password.
    #[error(
        "{host} requires a login at {realm:?}, which is not encrypted. The password was not sent. \
         Allow it with --plain-http"
    )]
    PlainRealm {
        /// The registry's host.
        host: String,
        /// The token service that the registry names.
        realm: String,
    },
    /// The registry names a token service within a machine or a private network.
    #[error(
        "{host} requires a login at {realm:?}, an address within a machine or a private network. \
         Nothing was sent there. Ask the registry's operator for a token service on the internet \
         or, for a registry of your own network, one with a name of that network"
    )]
    PrivateRealm {
        /// The registry's host.
        host: String,
        /// The token service that the registry names.
        realm: String,
    },
    /// The id is there with other bytes.
    #[error(
        "{reference} is published already with other bytes; an id never changes, so take a new one"
    )]
    Republished {
        /// The address with its tag.
        reference: String,
    },
    /// The registry denies access.
    #[error(
        "{host} does not allow this ({message}). Set DOMESDAY_REGISTRY_USER and \
         DOMESDAY_REGISTRY_PASSWORD, or use docker's configuration file"
    )]
    Denied {
        /// The registry's host.
        host: String,
        /// The registry's message.
        message: String,
    },
    /// The host did not respond.
    #[error(
        "{host} cannot be reached: {problem}. Check its address and this machine's network or proxy, \
         then run the command again"
    )]
    Unreachable {
        /// The registry's host.
        host: String,
        /// The error of the connection.
        problem: String,
    },
    /// The connection ended before the response did.
    #[error(
        "{doing} at {host} broke off: {problem}. The partial transfer was discarded: run the \
         command again. If it breaks off again, ask the operator of the registry or of its proxy"
    )]
    BrokeOff {
        /// The activity, such as `logging in`.
        doing: String,
        /// The registry's host.
        host: String,
        /// The error of the connection.
        problem: String,
    },
    /// The bytes of a file do not match its digest.
    #[error(
        "{file} came from {host} with other bytes than its manifest states. They were discarded. Pull again, or ask the publisher to publish it again"
    )]
    Damaged {
        /// The registry's host.
        host: String,
        /// The fetched file.
        file: String,
    },
    /// A response is longer than its bound.
    #[error(
        "{host} sends {file} with more than {bytes} bytes. They were discarded. Ask the publisher to publish it again"
    )]
    TooLarge {
        /// The registry's host.
        host: String,
        /// The fetched file.
        file: String,
        /// The bound.
        bytes: u64,
    },
    /// Any other failure of the registry or the connection.
    #[error("{doing} at {host} failed: {message}")]
    Failed {
        /// The activity, such as `logging in`.
        doing: String,
        /// The registry's host.
        host: String,
        /// The failure, in printable text.
        message: String,
        /// True if a retry a moment later may succeed.
        passing: bool,
    },
    /// A file of this machine cannot be read or written.
    #[error("cannot read or write {file}: {error}")]
    File {
        /// The file.
        file: String,
        /// The system's error.
        error: io::Error,
    },
    /// The component's imports and exports cannot be read.
    #[error("cannot describe the component: {0}")]
    Component(#[from] domesday_engine::AdmissionError),
    /// The package is not valid.
    #[error(transparent)]
    Package(#[from] PackageError),
}

impl RegistryError {
    /// Describes the failure without the advice, for a log line before a retry.
    pub fn briefly(&self) -> String {
        match self {
            RegistryError::BrokeOff {
                doing,
                host,
                problem,
            } => format!("{doing} at {host} broke off: {problem}"),
            RegistryError::Unreachable { host, problem } => {
                format!("{host} cannot be reached: {problem}")
            }
            other => other.to_string(),
        }
    }

    /// Reports whether a retry a moment later may succeed.
    pub fn may_pass(&self) -> bool {
        match self {
            RegistryError::Unreachable { .. } | RegistryError::BrokeOff { .. } => true,
            RegistryError::Failed { passing, .. } => *passing,
            _ => false,
        }
    }
}

/// Converts an error of a connection that occurred while `doing` something at `host`.
///
/// The error repeats no URL: a URL that a registry sent us to may hold a secret.
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
    let problem = printable(&join_causes(&error));
    if is_refusal(&error) || error.is_builder() || error.is_redirect() {
        return RegistryError::Failed {
            doing,
            host,
            message: problem,
            passing: false,
        };
    }
    if error.is_connect() || error.is_timeout() {
        return RegistryError::Unreachable {
            host,
            problem: format!("{problem} ({doing})"),
        };
    }
    RegistryError::BrokeOff {
        doing,
        host,
        problem,
    }
}

/// Returns whether a destination was refused, which no retry helps against.
fn is_refusal(error: &reqwest::Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.any(|cause| cause.is::<DestinationError>())
}
