"""The servers of models that `scripts/compare-with-peers` compares Domesday with."""

import dataclasses
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

from measuring import ROOT, TARGET, send

FOLDER = ROOT / "tests/peers/serving"
CORES = os.cpu_count() or 1
INSTALL_SECONDS = 1_200
START_SECONDS = 180


class StartError(Exception):
    """A peer does not start with a setting."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """One way to run a server, of which the faster counts."""

    label: str
    route: str
    environment: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Peer:
    """A server, its package, and how it is started, asked and understood."""

    name: str
    package: str
    settings: list[Setting]
    command: Callable
    body: Callable
    scores: Callable
    prepare: Callable = lambda python, model, work: None
    environment: dict = dataclasses.field(default_factory=dict)

    @property
    def folder(self):
        return FOLDER / self.package

    def version(self):
        """Returns the version of its package that is pinned."""
        lines = (self.folder / "requirements.txt").read_text().splitlines()
        return next(line for line in lines if line.startswith(f"{self.package}==")).partition("==")[2]


def install(folder):
    """Returns the Python that has what a folder pins. It is made once, and again when that changes.

    Where it cannot be made, it prints one line and returns nothing.
    """
    pinned = (folder / "requirements.txt").read_text()
    made = TARGET / "python" / f"{folder.parent.name}-{folder.name}"
    python, installed = made / "bin/python", made / "installed"
    if installed.exists() and installed.read_text() == pinned:
        return python
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        for command in ([sys.executable, "-m", "venv", "--clear", made], [*pip, "-r", folder / "requirements.txt"]):
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        print(f"skipped: {folder.name} cannot be installed: {said[-1]}", file=sys.stderr)
        return None
    installed.write_text(pinned)
    return python


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A peer that serves a model with one of its settings."""

    def __init__(self, peer, setting, python, model, folder, body):
        self.peer, self.setting, self.folder = peer, setting, pathlib.Path(folder)
        port = free_port()
        self.address, self.key = f"http://127.0.0.1:{port}", ""
        shared = {"MODEL": model, "WORKERS": CORES, "THREADS": CORES}
        shared["PATH"] = f"{python.parent}:{os.environ['PATH']}"
        # A thread that waits for others sleeps, instead of taking processor time.
        shared["OMP_WAIT_POLICY"] = "PASSIVE"
        own = shared | peer.environment | setting.environment
        own = {name: str(value).replace("PORT", str(port)) for name, value in own.items()}
        command = [str(part).replace("PORT", str(port)) for part in peer.command(python, self.folder)]
        with open(self.folder / "log", "w") as log:
            options = {"stdout": log, "stderr": subprocess.STDOUT, "start_new_session": True}
            self.process = subprocess.Popen(command, cwd=self.folder, env=os.environ | own, **options)
        end = time.monotonic() + START_SECONDS
        while not self.is_ready(body):
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                last = (self.folder / "log").read_text()[-200:]
                raise StartError(f"{peer.name}, {setting.label}, does not start: {last!r}")
            time.sleep(0.2)

    def is_ready(self, body):
        try:
            return bool(self.ask(body))
        except OSError:
            return False

    def ask(self, body):
        """Returns the scores of a body."""
        return self.peer.scores(json.loads(send(self.address, self.setting.route, body)))

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            pass
        # Nothing else is in the session that was made for it.
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                if os.getsid(pid) == self.process.pid:
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        self.process.wait()


def rows_of_inputs(rows):
    return {"inputs": rows}


def tensor(rows):
    flat = [value for row in rows for value in row]
    return {"inputs": [{"name": "inputs", "shape": [len(rows), len(rows[0])], "datatype": "FP64", "data": flat}]}


def serve_fastapi(python, _):
    options = ["--host", "127.0.0.1", "--port", "PORT", "--workers", CORES, "--no-access-log", "--log-level", "warning"]
    return [python, "-m", "uvicorn", "--app-dir", FOLDER / "fastapi", "app:app", *options]


def serve_bentoml(python, _):
    options = ["--working-dir", FOLDER / "bentoml", "--host", "127.0.0.1", "--port", "PORT"]
    return [python.parent / "bentoml", "serve", "service:Trees", *options]


def write_mlserver(python, model, folder):
    settings = {"name": "trees", "implementation": "mlserver_lightgbm.LightGBMModel"}
    settings["parameters"] = {"uri": str(model)}
    (folder / "model-settings.json").write_text(json.dumps(settings))


def serve_mlserver(python, folder):
    return [python.parent / "mlserver", "start", folder]


def save_mlflow(python, model, folder):
    command = [python, FOLDER / "mlflow/save.py", model, folder / "model"]
    subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_SECONDS)


def serve_mlflow(python, folder):
    options = ["--host", "127.0.0.1", "--port", "PORT", "--workers", CORES, "--env-manager", "local"]
    return [python.parent / "mlflow", "models", "serve", "--model-uri", folder / "model", *options]


# MLServer's and MLflow's runtimes of LightGBM take as many threads as this variable says.
ONE, ALL = {"OMP_NUM_THREADS": 1}, {"OMP_NUM_THREADS": CORES}
INFER = "/v2/models/trees/infer"
PEERS = [
    Peer(
        "FastAPI + LightGBM",
        "fastapi",
        [Setting("typed body", "/typed"), Setting("untyped body read by orjson", "/untyped")],
        serve_fastapi,
        rows_of_inputs,
        lambda answer: answer["scores"],
    ),
    Peer(
        "MLServer",
        "mlserver",
        [
            Setting("one process with one thread", INFER, {"MLSERVER_PARALLEL_WORKERS": 0, **ONE}),
            Setting("one process with a thread for each core", INFER, {"MLSERVER_PARALLEL_WORKERS": 0, **ALL}),
            Setting("a parallel worker and a thread for each core", INFER, {"MLSERVER_PARALLEL_WORKERS": CORES, **ALL}),
        ],
        serve_mlserver,
        tensor,
        lambda answer: answer["outputs"][0]["data"],
        write_mlserver,
        {
            "MLSERVER_DEBUG": "false",
            "MLSERVER_HOST": "127.0.0.1",
            "MLSERVER_HTTP_PORT": "PORT",
            "MLSERVER_GRPC_PORT": "0",
            "MLSERVER_METRICS_PORT": "0",
        },
    ),
    Peer(
        "BentoML",
        "bentoml",
        [Setting("a thread for each request", "/predict"), Setting("on the event loop of a worker", "/predict_on_the_loop")],
        serve_bentoml,
        rows_of_inputs,
        lambda answer: answer,
        environment={"BENTOML_DO_NOT_TRACK": "True"},
    ),
    Peer(
        "MLflow",
        "mlflow",
        [Setting("one thread a worker", "/invocations", ONE), Setting("a thread for each core a worker", "/invocations", ALL)],
        serve_mlflow,
        rows_of_inputs,
        lambda answer: answer["predictions"],
        save_mlflow,
        {"MLFLOW_DISABLE_TELEMETRY": "true", "UVICORN_ACCESS_LOG": "false"},
    ),
]
