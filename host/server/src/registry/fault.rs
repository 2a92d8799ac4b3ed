//! What can go wrong between this host and a registry.

use domesday_package::PackageError;
use oci_client::errors::{OciDistributionError, OciErrorCode};
use std::io;

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
        "{host} does not allow this ({said}); DOMESDAY_REGISTRY_USER and DOMESDAY_REGISTRY_PASSWORD, or docker's configuration file, say who is asking"
    )]
    Denied {
        /// The registry's host.
        host: String,
        /// What it said.
        said: String,
    },
    /// No answer.
    #[error("{host} cannot be reached: {problem}")]
    Unreachable {
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
    #[error("{doing} at {host}: {error}")]
    Failed {
        /// What was being done.
        doing: String,
        /// The registry's host.
        host: String,
        /// What happened.
        error: Box<OciDistributionError>,
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
        let host = host.to_owned();
        match error {
            OciDistributionError::DigestError(_) => RegistryError::Damaged {
                host,
                file: doing.to_owned(),
            },
            OciDistributionError::RequestError(error)
                if error.is_connect() || error.is_timeout() =>
            {
                RegistryError::Unreachable {
                    host,
                    problem: chain(&error),
                }
            }
            error => match denial(&error) {
                Some(said) => RegistryError::Denied { host, said },
                None => RegistryError::Failed {
                    doing: doing.to_owned(),
                    host,
                    error: Box::new(error),
                },
            },
        }
    }

    /// Whether the same may succeed a moment later.
    pub fn may_pass(&self) -> bool {
        match self {
            RegistryError::Unreachable { .. } => true,
            RegistryError::Failed { error, .. } => match error.as_ref() {
                OciDistributionError::RequestError(error) => !error.is_builder(),
                OciDistributionError::IoError(_) => true,
                OciDistributionError::ServerError { code, .. } => *code >= 500 || *code == 429,
                OciDistributionError::RegistryError { envelope, .. } => envelope
                    .errors
                    .iter()
                    .any(|error| error.code == OciErrorCode::Toomanyrequests),
                _ => false,
            },
            _ => false,
        }
    }
}

/// An error with its causes, each once: a connection's own text says only that it failed.
fn chain(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let text = next.to_string();
        if !said.ends_with(&text) {
            said = format!("{said}: {text}");
        }
        cause = next.source();
    }
    said
}

/// What the registry said, where it wants somebody else to ask.
fn denial(error: &OciDistributionError) -> Option<String> {
    match error {
        OciDistributionError::AuthenticationFailure(_) => Some("not logged in".to_owned()),
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
            .map(|error| error.message.clone()),
        _ => None,
    }
}
