"""Bodies of earlier responses with their entity tags, in a folder that the caller gives.

The name of an entry is a keyed hash of the address, with the API key as the hash's key. Two keys
never share an entry, and no file holds a key. A file that is damaged counts as absent.
"""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from .operation import Request


@dataclass(frozen=True)
class CachedResponse:
    """A stored body with its entity tag."""

    etag: str
    body: bytes


class DiskCache:
    """A folder of bodies. Its files may be removed at any time."""

    def __init__(self, folder: str | os.PathLike[str], base_url: str, api_key: str) -> None:
        self._folder = Path(folder)
        self._base_url = base_url
        # The key itself is not kept: this hash names the entries of the tenant.
        self._secret = hmac.digest(api_key.encode(), b"domesday-client cache 1", "sha256")

    def load(self, request: Request) -> CachedResponse | None:
        """Returns the stored body of a request, or None if there is no sound one."""
        try:
            entry = json.loads(self._file(request).read_bytes())
            body = base64.b64decode(entry["body"], validate=True)
            etag = entry["etag"]
            sound = entry["digest"] == self._digest(request, etag, body)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return CachedResponse(etag, body) if sound else None

    def store(self, request: Request, etag: str, body: bytes) -> None:
        """Stores a body with its entity tag.

        The file is complete at once or not there. A disk that refuses it costs the next request
        the stored body and nothing else, so the error is left out.
        """
        entry = {
            "etag": etag,
            "digest": self._digest(request, etag, body),
            "body": base64.b64encode(body).decode(),
        }
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, prefix="new-")
            try:
                with open(handle, "w", encoding="utf-8") as file:
                    json.dump(entry, file)
                os.replace(name, self._file(request))
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(name)
                raise

    def _file(self, request: Request) -> Path:
        return self._folder / f"{self._digest(request, '', b'')}.json"

    def _digest(self, request: Request, etag: str, body: bytes) -> str:
        """Returns a keyed hash of a request, and of its body and tag."""
        parts = [self._base_url, request.path, urlencode(request.query), etag]
        content = json.dumps(parts).encode() + hashlib.sha256(body).digest()
        return hmac.new(self._secret, content, "sha256").hexdigest()
