//! The destinations that a registry may send this host to.
//!
//! A registry names a token service, upload locations and redirects. Without a bound it could make
//! this host send requests, with a password or a package, to machines that only this host reaches.

use super::network::Network;
use reqwest::Url;
use reqwest::redirect::Policy;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

/// Redirects of one request that are followed. Registries need one, to their object storage.
const MAX_REDIRECTS: usize = 3;

/// The reason why a destination is refused. It names no path or query, which may hold a secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// More redirects than are followed.
    #[error("redirected more than {MAX_REDIRECTS} times")]
    TooMany,
    /// A destination without TLS beside the registry itself.
    #[error("directed to {0}, which is not https; a registry may direct to itself or to https")]
    NotSecure(String),
    /// A destination within a machine or a private network.
    #[error("directed to {0}, which is an address within a machine or a private network")]
    Private(String),
    /// A name that leads into a machine or a private network.
    #[error(
        "directed to {name}, which resolves to {address} within a machine or a private network"
    )]
    Resolved {
        /// The name.
        name: String,
        /// The first of its addresses.
        address: IpAddr,
    },
}

/// The destinations that one registry may send this host to.
pub struct Reach {
    /// The registry's own scheme, host and port.
    origin: Url,
    /// The registry's network, by its literal address or by the first answer for its name.
    network: OnceLock<Network>,
}

impl Reach {
    /// Creates the reach of the registry at `origin`.
    pub fn new(origin: Url) -> Reach {
        let network = match literal(&origin) {
            Some(network) => OnceLock::from(network),
            None => OnceLock::new(),
        };
        Reach { origin, network }
    }

    /// Returns whether a URL is one of the registry itself.
    pub fn is_registry(&self, url: &Url) -> bool {
        url.origin() == self.origin.origin()
    }

    /// Checks the URL of a redirect or of an upload: the registry itself, or https to a public
    /// host.
    ///
    /// Where the host is a name, [`Reach::select`] judges its addresses.
    ///
    /// # Errors
    /// [`DestinationError::NotSecure`] or [`DestinationError::Private`].
    pub fn check(&self, target: &Url) -> Result<(), DestinationError> {
        if self.is_registry(target) {
            return Ok(());
        }
        if target.scheme() != "https" {
            return Err(DestinationError::NotSecure(host(target).to_owned()));
        }
        match literal(target) {
            None | Some(Network::Public) => Ok(()),
            Some(_) => Err(DestinationError::Private(host(target).to_owned())),
        }
    }

    /// Checks the URL of a token service, which may be on the registry's own machine or network.
    ///
    /// `plain` allows a password without TLS to another machine.
    ///
    /// # Errors
    /// [`DestinationError::NotSecure`] or [`DestinationError::Private`].
    pub fn check_login(&self, target: &Url, plain: bool) -> Result<(), DestinationError> {
        let network = literal(target);
        let is_here = network == Some(Network::Loopback) && self.is_on(Network::Loopback);
        match target.scheme() {
            "https" => {}
            "http" if plain || is_here => {}
            _ => return Err(DestinationError::NotSecure(host(target).to_owned())),
        }
        let is_allowed = match network {
            None => true,
            Some(Network::Loopback) => is_here,
            Some(network) => self.allows(network),
        };
        match is_allowed || self.is_registry(target) {
            true => Ok(()),
            false => Err(DestinationError::Private(host(target).to_owned())),
        }
    }

    /// Returns the addresses of a name that this host may connect to.
    ///
    /// All addresses of the registry's own name are its operator's choice. The first answer for it
    /// also decides its network: public if one of the addresses is.
    ///
    /// # Errors
    /// [`DestinationError::Resolved`] or [`DestinationError::Private`] where none of them may be
    /// used.
    pub fn select(
        &self,
        name: &str,
        addresses: &[SocketAddr],
    ) -> Result<Vec<SocketAddr>, DestinationError> {
        if name.eq_ignore_ascii_case(host(&self.origin)) {
            if !addresses.is_empty() {
                self.network.get_or_init(|| network(addresses));
            }
            return Ok(addresses.to_vec());
        }
        if is_this_machine(name) {
            return match self.is_on(Network::Loopback) {
                true => Ok(addresses.to_vec()),
                false => Err(DestinationError::Private(name.to_owned())),
            };
        }
        let allowed = |address: &&SocketAddr| self.allows(Network::of(address.ip()));
        let selected: Vec<_> = addresses.iter().filter(allowed).copied().collect();
        match addresses.first() {
            Some(refused) if selected.is_empty() => Err(DestinationError::Resolved {
                name: name.to_owned(),
                address: refused.ip(),
            }),
            _ => Ok(selected),
        }
    }

    /// Returns whether the registry may send this host to another one on `network`.
    fn allows(&self, network: Network) -> bool {
        match network {
            Network::Public => true,
            // A port of this machine may lead to a private registry.
            Network::Private => self.is_on(Network::Private) || self.is_on(Network::Loopback),
            Network::Loopback | Network::Special => false,
        }
    }

    /// Returns whether the registry is known to be on `network`.
    fn is_on(&self, network: Network) -> bool {
        self.network.get() == Some(&network)
    }
}

/// Returns the redirect policy of a registry's client.
pub fn policy(reach: Arc<Reach>) -> Policy {
    Policy::custom(move |attempt| {
        let previous = attempt.previous();
        match check_redirect(&reach, previous, attempt.url()) {
            Ok(()) => attempt.follow(),
            Err(refusal) => attempt.error(refusal),
        }
    })
}

/// Checks a redirect to `target`, after requests to `previous`. A token service or a storage may
/// redirect to itself.
fn check_redirect(reach: &Reach, previous: &[Url], target: &Url) -> Result<(), DestinationError> {
    if previous.len() > MAX_REDIRECTS {
        return Err(DestinationError::TooMany);
    }
    match previous.first() {
        Some(first) if first.origin() == target.origin() => Ok(()),
        _ => reach.check(target),
    }
}

/// Returns the network of a host with these addresses. A public one decides, then a private one.
fn network(addresses: &[SocketAddr]) -> Network {
    let has = |network| {
        addresses
            .iter()
            .any(|address| Network::of(address.ip()) == network)
    };
    [Network::Public, Network::Private, Network::Special]
        .into_iter()
        .find(|network| has(*network))
        .unwrap_or(Network::Loopback)
}

/// Returns the network of a URL's host where it is an address or a name of this machine.
fn literal(url: &Url) -> Option<Network> {
    let host = host(url);
    if is_this_machine(host) {
        return Some(Network::Loopback);
    }
    let address = host.trim_matches(['[', ']']).parse().ok()?;
    Some(Network::of(address))
}

fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

/// Returns whether a name is one of this machine (RFC 6761): `localhost` or a name below it.
fn is_this_machine(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
