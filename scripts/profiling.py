"""Samples a host with perf, and counts samples by stage, for the scripts beside this file."""

import collections
import os
import re
import shutil
import subprocess
import sys


def require_programs(script):
    for needed, package in (("perf", "linux-perf"), ("wrk", "wrk")):
        if not shutil.which(needed):
            sys.exit(f"scripts/{script}: {needed} is not installed (Debian: apt-get install {package})")


def sample(pid, seconds, hertz, stack_bytes, data):
    """Starts to sample a process with its stacks into a file."""
    sampled = ["perf", "record", "--quiet", "-e", "cpu-clock", "-F", str(hertz), "--call-graph"]
    sampled += [f"dwarf,{stack_bytes}", "-p", str(pid), "-o", data, "--", "sleep", str(seconds)]
    return subprocess.Popen(sampled)


def read_stacks(data):
    script = ["perf", "script", "-i", data, "--no-inline", "-F", "comm,ip,sym,dso"]
    text = subprocess.run(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    return list(stacks(text))


def stacks(text):
    """Gives the thread of each sample and its frames, the innermost first. A guest's code has no
    names."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        frames = []
        for line in lines[1:]:
            found = re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)$", line)
            if found:
                name, file = found.groups()
                # A program may have the name of the branch that it was built from.
                is_guest = name == "[unknown]" and not re.search(r"\.so|\[|/domesday[^/]*$", file)
                frames.append("guest" if is_guest or file == "//anon" else name)
        if frames:
            yield lines[0].strip(), frames


def stage_of(frames, stages):
    """Returns the first stage that fits the innermost frame that fits one."""
    for frame in frames:
        for name, pattern in stages:
            if re.search(pattern, frame):
                return name
    return "no stage"


def table(samples, stages, per_sample, column):
    """Returns a table in Markdown of stages by their share."""
    counts = collections.Counter(stage_of(frames, stages) for _, frames in samples)
    whole = sum(counts.values())
    lines = [f"| Stage | Share | {column} |", "|---|---|---|"]
    for name, count in counts.most_common():
        lines.append(f"| {name} | {count * 100 / whole:.1f} % | {per_sample * count / whole:.1f} |")
    return "\n".join(lines)


def draw(data, svg, title):
    if not shutil.which("flamegraph"):
        return print("no flame graph: flamegraph is not installed", file=sys.stderr)
    drawn = ["flamegraph", "--perfdata", data, "--no-inline", "--deterministic", "--min-width", "0.3"]
    subprocess.run(
        [*drawn, "--title", title, "-o", svg],
        cwd=os.path.dirname(data),
        stdout=subprocess.DEVNULL,
        check=True,
    )
