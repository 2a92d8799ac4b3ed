"""The settings of a client, checked once."""

import os
import re
import ssl
from dataclasses import dataclass, field
from typing import Any

import httpx2

from .cache import DiskCache
from .clock import Clock, SystemClock
from .retry_policy import RetryLimits
from .transport import Session

# A value may take ten seconds to send and 25 to process; the rest is for the network.
ATTEMPT_TIMEOUT_SECONDS = 60.0
_KEY = re.compile(r"[\x21-\x7e]+")
# Trusted certificates by the variables that name other ones. Loading them takes some 30 ms of
# processor time, so clients of one process share them.
_TRUSTED: dict[tuple[str | None, str | None], ssl.SSLContext] = {}


@dataclass(frozen=True)
class Settings:
    """The checked settings of a client. The key is not among them."""

    base_url: str
    attempt_timeout: float
    session: Session
    #: Arguments of the HTTP client, which hold the key as a header.
    http: dict[str, Any] = field(repr=False)


def check_settings(
    base_url: str,
    api_key: str,
    retries: RetryLimits | None,
    attempt_timeout: float,
    cache_folder: str | os.PathLike[str] | None,
    clock: Clock | None,
) -> Settings:
    """Checks the settings of a client and returns them.

    Raises ValueError for an address that is not http or https, or that holds a password, and for a
    key that no header can hold. The message does not name the key.
    """
    url = httpx2.URL(base_url)
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("base_url is not an http or https address")
    if url.userinfo:
        raise ValueError("base_url holds a user or a password. Pass the key as api_key.")
    if not _KEY.fullmatch(api_key):
        raise ValueError("api_key is empty or has characters that no header can hold")
    if not attempt_timeout > 0:
        raise ValueError(f"attempt_timeout is {attempt_timeout}, not more than 0 seconds")
    address = base_url.rstrip("/")
    cache = None if cache_folder is None else DiskCache(cache_folder, address, api_key)
    return Settings(
        base_url=address,
        attempt_timeout=attempt_timeout,
        session=Session(clock or SystemClock(), retries or RetryLimits(), cache),
        http={
            "base_url": address,
            "headers": {"authorization": f"Bearer {api_key}", "accept": "application/json"},
            "timeout": httpx2.Timeout(attempt_timeout),
            "verify": _trusted_certificates(),
            # A redirected valuation could be charged twice, so redirects are errors.
            "follow_redirects": False,
        },
    )


def _trusted_certificates() -> ssl.SSLContext:
    """Returns the certificates that TLS trusts. They are read once for each pair of variables."""
    named = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    context = _TRUSTED.get(named)
    if context is None:
        context = _TRUSTED[named] = httpx2.create_ssl_context()
    return context
