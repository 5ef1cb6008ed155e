"""Studies: from a dictionary, the same store as the program's, threads, Ctrl-C."""

import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import modlab

PROGRAM = os.environ["MODLAB_PROGRAM"]

MINE = {
    "name": "mine",
    "title": "A small study",
    "parameters": {
        "ratio": {"values": [0.3, 0.5]},
        "split_seed": {"values": range(40, 46)},
        "seed": {"values": range(2)},
        "epochs": {"value": 60},
    },
    "grids": [
        {"series": "dense", "parameters": {"model": {"value": "dense"}}},
        {"series": "shared", "parameters": {"model": {"value": "modular-shared"}}},
    ],
    "figures": [
        {"id": "acc", "paper": "Figure 9", "title": "Accuracy", "kind": "lines", "x": "ratio", "series": "series",
         "measures": ["test_accuracy", "train_accuracy"]}
    ],
    "claims": [
        {"id": "C1", "figure": "acc", "text": "Dense networks learn their rows.",
         "checks": [{"value": "dense", "measure": "train_accuracy", "expect": "at_least", "threshold": 50}]}
    ],
}  # fmt: skip


class Studies(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = os.path.join(self.place.name, "results")

    def test_a_dictionary(self):
        study = modlab.Study(MINE, folder=self.folder).run()
        runs = study.runs()
        self.assertEqual(len(runs["seed"]), 48)
        self.assertEqual(study.facts["finished"], 48)
        self.assertEqual(study.claims()[0]["verdict"], "holds")
        self.assertIn("holds", str(study.claims()))
        self.assertEqual(len(study.claims().table()["verdict"]), 1)
        figure = study.figure("figure 9")
        table = figure.table()
        self.assertEqual(sorted(set(table["series"])), ["dense", "shared"])
        self.assertEqual(sorted(set(table["ratio"])), [0.3, 0.5])
        self.assertTrue((table["error_between"] >= 0).all())
        self.assertEqual(list(figure.charts), ["acc-test-accuracy", "acc-train-accuracy"])
        self.assertTrue(figure.svg.startswith("<svg"))
        with self.assertRaisesRegex(modlab.ConfigError, "no figure 'F1'; there are acc"):
            study.figure("F1")
        page = pathlib.Path(study.report()).read_text()
        self.assertIn("A small study", page)
        # Nothing is trained twice, and the folder is all that is needed.
        again = modlab.Study.open(self.folder)
        self.assertEqual(list(again.runs()["id"]), list(runs["id"]))
        with self.assertRaisesRegex(modlab.ConfigError, "there to look at"):
            again.run()
        # A run of it again, to the same bits.
        net = again.network(runs["id"][7])
        self.assertEqual(net.measures["test_accuracy"], runs["test_accuracy"][7])
        self.assertIn("holds", study._repr_html_())

    def test_the_store_is_the_programs(self):
        path = os.path.join(self.place.name, "mine.yaml")
        with open(path, "w") as file:
            json.dump({**MINE, "parameters": {name: {key: list(one) if key == "values" else one for key, one in value.items()}
                                              for name, value in MINE["parameters"].items()}}, file)  # fmt: skip
        theirs = os.path.join(self.place.name, "theirs")
        words = [PROGRAM, "study", "run", path, "--out", theirs, "epochs=20", "ratio=0.5"]
        subprocess.run(words, check=True, capture_output=True)
        modlab.Study(MINE, folder=self.folder, epochs=20, ratio=0.5).run()
        for table in ("runs", "means", "chosen"):
            ours = getattr(modlab.Study.open(self.folder), table)()
            others = getattr(modlab.Study.open(theirs), table)()
            self.assertEqual({name: list(map(str, ours[name])) for name in ours}, {name: list(map(str, others[name])) for name in others})

    def test_a_task_made_here(self):
        task = modlab.task(lambda a, b, c, d, e: a + b + c + d + e >= 3, name="most")
        parameters = {"task": {"value": task}, "model": {"value": "dense"}, "split_seed": {"values": [40, 41]}, "epochs": {"value": 20}}
        study = modlab.Study({"name": "own", "parameters": parameters}, folder=self.folder).run()
        self.assertEqual(set(study.runs()["task"]), {"most"})
        # The store has the task's text: it can be read where Python's function is not.
        words = [PROGRAM, "export", self.folder, "--csv"]
        subprocess.run(words, check=True, capture_output=True, cwd=self.place.name)
        with self.assertRaisesRegex(modlab.Error, "most"):
            other = modlab.task(lambda a, b, c, d, e: a and b, name="most")
            modlab.Study({"name": "own", "parameters": {**parameters, "task": {"value": other}}}, folder=self.folder).run()

    def test_what_is_no_study(self):
        cases = {
            r"^\(study mine\): there is no setting 'lrr'": lambda: modlab.Study({"name": "mine", "parameters": {"lrr": {"value": 1}}}),
            "there is no study 'bolean'": lambda: modlab.Study("bolean"),
            "preset": lambda: modlab.Study("boolean", preset="quik"),
            "epoch": lambda: modlab.Study("boolean", preset="quick", epochs=-1),
            "texts, numbers, lists": lambda: modlab.Study({"parameters": object()}),
        }
        for sentence, make in cases.items():
            with self.subTest(sentence), self.assertRaisesRegex(modlab.Error, sentence):
                make()
        with self.assertRaises(modlab.FormatError):
            modlab.Study(MINE, folder=self.folder).runs()

    def test_another_thread_hears_that_it_runs(self):
        study = modlab.Study(MINE, folder=self.folder, epochs=1000000)
        begun = threading.Event()
        stopped = []

        def run():
            # Waiting for the work looks at its progress, from which this thread is told to stop.
            class Stop(Exception):
                pass

            def look(*_):
                begun.set()
                if stopped:
                    raise Stop

            import modlab._progress as progress

            original, progress.pass_on_notices = progress.pass_on_notices, look
            try:
                study.run(progress=False)
            except Stop:
                pass
            finally:
                progress.pass_on_notices = original

        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stopped.append, True)
        self.assertTrue(begun.wait(60))
        for call in (study.runs, study.run, lambda: study.figure("acc")):
            with self.assertRaisesRegex(modlab.ConfigError, "runs in another thread; wait until run"):
                call()
        with self.assertRaisesRegex(modlab.Error, "trains this study; wait for it"):
            modlab.Study(MINE, folder=self.folder, epochs=1000000).run()
        stopped.append(True)
        thread.join()
        # What was stopped goes on.
        self.assertEqual(len(modlab.Study(MINE, folder=self.folder, epochs=2).run().runs()["seed"]), 48)

    def test_changes_are_said(self):
        modlab.Study(MINE, folder=self.folder, epochs=2).run()
        with self.assertLogs("modlab", logging.WARNING) as said:
            modlab.Study(MINE, folder=self.folder, epochs=3).run()
        self.assertIn("has changed", said.output[0])

    SCRIPT = """
import os, signal, sys, threading, modlab
study = modlab.Study("boolean", preset="quick", folder=sys.argv[1], epochs=1000000)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    study.run()
except KeyboardInterrupt:
    print("stopped")
    print(study.facts["finished"])
    modlab.Study("boolean", preset="quick", folder=sys.argv[1], epochs=1, seed=0, split_seed=40, ratio=0.5).run()
    print("went on")
"""

    def test_ctrl_c(self):
        ended = subprocess.run([sys.executable, "-c", self.SCRIPT, self.folder], capture_output=True, text=True, timeout=120)
        self.assertEqual(ended.stdout, "stopped\n0\nwent on\n", ended.stderr)


if __name__ == "__main__":
    unittest.main()
