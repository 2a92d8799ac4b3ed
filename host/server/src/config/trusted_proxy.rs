//! The setting of a network whose connections a proxy makes for many clients.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A network of proxies, such as `10.0.0.0/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrustedProxy(pub IpNet);

impl FromStr for TrustedProxy {
    type Err = String;

    fn from_str(text: &str) -> Result<TrustedProxy, String> {
        let address = || text.parse::<IpAddr>().map(IpNet::from);
        let network = text.parse::<IpNet>().or_else(|_| address());
        network
            .map(TrustedProxy)
            .map_err(|_| format!("{text} is neither an address nor a network such as 10.0.0.0/8"))
    }
}

impl TryFrom<String> for TrustedProxy {
    type Error = String;

    fn try_from(text: String) -> Result<TrustedProxy, String> {
        text.parse()
    }
}

impl From<TrustedProxy> for String {
    fn from(proxy: TrustedProxy) -> String {
        proxy.to_string()
    }
}

impl fmt::Display for TrustedProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_an_address_or_a_network() {
        for (text, shown) in [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("192.0.2.7", "192.0.2.7/32"),
            ("2001:db8::/32", "2001:db8::/32"),
            ("::1", "::1/128"),
        ] {
            assert_eq!(text.parse::<TrustedProxy>().unwrap().to_string(), shown);
        }
        for text in ["", "proxy.internal", "10.0.0.0/33", "10.0.0"] {
            let error = text.parse::<TrustedProxy>().unwrap_err();
            assert!(
                error.starts_with(text) && error.contains("neither"),
                "{error}"
            );
        }
    }
}
