//! A client as a customer writes one.

use super::raw::Answer;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Request;

/// Speaks to one server with one key.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    /// The server.
    pub address: SocketAddr,
    /// The key that it presents.
    pub key: String,
}

impl Client {
    /// A client with this key.
    pub fn new(address: SocketAddr, key: &str) -> Client {
        let agent = Agent::config_builder()
            // The machine's proxy would be asked for a server that only this machine has.
            .proxy(None)
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .build()
            .into();
        Client {
            agent,
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
    pub fn try_get(&self, path: &str) -> Result<Answer, ureq::Error> {
        let request = self.request("GET", path).body(())?;
        answer(self.agent.run(request)?)
    }

    /// GET, unless the client's copy has this entity tag.
    pub fn get_if_none_match(&self, path: &str, tag: &str) -> Answer {
        let request = self.request("GET", path).header("If-None-Match", tag);
        answer(self.agent.run(request.body(()).unwrap()).unwrap()).unwrap()
    }

    /// HEAD.
    pub fn head(&self, path: &str) -> Answer {
        let request = self.request("HEAD", path).body(()).unwrap();
        answer(self.agent.run(request).unwrap()).unwrap()
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
    pub fn try_post(&self, path: &str, body: &str) -> Result<Answer, ureq::Error> {
        let request = self
            .request("POST", path)
            .header("Content-Type", "application/json")
            .body(body.to_owned())?;
        answer(self.agent.run(request)?)
    }

    fn request(&self, method: &str, path: &str) -> ureq::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("Authorization", format!("Bearer {}", self.key))
    }
}

fn answer(response: ureq::http::Response<ureq::Body>) -> Result<Answer, ureq::Error> {
    let (head, mut body) = response.into_parts();
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    Ok(Answer {
        status: head.status.as_u16(),
        headers,
        text: body.read_to_string()?,
    })
}
