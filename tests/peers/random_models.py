"""Rows, arguments and files of the programs that train random models."""
import argparse
from pathlib import Path

import numpy as np


def features(random, rows, categories, smallest, largest):
    """Returns numbers of many shapes, then one categorical column for each cardinality."""
    columns = [
        random.normal(size=rows),
        random.lognormal(11, 1, size=rows),
        random.integers(-3, 4, size=rows).astype(float),
        np.where(random.random(rows) < 0.7, 0.0, random.normal(size=rows)),
        random.normal(size=rows) * smallest,
        random.choice([largest, -largest, 0.0, 3.0], size=rows),
    ]
    columns += [random.integers(0, c, size=rows).astype(float) for c in categories]
    return np.column_stack(columns)


def write_models(make):
    """Writes the files of each model that the arguments ask for.

    `make(random, number, path, rows)` trains a model and saves it at the path. It returns rows, and
    their raw scores and predictions.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--models", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    arguments = parser.parse_args()
    for number in range(arguments.models):
        random = np.random.default_rng([arguments.seed, number])
        path = arguments.out / f"{number}.model"
        columns = zip(("rows", "raw", "answers"), make(random, number, path, arguments.rows))
        for suffix, values in columns:
            values.astype("<f8").tofile(path.with_suffix(f".{suffix}"))
