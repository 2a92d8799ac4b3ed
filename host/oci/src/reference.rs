//! `oci://HOST[:PORT]/REPOSITORY[:TAG]`.

use super::RegistryError;
use domesday_package::PackageId;
use oci_client::Reference;
use std::net::{IpAddr, Ipv6Addr};

/// The scheme of an address.
pub const SCHEME: &str = "oci://";

/// A repository of a registry, and perhaps a release in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    host: String,
    repository: String,
    /// The release, where the address names one.
    pub id: Option<PackageId>,
}

impl Address {
    /// Returns whether a text is the address of a registry rather than a directory.
    pub fn is(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// Refuses an address of another scheme, which would be taken for a directory's name.
    ///
    /// # Errors
    /// The text begins with a scheme: letters, a colon and a slash.
    pub fn or_folder(text: &str) -> Result<(), RegistryError> {
        let is_scheme = |scheme: &str| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
        };
        match text.split_once(":/") {
            Some((scheme, rest)) if is_scheme(scheme) && !Address::is(text) => {
                let rest = rest.trim_start_matches('/');
                // The text before an @ may be a password.
                let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
                Err(RegistryError::Scheme {
                    scheme: scheme.to_owned(),
                    suggestion: format!("{SCHEME}{rest}"),
                })
            }
            _ => Ok(()),
        }
    }

    /// Parses an address. The host is required: there is no default registry.
    ///
    /// # Errors
    /// The problem of the address. A password in it is not repeated.
    pub fn parse(text: &str) -> Result<Address, RegistryError> {
        let rest = text.strip_prefix(SCHEME).unwrap_or(text);
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if host.contains('@') {
            return Err(RegistryError::CredentialsInAddress);
        }
        let wrong = |problem: String| RegistryError::Address {
            text: text.to_owned(),
            problem,
        };
        if path.contains('@') {
            return Err(wrong("a digest cannot be asked for; give a tag".to_owned()));
        }
        let (repository, tag) = match path.rsplit_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (path, None),
        };
        let id = tag
            .map(str::parse::<PackageId>)
            .transpose()
            .map_err(|error| wrong(format!("its tag must be a release's id: {error}")))?;
        let port = match host.rsplit_once(':') {
            Some((_, port)) if !host.ends_with(']') => Some(port),
            _ => None,
        };
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return Err(wrong("a port is a number up to 65535".to_owned()));
        }
        // The library knows no IPv6 addresses, and would take these for a repository.
        let name = match strip_brackets(host) {
            Some(inside) if inside.parse::<Ipv6Addr>().is_ok() => "localhost",
            _ => host,
        };
        // The library reads a first part without a dot, a colon or "localhost" as a repository of
        // Docker's.
        let read: Reference = format!("{name}/{repository}:tag")
            .parse()
            .map_err(|error| wrong(format!("{error}")))?;
        if host.is_empty() || read.registry() != name || read.repository() != repository {
            return Err(wrong(
                "give the registry's host, by its whole name or with its port".to_owned(),
            ));
        }
        Ok(Address {
            host: host.to_owned(),
            repository: repository.to_owned(),
            id,
        })
    }

    /// Returns the host, with its port where it has one.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the name of the repository.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the path of the registry's API for `kind`, which is `manifests` or `blobs`.
    pub fn path(&self, kind: &str, name: &str) -> String {
        format!("/v2/{}/{kind}/{name}", self.repository)
    }

    /// Returns whether the registry is on this machine.
    pub fn is_loopback(&self) -> bool {
        let name = match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &self.host,
        };
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Returns the reference of a tag.
    pub fn tag_reference(&self, tag: &str) -> Reference {
        Reference::with_tag(self.host.clone(), self.repository.clone(), tag.to_owned())
    }

    /// Returns the address of a tag or digest, for messages.
    pub fn with_tag(&self, tag: &str) -> String {
        // A digest has a colon too.
        let mark = if tag.contains(':') { '@' } else { ':' };
        format!("{SCHEME}{}/{}{mark}{tag}", self.host, self.repository)
    }
}

/// Returns the IPv6 address between brackets, which a port may follow.
fn strip_brackets(host: &str) -> Option<&str> {
    let (inside, port) = host.strip_prefix('[')?.split_once(']')?;
    (port.is_empty() || port.starts_with(':')).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_host_repository_and_perhaps_a_release() {
        let read = Address::parse("oci://registry.example:5000/models/homes:trees-1").unwrap();
        assert_eq!(read.host(), "registry.example:5000");
        assert_eq!(
            read.with_tag("trees-1"),
            "oci://registry.example:5000/models/homes:trees-1"
        );
        assert_eq!(read.id.unwrap().as_str(), "trees-1");
        let bare = Address::parse("oci://registry.example/homes").unwrap();
        assert_eq!((bare.id, bare.repository.as_str()), (None, "homes"));
    }

    #[test]
    fn a_bad_reference_is_refused() {
        for text in [
            "oci://",
            "oci://homes",
            "oci://homes/models",
            "oci:///homes",
            "oci://registry.example/",
            "oci://registry.example/Homes",
            "oci://registry.example/homes:UPPER",
            "oci://registry.example/../homes",
            "oci://registry.example/homes@sha256:ab",
            "oci://127.0.0.1:99999/homes",
            "oci://registry.example:/homes",
            "oci://[::1/homes",
            "oci://[homes]:5000/homes",
            "oci://[::1]x/homes",
        ] {
            let refused = Address::parse(text).unwrap_err();
            assert!(matches!(refused, RegistryError::Address { .. }), "{text}");
        }
        let refused = Address::parse("oci://me:hunter2@registry.example/homes").unwrap_err();
        assert!(!refused.to_string().contains("hunter2"));
    }

    #[test]
    fn an_ipv6_address_is_a_host() {
        let read = Address::parse("oci://[::1]:5108/models/homes:trees-1").unwrap();
        assert_eq!(read.host(), "[::1]:5108");
        assert!(read.is_loopback());
        let library = read.tag_reference("trees-1");
        assert_eq!(library.resolve_registry(), "[::1]:5108");
        assert!(
            !Address::parse("oci://[2001:db8::1]/homes")
                .unwrap()
                .is_loopback()
        );
    }

    #[test]
    fn a_scheme_is_never_a_folder() {
        for (text, meant) in [
            (
                "OCI://registry.example/homes",
                "oci://registry.example/homes",
            ),
            (
                "https://registry.example/homes",
                "oci://registry.example/homes",
            ),
            (
                "docker://me:hunter2@registry.example/homes",
                "oci://registry.example/homes",
            ),
            (
                "oci:/registry.example/homes",
                "oci://registry.example/homes",
            ),
        ] {
            let error = Address::or_folder(text).unwrap_err().to_string();
            assert!(error.contains(meant), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
        for folder in [
            "/srv/releases",
            "releases",
            "./a:/b",
            "a/b:/c",
            "oci://registry.example/homes",
        ] {
            assert!(Address::or_folder(folder).is_ok(), "{folder}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (host, is) in [
            ("localhost:5000", true),
            ("127.0.0.1:5000", true),
            ("127.9.9.9", true),
            ("localhost.example:5000", false),
            ("127.0.0.1.example", false),
            ("10.0.0.1:5000", false),
        ] {
            let address = Address {
                host: host.to_owned(),
                repository: "homes".to_owned(),
                id: None,
            };
            assert_eq!(address.is_loopback(), is, "{host}");
        }
    }
}
