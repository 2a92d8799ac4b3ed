"""Clients share the certificates that TLS trusts."""

import httpx2
import pytest

from domesday_client import Client, settings


def test_certificates_are_read_once_for_each_pair_of_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []
    create = httpx2.create_ssl_context

    def count() -> object:
        made.append(create())
        return made[-1]

    monkeypatch.setattr(settings, "_TRUSTED", {})
    monkeypatch.setattr(httpx2, "create_ssl_context", count)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", "/etc/ssl/certs")

    def open_and_close() -> None:
        Client("https://domesday.example", "key").close()

    open_and_close()
    open_and_close()
    assert len(made) == 1
    monkeypatch.setenv("SSL_CERT_DIR", "/nowhere")
    open_and_close()
    assert len(made) == 2
