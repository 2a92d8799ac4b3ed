//! The origin of the console, as browsers write it.

use reqwest::Url;
use std::net::SocketAddr;

/// The reason why a text is not an origin.
#[derive(Debug, thiserror::Error)]
#[error("{text:?} is not an origin; write https://NAME or http://NAME:PORT, without a path")]
pub struct OriginError {
    /// The text.
    text: String,
}

/// The scheme, the host and the port of the console, as browsers write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleOrigin {
    url: Url,
    text: String,
}

impl ConsoleOrigin {
    /// Parses an origin. Its host becomes lower case, and the port of its scheme is left out.
    ///
    /// # Errors
    /// [`OriginError`] if it is another URL, or none.
    pub fn parse(text: &str) -> Result<ConsoleOrigin, OriginError> {
        let error = || OriginError {
            text: text.to_owned(),
        };
        let url = Url::parse(text).map_err(|_| error())?;
        let is_bare = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !is_bare || !["http", "https"].contains(&url.scheme()) {
            return Err(error());
        }
        let text = url.origin().ascii_serialization();
        Ok(ConsoleOrigin { url, text })
    }

    /// Returns the origin of a listener's address.
    ///
    /// # Errors
    /// None that an address causes.
    pub fn of_address(address: SocketAddr, tls: bool) -> Result<ConsoleOrigin, OriginError> {
        let scheme = if tls { "https" } else { "http" };
        ConsoleOrigin::parse(&format!("{scheme}://{address}"))
    }

    /// Returns the origin as a browser writes it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Reports whether browsers reach it by TLS.
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Reports whether a request names its host. The port of its scheme may stand there.
    pub fn is_host(&self, host: &str) -> bool {
        let authority = self.text.split_once("://").map_or("", |(_, rest)| rest);
        let default = match self.is_secure() {
            true => ":443",
            false => ":80",
        };
        let bare = match self.url.port() {
            None => host.strip_suffix(default).unwrap_or(host),
            Some(_) => host,
        };
        authority.eq_ignore_ascii_case(bare)
    }

    /// Returns the name of the cookie of its sessions. Browsers give the cookies of a host to all
    /// of its ports, so the port is in the name. Over TLS the prefix keeps others from setting it.
    pub fn cookie_name(&self) -> String {
        let prefix = if self.is_secure() { "__Host-" } else { "" };
        let port = self.url.port_or_known_default().unwrap_or_default();
        format!("{prefix}domesday_console_{port}")
    }

    /// Returns a path with its query, if it stays on this origin.
    pub fn local_path(&self, path: &str) -> Option<String> {
        let url = path.starts_with('/').then(|| self.url.join(path).ok())??;
        // A browser takes a path that begins with two slashes for another host.
        let is_local = url.origin() == self.url.origin() && !url.path().starts_with("//");
        is_local.then(|| match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> ConsoleOrigin {
        ConsoleOrigin::parse(text).unwrap()
    }

    #[test]
    fn an_origin_is_as_browsers_write_it() {
        for (given, written) in [
            ("https://Values.Example:443", "https://values.example"),
            ("http://127.0.0.1:80/", "http://127.0.0.1"),
            ("http://localhost:8081", "http://localhost:8081"),
            ("https://[::1]:8443", "https://[::1]:8443"),
        ] {
            assert_eq!(origin(given).as_str(), written);
        }
        for other in [
            "",
            "values.example",
            "ftp://values.example",
            "https://values.example/console",
            "https://user@values.example",
            "https://values.example?a=1",
        ] {
            assert!(ConsoleOrigin::parse(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_host_is_that_of_the_origin() {
        let loopback = origin("http://127.0.0.1:8081");
        assert!(loopback.is_host("127.0.0.1:8081"));
        for other in ["127.0.0.1", "127.0.0.1:80", "evil.example:8081", ""] {
            assert!(!loopback.is_host(other), "{other}");
        }
        let named = origin("https://values.example");
        assert!(named.is_host("values.example") && named.is_host("Values.example:443"));
        for other in ["values.example:80", "values.example:8443", "example:443"] {
            assert!(!named.is_host(other), "{other}");
        }
    }

    #[test]
    fn a_cookie_is_of_one_port_and_over_tls_of_one_host() {
        let names = ["http://a:8081", "https://a", "https://a:8443"].map(|text| {
            let origin = origin(text);
            origin.cookie_name()
        });
        assert_eq!(names[0], "domesday_console_8081");
        assert_eq!(names[1], "__Host-domesday_console_443");
        assert_eq!(names[2], "__Host-domesday_console_8443");
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_not_local() {
        let origin = origin("http://127.0.0.1:8081");
        for path in ["/", "/values/1?before=2", "/markets?a=b%26c"] {
            assert_eq!(origin.local_path(path).as_deref(), Some(path));
        }
        for other in [
            "",
            "values",
            "//evil.example",
            "/\\evil.example",
            "/.//evil.example",
            "/\t/evil.example",
            "http://evil.example/",
        ] {
            assert_eq!(origin.local_path(other), None, "{other}");
        }
    }
}
