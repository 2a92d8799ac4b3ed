"""Trains the trees of a release on what its component showed of sales.

train.py --mapping mapping.toml --features features.csv --out model.txt

The features come from `domesday release build`: one line a sale, in the order of its day, with the sale, its day,
its price, the model's columns as the component itself fills them, and the offset where the mapping names one.
The same lines give the same trees: the seed is fixed, LightGBM is told to be deterministic, and it uses one thread.
"""
import argparse
import csv
import math
import sys
import tomllib
from pathlib import Path

import lightgbm as lgb
import numpy as np

# Features that are categories rather than amounts.
CATEGORICAL = {
    "property_type", "property_subtype", "tenure", "country", "precision", "occupancy", "wall_type", "roof_type",
    "floor_type", "glazing", "authority",
}
FIXED = {"seed": 1086, "deterministic": True, "force_row_wise": True, "num_threads": 1, "verbosity": -1}
LEAST_SALES = 200
# Rounds are chosen on the latest fifth, then all sales are trained on.
LATEST = 0.2
MOST_ROUNDS = 1500
PATIENCE = 60


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
    told = arguments.parse_args()
    mapping = tomllib.loads(told.mapping.read_text(encoding="utf-8"))
    header, table = read(told.features)
    if len(table) < LEAST_SALES:
        sys.exit(f"{len(table)} sales have features; at least {LEAST_SALES} are needed")
    kept = {"sale", "day", "price_gbp", "offset"}
    names = [name for name in header if name not in kept]
    column = {name: table[:, at] for at, name in enumerate(header)}
    price = column["price_gbp"]
    target = np.log(price) if mapping["target"] == "log_price" else price
    target = target - column.get("offset", 0.0)
    inputs = np.column_stack([column[name] for name in names])

    def feature(name):
        filled = mapping["columns"][name]
        return filled if isinstance(filled, str) else filled["feature"]

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
        {**parameters, "metric": "l1"}, data(early), MOST_ROUNDS, valid_sets=[data(late)],
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
    )
    rounds = max(tried.best_iteration, 1)
    # More sales bear a few more rounds.
    model = lgb.train(parameters, data(order), math.ceil(rounds / (1 - LATEST)))
    before, after = np.abs(target[late]), np.abs(target[late] - tried.predict(inputs[late]))
    print(f"{len(order)} sales, {rounds} rounds; on the latest {len(late)}, left out: median departure "
          f"{np.median(before):.4f} before, {np.median(after):.4f} after")
    model.save_model(told.out)


main()
