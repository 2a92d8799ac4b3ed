"""Measures a host under load, for the scripts beside this file."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
START_SECONDS, END_SECONDS = 60, 60


def load_script(name):
    """Returns a script beside this file as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def end_processes(processes):
    """Ends processes by SIGTERM, and kills those that outlive it."""
    running = [process for process in processes if process.poll() is None]
    for process in running:
        process.terminate()
    end = time.monotonic() + END_SECONDS
    for process in running:
        try:
            process.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Host:
    """A host of the demo, or of the releases that the environment names, on loopback."""

    def __init__(self, program, folder, settings=(), **environment):
        self.folder = pathlib.Path(folder)
        out, log = self.folder / "out", self.folder / "log"
        command = [program, "serve", "--listen", "127.0.0.1:0", "--data", self.folder / "state", *settings]
        with open(out, "w") as standard, open(log, "w") as errors:
            # Linux shares its cores among sessions first, so each server that is compared has one.
            options = {"stdout": standard, "stderr": errors, "start_new_session": True}
            self.process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, **options)
        end = time.monotonic() + START_SECONDS
        while not (found := re.search(r"http://[0-9.:]+", out.read_text())):
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                sys.exit(f"{program} does not start: {log.read_text()}")
            time.sleep(0.01)
        self.address = found.group()
        self.key = (self.folder / "state/demo.key").read_text().strip()

    def stop(self):
        end_processes([self.process])


def read_if_there(path):
    """Returns a file of a process, or nothing where the process has ended."""
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def find_processes(pid):
    """Returns the ids of a process and of all that it started."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        fields = read_if_there(stat).rpartition(")")[2].split()
        if fields:
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found


def processor_seconds(pid):
    """Returns the processor time of a process and of all that it started, ended or not."""
    ticks = 0
    for each in find_processes(pid):
        # Its user and kernel time, and those of children that it has waited for.
        fields = read_if_there(f"/proc/{each}/stat").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """Returns the MiB of a process and of all that it started; shared pages in proportion."""
    texts = (read_if_there(f"/proc/{each}/smaps_rollup") for each in find_processes(pid))
    return sum(int(size) for text in texts for size in re.findall(r"^Pss:\s+(\d+)", text, re.MULTILINE)) / 1024


def send(address, route, body, key=""):
    """Sends one request, and returns the answer."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}{route}", body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def load(address, seconds, connections, **environment):
    """Asks with wrk, and returns the requests, p50 and p99 in ms, and requests a second."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--timeout", "30s", "-s", ROOT / "scripts/load.lua"]
    environment = os.environ | {name: str(value) for name, value in environment.items()}
    most = seconds + 60
    run = subprocess.run([*command, address], env=environment, capture_output=True, text=True, check=True, timeout=most)
    count = int(re.search(r"(\d+) requests in", run.stdout).group(1))
    found = re.search(r"p50 (\S+) ms +p99 (\S+) ms +(\S+) requests/s +failed (\S+)", run.stdout)
    p50, p99, rate, failed = map(float, found.groups())
    if failed:
        sys.exit(f"{failed:.0f} of {count} requests to {address} failed")
    return count, p50, p99, rate


def measure(pid, address, seconds, connections, **environment):
    """Asks with wrk, and returns p50 and p99 in ms, the rate, and processor ms an answer."""
    before = processor_seconds(pid)
    count, p50, p99, rate = load(address, seconds, connections, **environment)
    return p50, p99, rate, (processor_seconds(pid) - before) * 1e3 / count


def format_figure(figure):
    return f"{figure:.0f}" if figure >= 100 else f"{figure:.3g}"
