//! Credentials from the environment or from `docker login`.
//!
//! They are never taken from the command line and never shown.

use super::RegistryError;
use docker_credential::{CredentialRetrievalError, DockerCredential};
use oci_client::secrets::RegistryAuth;
use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;

/// The environment variable of the user.
const USER: &str = "DOMESDAY_REGISTRY_USER";
/// The environment variable of the password or token.
const PASSWORD: &str = "DOMESDAY_REGISTRY_PASSWORD";
/// The message of docker's credential helpers for a host without credentials.
const NOTHING_KEPT: &str = "credentials not found";

/// Returns the credentials for `host`.
///
/// They come from the environment, else from docker's configuration file (`DOCKER_CONFIG` names its
/// directory), else there are none.
///
/// # Errors
/// Only half of the credentials is there, or they cannot be read.
pub fn of(host: &str) -> Result<RegistryAuth, RegistryError> {
    let wrong = |problem: String| RegistryError::Credentials {
        host: host.to_owned(),
        problem,
    };
    match (std::env::var(USER), std::env::var(PASSWORD)) {
        (Ok(user), Ok(password)) => return Ok(RegistryAuth::Basic(user, password)),
        (Err(_), Err(_)) => {}
        _ => return Err(wrong(format!("set both {USER} and {PASSWORD}, or neither"))),
    }
    let Some(file) = docker_config_file() else {
        return Ok(RegistryAuth::Anonymous);
    };
    let read = match File::open(&file) {
        Ok(read) => read,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(RegistryAuth::Anonymous),
        Err(error) => return Err(wrong(format!("{}: {error}", file.display()))),
    };
    match docker_credential::get_credential_from_reader(read, host) {
        Ok(DockerCredential::UsernamePassword(user, password)) => {
            Ok(RegistryAuth::Basic(user, password))
        }
        Ok(DockerCredential::IdentityToken(_)) => Err(wrong(format!(
            "docker's configuration file holds an identity token, which is not understood; set {USER} and {PASSWORD}"
        ))),
        Err(
            CredentialRetrievalError::ConfigNotFound
            | CredentialRetrievalError::NoCredentialConfigured,
        ) => Ok(RegistryAuth::Anonymous),
        // The output of a helper may hold a secret, so it is not repeated.
        Err(CredentialRetrievalError::HelperFailure { stdout, .. })
            if stdout.contains(NOTHING_KEPT) =>
        {
            Ok(RegistryAuth::Anonymous)
        }
        Err(CredentialRetrievalError::HelperFailure { helper, .. }) => {
            Err(wrong(format!("docker's helper {helper:?} failed")))
        }
        Err(error) => Err(wrong(format!("{}: {error}", file.display()))),
    }
}

/// Returns the path of docker's configuration file, which need not exist.
fn docker_config_file() -> Option<PathBuf> {
    let folder = match std::env::var_os("DOCKER_CONFIG") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".docker"),
    };
    Some(folder.join("config.json"))
}
