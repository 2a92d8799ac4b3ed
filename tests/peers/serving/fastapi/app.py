"""The trees of MODEL behind FastAPI, one route with a typed body and one without."""

import os

import lightgbm as lgb
import numpy as np
import orjson
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel

# From here on, rows are shared among threads.
MANY = 100
THREADS = int(os.environ["THREADS"])

app = FastAPI()
booster = lgb.Booster(model_file=os.environ["MODEL"])


class Rows(BaseModel):
    inputs: list[list[float]]


def score(rows):
    inputs = np.array(rows)
    return booster.predict(inputs, num_threads=THREADS if len(inputs) >= MANY else 1)


# On the event loop: a thread costs more than the trees of a row.
@app.post("/typed")
async def predict_typed(rows: Rows):
    return {"scores": score(rows.inputs).tolist()}


@app.post("/untyped")
async def predict_untyped(request: Request):
    scores = score(orjson.loads(await request.body())["inputs"])
    return Response(orjson.dumps({"scores": scores}, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")
