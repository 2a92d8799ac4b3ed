"""Tables and the page that `scripts/compare-with-peers` writes."""

import datetime
import json
import os
import platform
import subprocess

from measuring import ROOT, format_figure

COLUMNS = [
    ("values a second (8)", "rate 8", 1),
    ("p50 (8), ms", "p50 8", 1),
    ("p99 (8), ms", "p99 8", 1),
    ("processor (8), µs", "spent 8", 1_000),
    ("p50 (1), ms", "p50 1", 1),
    ("p99 (1), ms", "p99 1", 1),
    ("2,500 rows, p50, ms", "batch", 1),
    ("2,500 rows, processor, ms", "batch spent", 1),
]
# Kinds of work that Domesday does for the figures above, and what each peer has in its place.
DIFFERENCES = """\
| | Domesday | FastAPI | MLServer | BentoML | MLflow |
|---|---|---|---|---|---|
| Request | a home, whose address it looks up | 40 numbers | a tensor of 40 | 40 numbers | 40 numbers |
| Validation | the contract, field by field and row by row | types, with a typed body | shape and type | types | a signature, if there is one |
| Who may ask | keys, scopes and limits of tenants | what the program adds | not known | not known | not known |
| Units | durable before the answer | none | none | none | none |
| Isolation | a sandbox that is as new for each row, with bounds on work and memory | none | processes | processes | one model a server |
| Replay of a value | to the bit, from signed packages | none | none | none | none |
"""


def list_settings(results):
    """Returns items with the setting of each peer that was the fastest."""
    items = []
    for result in results:
        single, batch = result["settings"]
        if single == batch:
            items += [f"- {result['name']}: {single}."] if single else []
        else:
            items += [f"- {result['name']}, single values: {single}.", f"- {result['name']}, batches: {batch}."]
    return "\n".join(items)


def table(results):
    """Returns the table of figures: the median of the rounds, and the best where it is the aim."""
    lines = [f"| | {' | '.join(title for title, _, _ in COLUMNS)} | memory, MiB |", "|---" * (len(COLUMNS) + 2) + "|"]
    for result in results:
        cells = [f"{result['name']} {result['version']}"]
        for _, name, factor in COLUMNS:
            cell = format_figure(result["median"][name] * factor)
            if name in ("rate 8", "batch"):
                cell += f", best {format_figure(result['best'][name] * factor)}"
            cells.append(cell)
        lines.append(f"| {' | '.join(cells)} | {result['memory']:.0f} |")
    return "\n".join(lines)


def page(results, rounds, picture):
    describe = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    commit = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True, check=True)
    peers = [result for result in results if result["name"] != "Domesday"]
    domesday = next(result for result in results if result["name"] == "Domesday")
    fastest = max(peers, key=lambda result: result["median"]["rate 8"])
    quickest = min(peers, key=lambda result: result["median"]["batch"])
    rate = domesday["median"]["rate 8"] / fastest["median"]["rate 8"]
    batch = quickest["median"]["batch"] / domesday["median"]["batch"]
    load = os.getloadavg()[1]
    drawn = f"\n![Domesday beside its peers]({picture.name})\n" if picture else ""
    return f"""\
# Domesday beside other servers of models

{datetime.date.today()}, commit {commit.stdout.strip()}. {os.cpu_count()} cores of a {platform.machine()} machine, {platform.system()}
{platform.release().rsplit(".", 1)[0]}, Python {platform.python_version()}, load {load:.1f} at the end. wrk runs on the same cores.

<!-- not typed: it takes ten minutes, wrk and an optimised program -->

```sh
scripts/compare-with-peers {rounds} target/release/domesday docs/benchmarks/{datetime.date.today()}-peers.md
```

Each server has the same 500 trees of 127 leaves, made by LightGBM. They were asked in turn. A
figure is the median of the rounds, of which there were {rounds}. In brackets is the number of
connections.

{table(results)}

Domesday gives {rate:.1f} times the single values a second of {fastest["name"]}, the fastest peer
there. It gives {batch:.1f} times the batches of {quickest["name"]}, the fastest peer there.
{drawn}
Processor time and memory are those of a server's whole process tree. Shared pages of memory count
in proportion. All servers gave the same predictions for the 2,500 rows, and for 200 of them alone.
Peers were within 1e-9 of LightGBM. Domesday gave the same pounds.

## Settings

A peer has a worker for each core, where it has workers. It writes no access log, and has uvloop and
httptools. A thread that waits for other threads sleeps. Each setting of a peer was tried, and the
fastest was measured:

{list_settings(results)}

FastAPI and BentoML use one thread for a single value, and a thread for each core for a batch.
Domesday has its default settings, and writes its log.

## What each does for that

{DIFFERENCES}"""


def write(file, results, rounds, python):
    """Writes the page, and the plot beside it where matplotlib could be installed."""
    picture = file.with_suffix(".svg") if python else None
    if picture:
        drawing = [python, ROOT / "tests/peers/serving/plot/draw.py", picture]
        subprocess.run(drawing, input=json.dumps(results), text=True, check=True, timeout=120)
    file.write_text(page(results, rounds, picture))
    subprocess.run([ROOT / "scripts/wrap", file], check=True, timeout=60)
