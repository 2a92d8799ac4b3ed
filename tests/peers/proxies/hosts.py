"""Hosts of Domesday on one PostgreSQL, each behind a tap that counts what a proxy sends to it."""

import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path

REFERENCE = re.compile(rb'"request_reference": "([a-z0-9-]+)"')
# The longest that a match may be, so that a piece of a body is seen with what came before.
OVERLAP = 100
START = 60


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait(what: str, is_so, seconds: float = START) -> None:
    """Waits until `is_so()`, with a bound."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def clean() -> dict[str, str]:
    """Returns the environment without the settings of the person who runs this."""
    return {name: value for name, value in os.environ.items() if not name.startswith("DOMESDAY_")}


class Tap:
    """Passes bytes on to a host, and counts connections and the references of requests."""

    def __init__(self, port: int):
        self.port = free_port()
        self.host = port
        self.connections = 0
        self.references: Counter[str] = Counter()
        self.waiting: set[socket.socket] = set()
        self.lock = threading.Lock()
        self.listen()

    def listen(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener: socket.socket) -> None:
        while True:
            try:
                proxy, _ = listener.accept()
            except OSError:
                return
            try:
                host = socket.create_connection(("127.0.0.1", self.host), timeout=5)
            except OSError:
                reset(proxy)
                continue
            host.settimeout(None)
            for end in (proxy, host):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.connections += 1
            threading.Thread(target=self.forward, args=(proxy, host), daemon=True).start()
            threading.Thread(target=self.back, args=(host, proxy), daemon=True).start()

    def forward(self, proxy: socket.socket, host: socket.socket) -> None:
        seen = b""
        while piece := receive(proxy):
            text = seen + piece
            matches = list(REFERENCE.finditer(text))
            with self.lock:
                self.references.update(found[1].decode() for found in matches)
                self.waiting.add(host)
            # What matched is not looked at again.
            seen = text[max(matches[-1].end() if matches else 0, len(text) - OVERLAP) :]
            # A host that has answered early may read no more. The proxy may send the rest.
            send(host, piece)
        self.end(proxy, host)

    def back(self, host: socket.socket, proxy: socket.socket) -> None:
        while piece := receive(host):
            with self.lock:
                self.waiting.discard(host)
            if not send(proxy, piece):
                break
        with self.lock:
            self.waiting.discard(host)
        try:
            proxy.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def end(self, *ends: socket.socket) -> None:
        for one in ends:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        """Refuses connections from now on, as the port of a dead host does."""
        # Without the shutdown, the thread that accepts keeps the port open.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def receive(end: socket.socket) -> bytes:
    try:
        return end.recv(65536)
    except OSError:
        return b""


def send(end: socket.socket, piece: bytes) -> bool:
    try:
        end.sendall(piece)
    except OSError:
        return False
    return True


def reset(end: socket.socket) -> None:
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    end.close()


class Host:
    """A host. Its proxy is the one address that may have more than one connection."""

    def __init__(self, program: str, releases: str, state: str, folder: Path):
        self.port, self.metrics = free_port(), free_port()
        self.tap = Tap(self.port)
        self.folder = folder
        self.command = [program, "serve", "--releases", releases, "--data", str(folder / "data")]
        self.command += ["--listen", f"127.0.0.1:{self.port}"]
        self.command += ["--metrics-listen", f"127.0.0.1:{self.metrics}"]
        self.command += ["--connections-per-address", "1", "--trusted-proxies", "127.0.0.1"]
        # It needs no folder of temporary files, so its root may be read-only.
        self.environment = clean() | {"DOMESDAY_STATE": state, "TMPDIR": "/nonexistent"}
        folder.mkdir()
        self.start()

    def start(self) -> None:
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdout=log, stderr=log
            )
        wait("a host is ready", self.is_ready)

    def is_ready(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError((self.folder / "log").read_text())
        try:
            url = f"http://127.0.0.1:{self.metrics}/readyz"
            return urllib.request.urlopen(url, timeout=5).status == 200
        except OSError:
            return False

    def metric(self, name: str) -> float:
        """Returns the value of a metric, or 0 where the page has none."""
        url = f"http://127.0.0.1:{self.metrics}/metrics"
        page = urllib.request.urlopen(url, timeout=5).read().decode()
        lines = [line for line in page.splitlines() if line.startswith(f"{name} ")]
        return float(lines[0].split()[-1]) if lines else 0

    def kill(self) -> float:
        """Kills it while it has requests. Returns when it could take none any more."""
        wait("the host has requests", lambda: len(self.tap.waiting) >= 2)
        self.process.send_signal(signal.SIGSTOP)
        wait("requests wait at the host that stands still", lambda: self.tap.waiting, 5)
        self.tap.close()
        self.process.kill()
        self.process.wait()
        return time.monotonic()

    def start_again(self) -> None:
        self.start()
        self.tap.listen()

    def stop(self) -> None:
        """Asks it to stop, and waits until it has."""
        self.process.terminate()
        self.process.wait(60)
        if self.process.returncode != 0:
            raise AssertionError(f"a stop ended with {self.process.returncode}")

    def logged(self) -> int:
        """Returns how many values and batches its log has."""
        # A line waits for at most five milliseconds.
        time.sleep(0.1)
        return (self.folder / "log").read_text().count('"method":"POST"')

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
