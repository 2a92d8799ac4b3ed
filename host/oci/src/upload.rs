//! Uploads of blobs and manifests.

use super::RegistryError;
use super::client::RepositoryClient;
use super::error::of_request;
use domesday_package::printable;
use oci_client::manifest::OCI_IMAGE_MEDIA_TYPE;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use reqwest::{Body, Response, StatusCode, Url};

impl RepositoryClient {
    /// Uploads a blob of `bytes` bytes in one request, which every registry accepts.
    ///
    /// # Errors
    /// The registry refuses the blob, or directs the upload where it may not go.
    pub async fn put_blob(
        &self,
        name: &str,
        (bytes, body): (u64, Body),
        doing: &str,
    ) -> Result<(), RegistryError> {
        let begin = self.url("blobs", "uploads/")?;
        // Some registries require the header.
        let post = || self.http.post(begin.clone()).header(CONTENT_LENGTH, 0);
        let response = self.request(post, doing).await?;
        let response = self
            .require_status(response, StatusCode::ACCEPTED, doing)
            .await?;
        let mut location = self.location(&response, doing)?;
        location.query_pairs_mut().append_pair("digest", name);
        let is_registry = self.reach.is_registry(&location);
        let put = self
            .http
            .put(location)
            .header(CONTENT_LENGTH, bytes)
            .header(CONTENT_TYPE, "application/octet-stream")
            .body(body);
        // A storage elsewhere gets no token: the location has its own.
        let put = match is_registry {
            true => self.authorize(put),
            false => put,
        };
        let response = put
            .send()
            .await
            .map_err(|error| of_request(error, self.address.host(), doing))?;
        self.require_status(response, StatusCode::CREATED, doing)
            .await
            .map(drop)
    }

    /// Puts an artifact's manifest under a tag.
    ///
    /// # Errors
    /// [`RegistryError::Failed`] for any other status than 201. Otherwise the refusal of the
    /// registry or the error of the connection.
    pub async fn put_manifest(
        &self,
        tag: &str,
        manifest: &[u8],
        doing: &str,
    ) -> Result<(), RegistryError> {
        let url = self.url("manifests", tag)?;
        let put = || {
            self.http
                .put(url.clone())
                .header(CONTENT_TYPE, OCI_IMAGE_MEDIA_TYPE)
                .body(manifest.to_owned())
        };
        let response = self.request(put, doing).await?;
        self.require_status(response, StatusCode::CREATED, doing)
            .await
            .map(drop)
    }

    /// Returns the URL that the registry names for an upload.
    fn location(&self, response: &Response, doing: &str) -> Result<Url, RegistryError> {
        let failed = |message: String| RegistryError::Failed {
            doing: doing.to_owned(),
            host: self.host(),
            message,
            passing: false,
        };
        let stated = response.headers().get(LOCATION);
        let stated = stated.and_then(|value| value.to_str().ok());
        let stated = stated.ok_or_else(|| failed("no location for the upload".to_owned()))?;
        let location = response
            .url()
            .join(stated)
            .map_err(|error| failed(format!("invalid location for the upload: {error}")))?;
        match self.reach.check(&location) {
            Ok(()) => Ok(location),
            Err(refusal) => Err(failed(printable(&refusal.to_string()))),
        }
    }

    /// Returns the response if it has this status. A page that is no registry's has another.
    async fn require_status(
        &self,
        response: Response,
        expected: StatusCode,
        doing: &str,
    ) -> Result<Response, RegistryError> {
        let response = self.require_success(response, doing).await?;
        match response.status() {
            status if status == expected => Ok(response),
            status => Err(RegistryError::Failed {
                doing: doing.to_owned(),
                host: self.host(),
                message: format!(
                    "status {} instead of {}",
                    status.as_u16(),
                    expected.as_u16()
                ),
                passing: false,
            }),
        }
    }
}
