"""Saves the trees of a file of LightGBM as a model of MLflow: save.py MODEL FOLDER"""

import sys

import lightgbm as lgb
import mlflow.lightgbm

model, folder = sys.argv[1:]
# Without a list of requirements MLflow serves the model once, to find them.
mlflow.lightgbm.save_model(lgb.Booster(model_file=model), folder, pip_requirements=[])
