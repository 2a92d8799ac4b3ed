"""The trees of MODEL as a service of BentoML, in a thread or on the event loop."""

import os

import bentoml
import lightgbm as lgb
import numpy as np

# From here on, rows are shared among threads.
MANY = 100
THREADS = int(os.environ["THREADS"])


@bentoml.service(workers=int(os.environ["WORKERS"]), logging={"access": {"enabled": False}})
class Trees:
    def __init__(self):
        self.booster = lgb.Booster(model_file=os.environ["MODEL"])

    def score(self, inputs):
        return self.booster.predict(inputs, num_threads=THREADS if len(inputs) >= MANY else 1)

    @bentoml.api
    def predict(self, inputs: np.ndarray) -> np.ndarray:
        return self.score(inputs)

    @bentoml.api
    async def predict_on_the_loop(self, inputs: np.ndarray) -> np.ndarray:
        return self.score(inputs)
