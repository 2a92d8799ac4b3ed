"""Trains random models with LightGBM and scores random rows with them.

models.py OUT --models N --rows R --seed S

Writes for each model OUT/N.model, OUT/N.rows (the rows), OUT/N.raw (raw scores) and OUT/N.answers
(what predict says), the last three as little-endian doubles.
"""
import sys
import warnings
from pathlib import Path

import lightgbm as lgb
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from random_models import features, write_models

warnings.filterwarnings("ignore")

OBJECTIVES = [
    {"objective": "regression"},
    {"objective": "regression_l1"},
    {"objective": "huber"},
    {"objective": "fair"},
    {"objective": "quantile", "alpha": 0.3},
    {"objective": "mape"},
    {"objective": "poisson"},
    {"objective": "gamma"},
    {"objective": "tweedie"},
    {"objective": "regression", "reg_sqrt": True},
]
BOOSTINGS = [
    {},
    {"boosting": "dart"},
    {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1},
    {"data_sample_strategy": "goss"},
    {"extra_trees": True},
    {"feature_fraction": 0.5, "bagging_fraction": 0.5, "bagging_freq": 2},
]
MISSING = [{}, {}, {"use_missing": False}, {"zero_as_missing": True}]
CARDINALITIES = [3, 30, 300, 5000]
EXTREMES = np.array(
    [0.0, -0.0, 1e-35, -1e-35, float(np.float32(1e-35)), 1.1e-35, 5e-324, 1e-300, 1e300, -1e300, 1e10, -1e10,
     np.inf, -np.inf, np.nan, -0.5, -1.0, 0.5, 2147483647.0, 2147483648.0, 4294967296.0]
)


def train(random, number):
    # Small and large models, so that trees of one leaf and of many are met.
    rows = int(random.choice([60, 400, 3000]))
    categories = [c for c in CARDINALITIES if random.random() < 0.5]
    x = features(random, rows, categories, 1e-35, 1e300)
    y = 1.0 + np.abs(
        x[:, 0] + np.log(x[:, 1]) + 2 * (x[:, 2] > 0) + 3 * x[:, 3]
        + sum(np.sin(x[:, 6 + i]) for i in range(len(categories))) + random.normal(size=rows) / 5
    )
    if number % 17 == 0:
        y[:] = 2.5
    holes = random.choice([0.0, 0.1, 0.5])
    x[random.random(x.shape) < holes] = np.nan
    if random.random() < 0.3:
        # Values are missing in some columns, so that rules of missing values differ within a model.
        x[:, :3] = np.nan_to_num(x[:, :3])
    parameters = {
        **OBJECTIVES[number % len(OBJECTIVES)],
        **BOOSTINGS[int(random.integers(len(BOOSTINGS)))],
        **MISSING[int(random.integers(len(MISSING)))],
        "num_leaves": int(random.choice([2, 5, 31, 127, 255])),
        "max_bin": int(random.choice([3, 15, 255, 1023, 4095])),
        "min_data_in_leaf": int(random.choice([1, 5, 20])),
        "min_data_in_bin": int(random.choice([1, 3])),
        "max_cat_to_onehot": int(random.choice([1, 4, 64])),
        "max_cat_threshold": int(random.choice([4, 32, 500])),
        "min_data_per_group": int(random.choice([1, 20])),
        "cat_smooth": float(random.choice([0.0, 10.0])),
        "learning_rate": float(random.choice([0.05, 0.3])),
        "seed": int(random.integers(1 << 30)),
        "num_threads": 1,
        "deterministic": True,
        "verbose": -1,
    }
    data = lgb.Dataset(x, y, categorical_feature=list(range(6, x.shape[1])))
    return lgb.train(parameters, data, int(random.choice([1, 4, 20, 60]))), categories


def sample_queries(random, booster, categories, rows):
    x = features(random, rows, [2 * c for c in categories], 1e-35, 1e300)
    # The thresholds themselves and their neighbours.
    thresholds = [[] for _ in range(x.shape[1])]
    for tree in booster.dump_model()["tree_info"]:
        open_nodes = [tree["tree_structure"]]
        while open_nodes:
            node = open_nodes.pop()
            if "split_feature" in node:
                if node["decision_type"] == "<=":
                    thresholds[node["split_feature"]].append(node["threshold"])
                open_nodes += [node["left_child"], node["right_child"]]
    for column, found in enumerate(thresholds):
        if found:
            found = np.array(found)
            near = np.concatenate([found, np.nextafter(found, np.inf), np.nextafter(found, -np.inf)])
            here = random.random(rows) < 0.3
            x[here, column] = random.choice(near, size=here.sum())
    extreme = random.random(x.shape) < 0.05
    x[extreme] = random.choice(EXTREMES, size=extreme.sum())
    x[random.random(x.shape) < random.choice([0.0, 0.1])] = np.nan
    return x


def make(random, number, path, rows):
    booster, categories = train(random, number)
    booster.save_model(path)
    x = sample_queries(random, booster, categories, rows)
    # From the file, so that both read the same text.
    booster = lgb.Booster(model_file=path)
    return x, booster.predict(x, raw_score=True, num_threads=1), booster.predict(x, num_threads=1)


write_models(make)
