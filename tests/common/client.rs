//! A client as a customer writes one.

use super::raw::HttpResponse;
use reqwest::blocking::{RequestBuilder, Response};
use reqwest::redirect::Policy;
use reqwest::{Error, Method};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio_rustls::rustls::crypto::ring::default_provider;

/// Speaks to one server with one key.
#[derive(Clone)]
pub struct Client {
    agent: reqwest::blocking::Client,
    /// The server.
    pub address: SocketAddr,
    /// The key that it presents.
    pub key: String,
    /// Other headers of each request.
    headers: Vec<(&'static str, String)>,
}

impl Client {
    /// Returns a client with this key.
    pub fn new(address: SocketAddr, key: &str) -> Client {
        Client {
            agent: agent(),
            address,
            key: key.to_owned(),
            headers: Vec::new(),
        }
    }

    /// Returns the same client, which sends this header too.
    pub fn with_header(&self, name: &'static str, value: &str) -> Client {
        let mut client = self.clone();
        client.headers.push((name, value.to_owned()));
        client
    }

    /// Returns the same client with another key.
    pub fn with_key(&self, key: &str) -> Client {
        Client {
            key: key.to_owned(),
            ..self.clone()
        }
    }

    /// Returns the same client, which leaves where a request takes longer than this.
    pub fn with_timeout(&self, timeout: Duration) -> Client {
        Client {
            agent: agent_with_timeout(timeout),
            ..self.clone()
        }
    }

    /// Sends a GET request.
    pub fn get(&self, path: &str) -> HttpResponse {
        self.try_get(path).unwrap()
    }

    /// Sends a GET request to a server that may die meanwhile.
    ///
    /// # Errors
    /// The connection fails, or ends before the response does.
    pub fn try_get(&self, path: &str) -> Result<HttpResponse, Error> {
        answer(self.request(Method::GET, path).send()?)
    }

    /// Sends a GET request with the entity tag of the client's copy.
    pub fn get_if_none_match(&self, path: &str, tag: &str) -> HttpResponse {
        let request = self.request(Method::GET, path);
        answer(request.header("If-None-Match", tag).send().unwrap()).unwrap()
    }

    /// Sends a HEAD request.
    pub fn head(&self, path: &str) -> HttpResponse {
        answer(self.request(Method::HEAD, path).send().unwrap()).unwrap()
    }

    /// Sends a POST request with a JSON document.
    pub fn post(&self, path: &str, body: &Value) -> HttpResponse {
        self.post_text(path, &body.to_string())
    }

    /// Sends a POST request with a text that is declared as JSON and may not be.
    pub fn post_text(&self, path: &str, body: &str) -> HttpResponse {
        self.try_post(path, body).unwrap()
    }

    /// Sends a POST request to a server that may die meanwhile.
    ///
    /// # Errors
    /// The connection fails, or ends before the response does.
    pub fn try_post(&self, path: &str, body: &str) -> Result<HttpResponse, Error> {
        let request = self
            .request(Method::POST, path)
            .header("Content-Type", "application/json")
            .body(body.to_owned());
        answer(request.send()?)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self
            .agent
            .request(method, format!("http://{}{path}", self.address))
            .header("Authorization", format!("Bearer {}", self.key));
        (self.headers.iter()).fold(request, |request, (name, value)| {
            request.header(*name, value)
        })
    }
}

/// Returns an HTTP client without a key.
pub fn agent() -> reqwest::blocking::Client {
    agent_with_timeout(Duration::from_secs(30))
}

fn agent_with_timeout(timeout: Duration) -> reqwest::blocking::Client {
    // reqwest brings no cryptography, and builds no client without some.
    let _chosen = default_provider().install_default();
    reqwest::blocking::Client::builder()
        // The machine's proxy would be asked for a server that only this machine has.
        .no_proxy()
        .redirect(Policy::none())
        .tls_certs_only([])
        .timeout(timeout)
        .build()
        .unwrap()
}

fn answer(response: Response) -> Result<HttpResponse, Error> {
    let headers = response.headers().iter();
    Ok(HttpResponse {
        status: response.status().as_u16(),
        headers: headers
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect(),
        text: response.text()?,
    })
}
