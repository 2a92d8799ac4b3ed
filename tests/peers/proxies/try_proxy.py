"""Tries an example of examples/ with Debian's package of the proxy: two hosts, one PostgreSQL.

    try_proxy.py nginx|haproxy PROGRAM RELEASES STATE

PROGRAM is `domesday`, and STATE the address of an empty database. The example's file is used as it
is, but for its addresses and the paths of its certificate. Prints the counts, or ends with an
AssertionError.
"""

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hosts import Host, clean, free_port, wait
from load import BATCH, VALUE, Answer, Client, Load, house

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
WORKERS = 6
BODY_LIMIT = 9_500_000
COVERAGE, SERIES = "/v3/coverage", "/v1/series"
# A home that a request names in its query.
QUERY = "?postcode=QA1+1AF"
ADDRESS_LIMIT = 'domesday_connections_closed_total{listener="service",reason="address_limit"}'
PLAN = "requests_per_second = 1000000\nburst = 1000000\nconcurrency = 1000000\n"
PLAN += "monthly_units = 1000000000\n"


def replace(text: str, old: str, new: str) -> str:
    """Replaces what the example has to hold."""
    changed = re.sub(old, new, text)
    if changed == text:
        raise AssertionError(f"the example does not hold {old}")
    return changed


class Proxy:
    """A running proxy with the example's file, before these ports of each host's services."""

    def __init__(self, name: str, ports: list[tuple[int, int]], folder: Path):
        self.port = free_port()
        self.folder = folder
        folder.mkdir()
        make_certificate(folder)
        write = {"nginx": self.write_nginx, "haproxy": self.write_haproxy}[name]
        command = write(ports)
        self.check(command)
        with open(folder / "proxy.log", "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        wait("the proxy answers", self.answers)

    def write_nginx(self, ports: list[tuple[int, int]]) -> list[str]:
        text = (EXAMPLES / "nginx/domesday.conf").read_text()
        for number, (port, _) in enumerate(ports, 1):
            text = replace(text, f"10.0.0.1{number}:8080", f"127.0.0.1:{port}")
        text = replace(text, "listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl")
        text = replace(text, "/etc/domesday/", f"{self.folder}/")
        text = replace(text, "/var/log/nginx/", f"{self.folder}/")
        (self.folder / "domesday.conf").write_text(text)
        kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        paths = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in kinds)
        main = f"daemon off;\npid {self.folder}/pid;\nworker_processes 2;\nevents {{}}\n"
        main += f"http {{\naccess_log {self.folder}/access.log;\n{paths}"
        main += f"include {self.folder}/domesday.conf;\n}}\n"
        (self.folder / "nginx.conf").write_text(main)
        return ["/usr/sbin/nginx", "-e", "stderr", "-c", str(self.folder / "nginx.conf")]

    def write_haproxy(self, ports: list[tuple[int, int]]) -> list[str]:
        text = (EXAMPLES / "haproxy/haproxy.cfg").read_text()
        for number, (port, metrics) in enumerate(ports, 1):
            old = f"10.0.0.1{number}:8080 port 9464"
            new = f"127.0.0.1:{port} port {metrics}"
            text = replace(text, old, new)
        text = replace(text, "bind :443", f"bind 127.0.0.1:{self.port}")
        text = replace(text, "/etc/domesday/", f"{self.folder}/")
        # Only root can become another user.
        if os.geteuid() != 0:
            text = replace(text, "    user haproxy\n    group haproxy\n", "")
        (self.folder / "haproxy.cfg").write_text(text)
        return ["/usr/sbin/haproxy", "-db", "-f", str(self.folder / "haproxy.cfg")]

    def check(self, command: list[str]) -> None:
        test = [command[0], "-t" if "nginx" in command[0] else "-c", *command[1:]]
        run = subprocess.run(test, capture_output=True, text=True, timeout=60)
        if run.returncode != 0 or "warn" in (run.stdout + run.stderr).lower():
            raise AssertionError(f"{test}: {run.stdout}{run.stderr}")

    def answers(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError((self.folder / "proxy.log").read_text())
        try:
            return self.client("none").ask("GET", "/readyz").status == 200
        except OSError:
            return False

    def client(self, key: str) -> Client:
        return Client(self.port, key, str(self.folder / "certificate.pem"))

    def logs(self) -> str:
        return "".join(log.read_text() for log in self.folder.glob("*.log"))

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def make_certificate(folder: Path) -> None:
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    command += " -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    subprocess.run(command.split() + files, check=True, capture_output=True, timeout=60)
    both = [(folder / name).read_text() for name in ("certificate.pem", "key.pem")]
    (folder / "proxy.pem").write_text("".join(both))


class Service:
    """The tenant's side of the state that the hosts share."""

    def __init__(self, program: str, state: str, folder: Path):
        self.program = program
        self.store = ["--state", state, "--data", "/nonexistent"]
        plan = folder / "plan.toml"
        plan.write_text(PLAN)
        arguments = ["key", "create", "--tenant", "customer", "--scope", "avm:value"]
        self.key = self.run(*arguments, "--plan", str(plan)).strip()

    def run(self, *arguments: str) -> str:
        command = [self.program, *arguments, *self.store]
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=clean()
        )
        if run.returncode != 0:
            raise AssertionError(f"{command}: {run.stderr}")
        return run.stdout

    def units(self) -> int:
        listed = self.run("tenant", "list")
        return int(re.search(r"(\d+) units this month", listed)[1])


def equal(what: str, left, right) -> None:
    if left != right:
        raise AssertionError(f"{what}: {left!r}, not {right!r}")


def at_most_once(hosts: list[Host]) -> int:
    """Asserts that no request was sent twice, to whichever host. Returns how many rows were."""
    sent = hosts[0].tap.references + hosts[1].tap.references
    again = {reference: count for reference, count in sent.items() if count > 1}
    equal("rows that were sent more than once", again, {})
    return len(sent)


def try_answers(proxy: Proxy, service: Service) -> None:
    """Single requests: a value, a batch, refusals, and bodies at the limit."""
    client = proxy.client(service.key)
    equal("a value", client.post(VALUE, house("one")).status, 200)
    rows = [house(f"row-{number}") for number in range(3)]
    equal("a batch", client.post(BATCH, {"requests": rows}).status, 200)
    equal("units", service.units(), 4)
    unknown = proxy.client("wrong").post(VALUE, house("unknown"))
    equal("a wrong key", unknown.status, 401)
    # One byte below or at the limit is read by the host, which finds no document in it.
    whole = client.ask("POST", BATCH, b" " * BODY_LIMIT)
    equal("a body at the limit", (whole.status, b"invalid_json" in whole.body), (422, True))
    long = proxy.client(service.key).ask("POST", BATCH + QUERY, b" " * (BODY_LIMIT + 1))
    equal("a body over it", (long.status, b'"body_too_large"' in long.body), (413, True))
    equal("its type", long.headers["content-type"], "application/json")
    series = proxy.client(service.key).ask("POST", SERIES + QUERY, b" " * (BODY_LIMIT + 1))
    equal_v1_error("a body over it under /v1/", series, 413, "body_too_large")
    # The host refuses it before it reads the body, and the refusal gets through.
    refused = proxy.client("wrong").ask("POST", BATCH, b" " * BODY_LIMIT)
    equal("a large body with a wrong key", refused.status, 401)
    equal("units of refused requests", service.units(), 4)


def equal_v1_error(what: str, answer: Answer, status: int, code: str) -> None:
    """Asserts that an answer has the error body of the contract v1, with the id of its head."""
    body = json.loads(answer.body)
    equal(what, (answer.status, sorted(body)), (status, ["error", "request_id"]))
    equal(what, (sorted(body["error"]), body["error"]["code"]), (["code", "message"], code))
    equal(what, body["request_id"], answer.headers["x-service-request-id"])


def try_logs(proxy: Proxy) -> None:
    """No log of the proxy has a query, which may name a home."""
    equal("coverage", proxy.client("wrong").ask("GET", COVERAGE + QUERY).status, 401)
    wait("the proxy logs paths", lambda: all(path in proxy.logs() for path in (COVERAGE, BATCH)))
    equal("a query in the logs", "QA1" in proxy.logs(), False)


def try_kill(proxy: Proxy, service: Service, hosts: list[Host]) -> str:
    """Kills a host under load: what it had in work fails, and nothing is sent twice."""
    before = service.units()
    load = Load("kill", lambda: proxy.client(service.key), WORKERS)
    wait("load", lambda: load.answered() > 100)
    dead = hosts[0].kill()
    answered = load.answered()
    wait("the other host takes the load", lambda: load.answered() > answered + 100)
    # nginx tries the dead host again after five seconds.
    wait("the dead host was tried again", lambda: time.monotonic() > dead + 7)
    outcome = load.end()
    later = [failed for failed in outcome.failed if failed[0] > dead]
    equal("requests that began after the kill and failed", later, [])
    if not 1 <= len(outcome.failed) <= WORKERS:
        raise AssertionError(f"failed: {outcome.failed}")
    used, lost = service.units() - before, sum(rows for _, rows, _ in outcome.failed)
    if not outcome.units <= used <= outcome.units + lost:
        raise AssertionError(f"{used} units, but {outcome.units} answered and {lost} lost")
    faults = sorted({fault.split(":")[0] for _, _, fault in outcome.failed})
    return (
        f"kill: requests {outcome.requests}, failed {len(outcome.failed)} ({', '.join(faults)}), "
        f"units answered {outcome.units}, used {used}, of failed requests {lost}"
    )


def try_return(proxy: Proxy, service: Service, hosts: list[Host]) -> None:
    """Starts the host again: it gets requests once it is ready, and none fails."""
    hosts[0].start_again()
    seen = len(hosts[0].tap.references)
    load = Load("return", lambda: proxy.client(service.key), WORKERS)
    wait("the host has requests again", lambda: len(hosts[0].tap.references) > seen + 100)
    equal("requests that failed as a host came back", load.end().failed, [])


def try_stop(proxy: Proxy, service: Service, hosts: list[Host]) -> str:
    """Stops a host under load: no request fails, and none is charged twice."""
    before, logged = service.units(), sum(host.logged() for host in hosts)
    load = Load("stop", lambda: proxy.client(service.key), WORKERS)
    wait("load", lambda: load.answered() > 100)
    hosts[1].stop()
    answered = load.answered()
    wait("the other host takes the load", lambda: load.answered() > answered + 50)
    outcome = load.end()
    equal("requests that failed during a stop", outcome.failed, [])
    equal("units", service.units() - before, outcome.units)
    had = sum(host.logged() for host in hosts) - logged
    equal("requests that both hosts had", had, load.answered())
    return f"stop: requests {outcome.requests}, failed 0, units {outcome.units}"


def try_no_host(proxy: Proxy, host: Host) -> None:
    """Stops the last host: HAProxy refuses requests in the form of their contract."""
    host.stop()
    client = proxy.client("none")
    value = client.ask("GET", COVERAGE)
    equal("no host", (value.status, sorted(json.loads(value.body))), (503, ["error"]))
    equal("may be repeated", json.loads(value.body)["error"]["retryable"], True)
    series = client.ask("GET", SERIES)
    equal_v1_error("no host under /v1/", series, 503, "overloaded")
    equal("its wait", series.headers["retry-after"], "1")


def try_addresses(host: Host) -> None:
    """A header names no address: another client than the proxy has one connection, as set."""
    equal("connections of the proxy that were closed", host.metric(ADDRESS_LIMIT), 0)
    connections = []
    for number in range(3):
        connection = http.client.HTTPConnection(
            "127.0.0.1", host.port, timeout=60, source_address=("127.0.0.2", 0)
        )
        connection.request("GET", "/healthz", headers={"X-Forwarded-For": f"192.0.2.{number}"})
        equal("a direct request", connection.getresponse().read()[:1], b"{")
        connections.append(connection)
        # The host gives the place of a connection away once it has seen that it is idle.
        time.sleep(1)
    equal("connections of another address that were closed", host.metric(ADDRESS_LIMIT), 2)


def main(name: str, program: str, releases: str, state: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        # nginx's workers are of another user where it was started by root.
        folder.chmod(0o711)
        service = Service(program, state, folder)
        running = []
        try:
            hosts = []
            for number in (1, 2):
                hosts.append(Host(program, releases, state, folder / f"host-{number}"))
                running.append(hosts[-1])
            taps = [(host.tap.port, host.metrics) for host in hosts]
            proxy = Proxy(name, taps, folder / "before-taps")
            running.append(proxy)
            try_answers(proxy, service)
            try_logs(proxy)
            try_addresses(hosts[0])
            print(try_kill(proxy, service, hosts))
            connections = hosts[0].tap.connections + hosts[1].tap.connections
            if connections > 100:
                raise AssertionError(f"{connections} connections: they are not kept")
            try_return(proxy, service, hosts)
            rows = at_most_once(hosts)
            print(f"sent twice: 0 of {rows} rows, over {connections} connections until it came back")
            # A tap cannot refuse a connection at the moment at which its host does.
            ports = [(host.port, host.metrics) for host in hosts]
            direct = Proxy(name, ports, folder / "before-hosts")
            running.append(direct)
            print(try_stop(direct, service, hosts))
            if name == "haproxy":
                try_no_host(direct, hosts[0])
        finally:
            for one in reversed(running):
                one.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
