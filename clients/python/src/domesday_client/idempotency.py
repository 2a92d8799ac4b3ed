"""The idempotency key of a job: clients/README.md has the rule, which all clients share."""

import hashlib
import re

import rfc8785

from .json_body import to_json_value
from .untyped import members_of

_LABEL = re.compile(r"[A-Za-z0-9._:-]{1,35}")


def idempotency_key(body: object, label: str) -> str:
    """Returns `LABEL:DIGEST`.

    The digest is the SHA-256 of the body's canonical JSON (RFC 8785) in lower-case hexadecimal. The
    body's own `idempotency_key` does not count.

    Raises ValueError for a label that is not 1 to 35 characters of A-Z a-z 0-9 . _ : - and for a
    body that is not a JSON object.
    """
    if not _LABEL.fullmatch(label):
        raise ValueError(f"label {label!r} is not 1 to 35 of A-Z a-z 0-9 . _ : -")
    content = to_json_value(body)
    members = members_of(content)
    if not isinstance(content, dict):
        raise ValueError("the body of a job is not a JSON object")
    rest = {name: value for name, value in members.items() if name != "idempotency_key"}
    return f"{label}:{hashlib.sha256(rfc8785.dumps(rest)).hexdigest()}"
