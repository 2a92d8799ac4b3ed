"""Train the trees of a release on the features that its component exported.

train.py --mapping mapping.toml --features features.csv --out model.txt

`domesday release build` writes the features: one line for each sale, in the order of days. A line
has the sale, its day, its price, the model's columns as the component computes them, the members of
a stack, and the offset if the mapping names one. The same lines give the same trees: the seed is
fixed, and LightGBM is deterministic with one thread.
"""
import argparse
import csv
import math
import sys
import tomllib
from pathlib import Path

import lightgbm as lgb
import numpy as np

# Categorical features.
CATEGORICAL = {
    "property_type", "property_subtype", "tenure", "country", "precision", "occupancy", "wall_type", "roof_type",
    "floor_type", "glazing", "authority",
}
FIXED = {"seed": 1086, "deterministic": True, "force_row_wise": True, "num_threads": 1, "verbosity": -1}
MIN_SALES = 200
# The latest fifth selects the number of rounds. Then all sales train.
LATEST = 0.2
MAX_ROUNDS = 1500
EARLY_STOPPING_ROUNDS = 60


def read(path):
    with open(path, newline="", encoding="utf-8") as lines:
        reader = csv.reader(lines)
        header = next(reader)
        rows = [[float(value) if value else math.nan for value in row] for row in reader]
    return header, np.array(rows, dtype=float).reshape(len(rows), len(header))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--mapping", type=Path, required=True)
    arguments.add_argument("--features", type=Path, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    options = arguments.parse_args()
    mapping = tomllib.loads(options.mapping.read_text(encoding="utf-8"))
    header, table = read(options.features)
    if len(table) < MIN_SALES:
        sys.exit(f"{len(table)} sales have features; supply at least {MIN_SALES}")
    names = [name for name in header if name in mapping["columns"]]
    column = {name: table[:, at] for at, name in enumerate(header)}
    price = column["price_gbp"]
    target = np.log(price) if mapping["target"] == "log_price" else price
    target = target - column.get("offset", 0.0)
    inputs = np.column_stack([column[name] for name in names])

    def feature(name):
        source = mapping["columns"][name]
        return source if isinstance(source, str) else source["feature"]

    categorical = [name for name in names if feature(name) in CATEGORICAL]
    parameters = {**mapping.get("training", {}), **FIXED}

    def data(rows):
        return lgb.Dataset(
            inputs[rows], target[rows], feature_name=names, categorical_feature=categorical, free_raw_data=False
        )

    order = np.argsort(column["day"], kind="stable")
    cut = int(len(order) * (1 - LATEST))
    early, late = order[:cut], order[cut:]
    tried = lgb.train(
        {**parameters, "metric": "l1"}, data(early), MAX_ROUNDS, valid_sets=[data(late)],
        callbacks=[lgb.early_stopping(EARLY_STOPPING_ROUNDS, verbose=False)],
    )
    rounds = max(tried.best_iteration, 1)
    # More sales support more rounds.
    model = lgb.train(parameters, data(order), math.ceil(rounds / (1 - LATEST)))
    before, after = np.abs(target[late]), np.abs(target[late] - tried.predict(inputs[late]))
    print(f"{len(order)} sales, {rounds} rounds; on the latest {len(late)}, left out: median departure "
          f"{np.median(before):.4f} before, {np.median(after):.4f} after")
    model.save_model(options.out)


main()
