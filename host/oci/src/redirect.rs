//! The redirects of a registry that are followed.

use reqwest::Url;
use reqwest::redirect::Policy;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Redirects of one request that are followed. Registries need one, to their object storage.
const MAX_REDIRECTS: usize = 3;

/// The reason why a redirect is not followed. It names no path or query, which may hold a secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Refusal {
    #[error("redirected more than {MAX_REDIRECTS} times")]
    TooMany,
    #[error("redirected to {0}, which is not https; a registry may redirect to itself or to https")]
    NotSecure(String),
    #[error("redirected to {0}, an address within a machine or a private network")]
    Private(String),
}

/// Returns the policy of a registry's client: to the registry itself, or by https to a public host.
/// Otherwise a registry could make this host send requests to machines that only it can reach.
pub fn policy() -> Policy {
    Policy::custom(|attempt| match check(attempt.previous(), attempt.url()) {
        Ok(()) => attempt.follow(),
        Err(refusal) => attempt.error(refusal),
    })
}

/// Checks a redirect to `target`, after requests to `previous`.
fn check(previous: &[Url], target: &Url) -> Result<(), Refusal> {
    if previous.len() > MAX_REDIRECTS {
        return Err(Refusal::TooMany);
    }
    if previous
        .first()
        .is_some_and(|first| first.origin() == target.origin())
    {
        return Ok(());
    }
    let host = target.host_str().unwrap_or_default().to_owned();
    if target.scheme() != "https" {
        return Err(Refusal::NotSecure(host));
    }
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    if is_this_machine(&host) || address.is_ok_and(is_private) {
        return Err(Refusal::Private(host));
    }
    Ok(())
}

/// Reports whether a name is one of this machine (RFC 6761): `localhost` or a name below it.
fn is_this_machine(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

/// Reports whether an address is not one of a host on the public internet.
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => is_private_v4(v4),
        IpAddr::V6(v6) => is_private_v6(v6),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    // 0.0.0.0/8 is this network, and 100.64.0.0/10 is shared behind a carrier's NAT.
    let special = matches!(address.octets(), [0, ..] | [100, 64..=127, ..]);
    special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.is_multicast()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(previous: &[&str], target: &str) -> Result<(), Refusal> {
        let urls: Vec<Url> = previous.iter().map(|url| url.parse().unwrap()).collect();
        check(&urls, &target.parse().unwrap())
    }

    #[test]
    fn a_registry_may_redirect_to_itself_and_to_public_https() {
        let registry = "https://registry.example/v2/a/blobs/b";
        assert_eq!(
            checked(&[registry], "https://registry.example/v2/c"),
            Ok(())
        );
        assert_eq!(
            checked(&[registry], "https://storage.example/d?signed"),
            Ok(())
        );
        let own = "http://127.0.0.1:5000/v2/";
        assert_eq!(checked(&[own], "http://127.0.0.1:5000/v3/"), Ok(()));
    }

    #[test]
    fn a_registry_may_not_redirect_into_private_networks_or_out_of_tls() {
        let registry = "https://registry.example/v2/a/blobs/b";
        for (target, expected) in [
            (
                "http://storage.example/d",
                Refusal::NotSecure("storage.example".into()),
            ),
            (
                "http://registry.example/v2/c",
                Refusal::NotSecure("registry.example".into()),
            ),
            ("https://127.0.0.1/d", Refusal::Private("127.0.0.1".into())),
            ("https://localhost/d", Refusal::Private("localhost".into())),
            (
                "https://169.254.169.254/latest",
                Refusal::Private("169.254.169.254".into()),
            ),
            ("https://10.1.2.3/d", Refusal::Private("10.1.2.3".into())),
            ("https://[::1]/d", Refusal::Private("[::1]".into())),
            (
                "https://[::ffff:10.0.0.1]/d",
                Refusal::Private("[::ffff:a00:1]".into()),
            ),
            ("https://[fd00::1]/d", Refusal::Private("[fd00::1]".into())),
        ] {
            assert_eq!(checked(&[registry], target), Err(expected), "{target}");
        }
        let own = "http://127.0.0.1:5000/v2/";
        assert_eq!(
            checked(&[own], "http://127.0.0.1:5001/v2/"),
            Err(Refusal::NotSecure("127.0.0.1".into()))
        );
    }

    #[test]
    fn a_registry_may_not_redirect_to_names_of_this_machine_or_special_addresses() {
        let registry = "https://registry.example/v2/a/blobs/b";
        for host in [
            "localhost.",
            "registry.localhost",
            "registry.localhost.",
            "0.0.0.0",
            "0.1.2.3",
            "100.64.0.1",
            "100.127.255.254",
            "224.0.0.1",
            "255.255.255.255",
            "[ff02::1]",
            "[::ffff:6440:1]",
        ] {
            let found = checked(&[registry], &format!("https://{host}/d"));
            assert!(matches!(found, Err(Refusal::Private(_))), "{host}");
        }
        for host in ["localhost.example", "100.63.0.1", "100.128.0.1", "1.0.0.1"] {
            let found = checked(&[registry], &format!("https://{host}/d"));
            assert_eq!(found, Ok(()), "{host}");
        }
    }

    #[test]
    fn redirects_end() {
        let registry = "https://registry.example/";
        assert_eq!(checked(&[registry; 3], registry), Ok(()));
        assert_eq!(checked(&[registry; 4], registry), Err(Refusal::TooMany));
    }
}
