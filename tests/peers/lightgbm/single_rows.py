"""The model that trees are measured with, and LightGBM's own time for it.

single_rows.py train OUT    writes model.txt, rows and raw: 500 trees of 127 leaves, 40 inputs, one
                            of them categorical
single_rows.py score OUT    writes raw, the scores of rows
single_rows.py time OUT     times LightGBM's C API, one row a call, one thread
"""
import ctypes
import statistics
import sys
import time
from pathlib import Path

import lightgbm as lgb
import numpy as np

INPUTS = 40
# Rows that are timed together, as the program that measures ours does.
TOGETHER = 20


def rows(random, count):
    x = random.normal(size=(count, INPUTS))
    x[:, -1] = random.integers(0, 50, count)
    x[random.random(x.shape) < 0.05] = np.nan
    return x


def train(out):
    random = np.random.default_rng(7)
    x = rows(random, 20_000)
    z = np.nan_to_num(x)
    y = 2 * z[:, 0] + np.sin(3 * z[:, 1]) + z[:, 2] * z[:, 3] + np.sin(z[:, -1]) + random.normal(size=len(x)) * 0.3
    parameters = {"objective": "regression", "num_leaves": 127, "learning_rate": 0.05, "verbose": -1, "seed": 1,
                  "deterministic": True, "num_threads": 1}
    booster = lgb.train(parameters, lgb.Dataset(x, y, categorical_feature=[INPUTS - 1]), 500)
    booster.save_model(out / "model.txt")
    asked = rows(random, 2_000)
    asked.astype("<f8").tofile(out / "rows")
    booster.predict(asked, raw_score=True).astype("<f8").tofile(out / "raw")


def score(out):
    asked = np.fromfile(out / "rows").reshape(-1, INPUTS)
    lgb.Booster(model_file=out / "model.txt").predict(asked, raw_score=True, num_threads=1).tofile(out / "raw")


def time_call(out):
    library = ctypes.CDLL(str(next((Path(lgb.__file__).parent / "lib").glob("lib_lightgbm*"))))
    booster, count = ctypes.c_void_p(), ctypes.c_int()
    library.LGBM_BoosterCreateFromModelfile(str(out / "model.txt").encode(), ctypes.byref(count), ctypes.byref(booster))
    asked = np.fromfile(out / "rows").reshape(-1, INPUTS)
    fast = ctypes.c_void_p()
    # Raw scores of doubles, all trees.
    failed = library.LGBM_BoosterPredictForMatSingleRowFastInit(
        booster, 1, 0, -1, 1, INPUTS, b"num_threads=1", ctypes.byref(fast))
    assert not failed
    answer, length = np.zeros(1), ctypes.c_int64()
    predict = library.LGBM_BoosterPredictForMatSingleRowFast
    pointers = [ctypes.c_void_p(row.ctypes.data) for row in asked]
    target, size = ctypes.c_void_p(answer.ctypes.data), ctypes.byref(length)
    passes, best = [], [float("inf")] * (len(pointers) // TOGETHER)
    for _ in range(15):
        times = []
        for few in range(0, len(pointers), TOGETHER):
            start = time.perf_counter()
            for pointer in pointers[few:few + TOGETHER]:
                predict(fast, pointer, size, target)
            times.append(time.perf_counter() - start)
        passes.append(sum(times))
        best = [min(pair) for pair in zip(best, times)]
    median, least = (seconds / len(asked) * 1e6 for seconds in (statistics.median(passes), sum(best)))
    print(f"µs a row, LightGBM {lgb.__version__}, single row by its C API: {median:.1f} (least {least:.1f})")


{"train": train, "score": score, "time": time_call}[sys.argv[1]](Path(sys.argv[2]))
