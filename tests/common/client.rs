//! A client as a customer writes one.

use super::raw::Answer;
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
}

impl Client {
    /// A client with this key.
    pub fn new(address: SocketAddr, key: &str) -> Client {
        Client {
            agent: agent(),
            address,
            key: key.to_owned(),
        }
    }

    /// The same client with another key.
    pub fn with_key(&self, key: &str) -> Client {
        Client {
            key: key.to_owned(),
            ..self.clone()
        }
    }

    /// GET.
    pub fn get(&self, path: &str) -> Answer {
        self.try_get(path).unwrap()
    }

    /// GET from a server that may die meanwhile.
    pub fn try_get(&self, path: &str) -> Result<Answer, Error> {
        answer(self.request(Method::GET, path).send()?)
    }

    /// GET, unless the client's copy has this entity tag.
    pub fn get_if_none_match(&self, path: &str, tag: &str) -> Answer {
        let request = self.request(Method::GET, path);
        answer(request.header("If-None-Match", tag).send().unwrap()).unwrap()
    }

    /// HEAD.
    pub fn head(&self, path: &str) -> Answer {
        answer(self.request(Method::HEAD, path).send().unwrap()).unwrap()
    }

    /// POST of a JSON document.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, &body.to_string())
    }

    /// POST of what is called JSON, whatever it is.
    pub fn post_text(&self, path: &str, body: &str) -> Answer {
        self.try_post(path, body).unwrap()
    }

    /// POST to a server that may die meanwhile.
    pub fn try_post(&self, path: &str, body: &str) -> Result<Answer, Error> {
        let request = self
            .request(Method::POST, path)
            .header("Content-Type", "application/json")
            .body(body.to_owned());
        answer(request.send()?)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.agent
            .request(method, format!("http://{}{path}", self.address))
            .header("Authorization", format!("Bearer {}", self.key))
    }
}

/// A client without a key.
pub fn agent() -> reqwest::blocking::Client {
    // reqwest has no cryptography of its own, and no client without some.
    let _chosen = default_provider().install_default();
    reqwest::blocking::Client::builder()
        // The machine's proxy would be asked for a server that only this machine has.
        .no_proxy()
        .redirect(Policy::none())
        .tls_certs_only([])
        .timeout(Duration::from_secs(30))
        .build()
        .unwrap()
}

fn answer(response: Response) -> Result<Answer, Error> {
    let headers = response.headers().iter();
    Ok(Answer {
        status: response.status().as_u16(),
        headers: headers
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect(),
        text: response.text()?,
    })
}
