//! The resolver of a registry's client. It refuses names that lead where the registry may not.

use super::reach::Reach;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::sync::Arc;

/// The variables of the environment that name a proxy.
const PROXIES: [&str; 6] = [
    "ALL_PROXY",
    "all_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
];

/// A resolver that gives the addresses which a registry may send this host to.
pub struct GuardedResolver {
    reach: Arc<Reach>,
}

impl GuardedResolver {
    /// Creates the resolver, or returns none where the environment names a proxy.
    ///
    /// The proxy resolves the names of the destinations then. Its own name would come here, and it
    /// is usually on a private network.
    pub fn unless_proxied(reach: &Arc<Reach>) -> Option<GuardedResolver> {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        (!PROXIES.into_iter().any(is_set)).then(|| GuardedResolver {
            reach: Arc::clone(reach),
        })
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = Arc::clone(&self.reach);
        Box::pin(async move {
            let name = name.as_str();
            // The client puts the port of the URL in the place of 0.
            let found: Vec<_> = tokio::net::lookup_host((name, 0)).await?.collect();
            let selected = reach.select(name, &found)?;
            Ok(Box::new(selected.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::DestinationError;

    /// Resolves `localhost`, which every machine has, for the registry at `origin`.
    async fn resolve(origin: &str) -> Result<Vec<std::net::SocketAddr>, Option<String>> {
        let resolver = GuardedResolver {
            reach: Arc::new(Reach::new(origin.parse().unwrap())),
        };
        match resolver.resolve("localhost".parse().unwrap()).await {
            Ok(found) => Ok(found.collect()),
            Err(error) => Err(error.downcast_ref().map(DestinationError::to_string)),
        }
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_resolved_for_a_registry_on_it_alone() {
        let found = resolve("http://127.0.0.1:5000").await.unwrap();
        assert!(found.iter().all(|address| address.ip().is_loopback()));
        assert!(!found.is_empty());
        for public in ["https://registry.example", "https://192.0.2.1"] {
            let refused = resolve(public).await.unwrap_err().unwrap();
            assert!(refused.contains("localhost"), "{refused}");
        }
    }
}
