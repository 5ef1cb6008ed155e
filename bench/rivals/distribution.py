#!/usr/bin/env python3
"""Trains many networks to the end, stacked, and prints how their test accuracies are distributed.

The training loop is the rivals' loop: reshuffling, noise, Adam, evaluation after every epoch. A network's test
accuracy is read at its first epoch of best validation accuracy.
"""

import argparse
import json
import time

import common

import torch

import bmm


def main():
    parser = argparse.ArgumentParser(description="Distribution of whole trainings in PyTorch.")
    parser.add_argument("--work", choices=sorted(common.WORKS), default="modular-shared-depth2")
    parser.add_argument("--batch", type=int, default=64, help="64 is the full batch")
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=200, help="number of networks")
    parser.add_argument("--first-seed", type=int, default=0, help="starts other random streams")
    parser.add_argument("--split", type=int, default=common.SPLIT_SEED, help="seed of the data split")
    arguments = parser.parse_args()

    task_name, build = common.WORKS[arguments.work]
    task = common.Task(task_name, arguments.split)
    start = time.perf_counter()
    torch.manual_seed(arguments.first_seed)
    ensemble = bmm.Ensemble(build(), arguments.seeds, arguments.first_seed)
    history = bmm.train_loop(ensemble, task, arguments.batch, arguments.epochs)
    seconds = time.perf_counter() - start
    accuracy = common.accuracy_at_best_validation(history)
    validation = history[..., 3 + common.VALIDATION]
    best_epoch = (validation == validation.max(dim=0).values).float().argmax(dim=0) + 1
    final = 100 * history[-1]
    print(json.dumps({
        "work": arguments.work,
        "batch": arguments.batch,
        "epochs": arguments.epochs,
        "split": arguments.split,
        "n": arguments.seeds,
        "seconds": round(seconds, 1),
        "mean": round(accuracy.mean().item(), 3),
        "standard_deviation": round(accuracy.std().item(), 3),
        "perfect": int((accuracy == 100).sum()),
        "perfect_validation": int((validation.max(dim=0).values == 1).sum()),
        "mean_final_train": round(final[:, 3 + common.TRAIN].mean().item(), 3),
        "mean_final_test": round(final[:, 3 + common.TEST].mean().item(), 3),
        "test_accuracy": accuracy.tolist(),
        "best_epoch": best_epoch.tolist(),
        "torch": torch.__version__,
    }))


if __name__ == "__main__":
    main()
