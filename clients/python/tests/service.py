"""A small server that gives scripted answers over real connections: it cuts, delays and repeats."""

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import unquote

REASONS = {200: "OK", 202: "Accepted", 304: "Not Modified", 503: "Service Unavailable"}


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that the service received."""

    method: str
    #: The path with the query, without percent-encoding.
    path: str
    #: Names in lower case.
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        """The JSON of the request."""
        return json.loads(self.content) if self.content else None


@dataclass(frozen=True)
class Answer:
    """The bytes of a response, each part after a wait in seconds. The connection then ends."""

    parts: tuple[bytes, ...] = ()
    wait: float = 0.0


LOST = Answer()


def response(status: int, content: bytes | str, headers: Mapping[str, str] | None = None) -> Answer:
    """Returns a complete response."""
    body = content.encode() if isinstance(content, str) else content
    return Answer((head(status, len(body), headers) + body,))


def head(status: int, length: int | None, headers: Mapping[str, str] | None = None) -> bytes:
    """Returns the head of a response."""
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Other')}", "Connection: close"]
    lines += [] if length is None else [f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode()


def answer_json(status: int, body: object, headers: Mapping[str, str] | None = None) -> Answer:
    """Returns a complete response with a JSON body."""
    return response(status, json.dumps(body), headers)


def refusal(
    status: int, code: str, retryable: bool, headers: Mapping[str, str] | None = None
) -> Answer:
    """Returns a refusal of v3."""
    error = {"code": code, "message": "no", "retryable": retryable}
    return answer_json(status, {"error": error}, headers)


Script = Answer | Callable[[ReceivedRequest], Answer]


@dataclass
class Service:
    """A server on a port of this machine. It gives its answers in turn."""

    answers: list[Script]
    requests: list[ReceivedRequest] = field(default_factory=list)
    #: True once a client closed a connection before its answer was complete.
    left_early: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._threads: list[threading.Thread] = []
        self._address = ("127.0.0.1", 0)
        self._listening = False
        self.listen(True)
        self.url = f"http://127.0.0.1:{self._address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self.listen(False)
        for thread in self._threads:
            thread.join(timeout=10)

    def listen(self, accepts: bool) -> None:
        """Accepts connections at its address from now on, or refuses them."""
        if accepts == self._listening:
            return
        self._listening = accepts
        if accepts:
            self._stopped = threading.Event()
            self._listener = socket.create_server(self._address)
            self._address = self._listener.getsockname()
            self._accepting = threading.Thread(target=self._accept, daemon=True)
            self._accepting.start()
            return
        self._stopped.set()
        # A connection wakes the listener, which closing alone does not.
        with socket.create_connection(self._address):
            self._accepting.join(timeout=10)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._stopped.is_set():
                connection.close()
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(10)
            try:
                request = self._read(connection)
                if request is None:
                    return
                self.requests.append(request)
                position = len(self.requests) - 1
                missing = response(599, f"no answer for request {position + 1}")
                script = self.answers[position] if position < len(self.answers) else missing
                answer = script if isinstance(script, Answer) else script(request)
                for part in answer.parts:
                    if self._wait(connection, answer.wait):
                        self.left_early.set()
                        return
                    connection.sendall(part)
            except OSError:
                self.left_early.set()

    def _wait(self, connection: socket.socket, seconds: float) -> bool:
        """Waits, and returns true if the client left."""
        ends_at = time.monotonic() + seconds
        connection.setblocking(False)
        try:
            while time.monotonic() < ends_at and not self._stopped.is_set():
                try:
                    if connection.recv(1) == b"":
                        return True
                except BlockingIOError:
                    time.sleep(min(0.005, seconds))
        finally:
            connection.settimeout(10)
        return False

    @staticmethod
    def _read(connection: socket.socket) -> ReceivedRequest | None:
        data = b""
        while b"\r\n\r\n" not in data:
            chunk = connection.recv(65_536)
            if not chunk:
                return None
            data += chunk
        start, _, content = data.partition(b"\r\n\r\n")
        line, *rest = start.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (text.split(": ", 1) for text in rest)}
        parts = [content]
        missing = int(headers.get("content-length", "0")) - len(content)
        while missing > 0:
            parts.append(connection.recv(min(missing, 1 << 20)))
            missing -= len(parts[-1])
        method, path, _ = line.split(" ")
        return ReceivedRequest(method, unquote(path), headers, b"".join(parts))
