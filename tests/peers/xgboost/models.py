"""Trains random models with XGBoost and scores random rows with them.

models.py OUT --models N --rows R --seed S

Writes for each model OUT/N.model (as JSON), OUT/N.rows (the rows), OUT/N.raw (margins) and
OUT/N.answers (what predict says), the last three as little-endian doubles.
"""
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import xgboost as xgb

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from random_models import features, write_models

warnings.filterwarnings("ignore")
xgb.set_config(verbosity=0)

OBJECTIVES = [
    {"objective": "reg:squarederror"},
    {"objective": "reg:absoluteerror"},
    {"objective": "reg:pseudohubererror"},
    {"objective": "reg:quantileerror", "quantile_alpha": 0.3},
    {"objective": "reg:squaredlogerror"},
    {"objective": "count:poisson"},
    {"objective": "reg:gamma"},
    {"objective": "reg:tweedie"},
]
KINDS = [
    {},
    {"num_parallel_tree": 3, "subsample": 0.7},
    {"grow_policy": "lossguide", "max_leaves": 127, "max_depth": 0},
    {"tree_method": "approx"},
    {"tree_method": "exact", "gamma": 0.5},
    {"colsample_bynode": 0.5, "subsample": 0.5},
    {"base_score": 0.25},
]
CARDINALITIES = [2, 30, 300, 3000]
SMALLEST = float(np.float32(1e-45))
EXTREMES = np.array(
    [0.0, -0.0, SMALLEST, -SMALLEST, SMALLEST / 2, -SMALLEST / 2, 5e-324, 1e-300, 1e-35, -1e-35, 3.4028234e38,
     -3.4028234e38, 16777217.0, 0.1, np.nan]
)
CATEGORIES = np.array([-0.0, -0.5, -1.0, 0.5, 5.9, 5.99999999, 31.0, 32.0, 4095.0, 16777215.0, 16777216.0, 3e9, np.nan])
NUMERIC = 6


def matrix(x, label=None):
    kinds = ["q"] * NUMERIC + ["c"] * (x.shape[1] - NUMERIC)
    return xgb.DMatrix(x, label, feature_types=kinds, enable_categorical=True)


def train(random, number):
    rows = int(random.choice([60, 400, 3000]))
    kind = KINDS[int(random.integers(len(KINDS)))]
    categories = [c for c in CARDINALITIES if random.random() < 0.4]
    if kind.get("tree_method") == "exact":
        categories = []
    x = features(random, rows, categories, 1e-38, 1e38)
    y = 1.0 + np.abs(
        x[:, 0] + np.log(x[:, 1]) + 2 * (x[:, 2] > 0) + 3 * x[:, 3]
        + sum(np.sin(x[:, NUMERIC + i]) for i in range(len(categories))) + random.normal(size=rows) / 5
    )
    if number % 17 == 0:
        y[:] = 2.5
    x[random.random(x.shape) < random.choice([0.0, 0.1, 0.5])] = np.nan
    parameters = {
        "max_depth": int(random.choice([1, 3, 6, 10])),
        **OBJECTIVES[number % len(OBJECTIVES)],
        **kind,
        "max_bin": int(random.choice([4, 16, 256, 1024])),
        "min_child_weight": float(random.choice([0.0, 1.0, 5.0])),
        "max_cat_to_onehot": int(random.choice([1, 4, 64, 5000])),
        "max_cat_threshold": int(random.choice([4, 64, 1000])),
        "eta": float(random.choice([0.05, 0.3])),
        "seed": int(random.integers(1 << 30)),
        "nthread": 1,
    }
    return xgb.train(parameters, matrix(x, y), int(random.choice([1, 4, 20, 60]))), categories


def sample_queries(random, written, categories, rows):
    x = features(random, rows, [2 * c for c in categories], 1e-38, 1e38)
    # The thresholds themselves and their neighbours in either precision.
    thresholds = [[] for _ in range(x.shape[1])]
    for tree in written["learner"]["gradient_booster"]["model"]["trees"]:
        for node, left in enumerate(tree["left_children"]):
            if left != -1 and not tree["split_type"][node]:
                thresholds[tree["split_indices"][node]].append(tree["split_conditions"][node])
    for column, found in enumerate(thresholds):
        if found:
            found = np.array(found, dtype=np.float32)
            wide = found.astype(float)
            near = [
                wide, np.nextafter(wide, np.inf), np.nextafter(wide, -np.inf),
                np.nextafter(found, np.float32(np.inf)).astype(float),
                np.nextafter(found, np.float32(-np.inf)).astype(float),
                (wide + np.nextafter(found, np.float32(-np.inf)).astype(float)) / 2,
            ]
            near = np.concatenate(near)
            near = near[np.abs(near) < 3.4e38]
            here = random.random(rows) < 0.3
            if len(near):
                x[here, column] = random.choice(near, size=here.sum())
    numeric = x[:, :NUMERIC]
    extreme = random.random(numeric.shape) < 0.05
    numeric[extreme] = random.choice(EXTREMES, size=extreme.sum())
    named = x[:, NUMERIC:]
    extreme = random.random(named.shape) < 0.1
    named[extreme] = random.choice(CATEGORIES, size=extreme.sum())
    x[random.random(x.shape) < random.choice([0.0, 0.1])] = np.nan
    return x


def make(random, number, path, rows):
    booster, categories = train(random, number)
    # The suffix decides the format.
    json_path = path.with_suffix(".json")
    booster.save_model(json_path)
    text = json_path.rename(path).read_text(encoding="utf-8")
    x = sample_queries(random, json.loads(text), categories, rows)
    # From the file, so that both read the same text.
    booster = xgb.Booster({"nthread": 1})
    booster.load_model(bytearray(text, encoding="utf-8"))
    scored = matrix(x)
    return x, booster.predict(scored, output_margin=True), booster.predict(scored)


write_models(make)
