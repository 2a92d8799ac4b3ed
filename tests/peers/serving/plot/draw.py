"""Draws figures of servers as bars: draw.py SVG <RESULTS"""

import json
import sys

import matplotlib

matplotlib.use("svg")
# The same figures give the same bytes.
matplotlib.rcParams.update({"svg.hashsalt": "peers", "svg.fonttype": "none", "font.size": 9})

import matplotlib.pyplot as plt

PANELS = [
    ("Single values a second, 8 connections: longer is better", "rate 8", 1),
    ("Processor time of a single value, µs: shorter is better", "spent 8", 1_000),
    ("2,500 rows in one request, ms: shorter is better", "batch", 1),
    ("Processor time of 2,500 rows, ms: shorter is better", "batch spent", 1),
]
OURS, OTHERS = "#1d5fa6", "#9aa5b1"


def draw(panel, results, title, name, factor):
    figures = [result["median"][name] * factor for result in results]
    names = [result["name"] for result in results]
    bars = panel.barh(names, figures, color=[OURS if each == "Domesday" else OTHERS for each in names])
    panel.bar_label(bars, [f"{figure:,.0f}" for figure in figures], padding=3)
    panel.set_title(title, loc="left", fontsize=10)
    panel.margins(x=0.18)
    panel.invert_yaxis()
    panel.xaxis.set_visible(False)
    panel.spines[["top", "right", "bottom"]].set_visible(False)


results = json.load(sys.stdin)
figure, panels = plt.subplots(2, 2, figsize=(10, 5), layout="constrained")
for panel, (title, name, factor) in zip(panels.flat, PANELS):
    draw(panel, results, title, name, factor)
figure.savefig(sys.argv[1], metadata={"Date": None})
