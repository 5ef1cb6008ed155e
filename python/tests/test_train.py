"""Populations: the same runs and bits as the program's, and what one does with them."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy

import modlab

PROGRAM = os.environ["MODLAB_PROGRAM"]


def program(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout


class TheSameBits(unittest.TestCase):
    def compare(self, words, **settings):
        theirs = json.loads(program("train", "--json", *words))["runs"]
        ours = modlab.train(**settings).runs
        self.assertEqual([run["id"] for run in ours], [run["id"] for run in theirs])
        for mine, other in zip(ours, theirs):
            for name, value in other.items():
                if name in ("best", "last"):
                    # Python looks at the structure too, so it has more measures.
                    self.assertEqual({measure: mine[name][measure] for measure in value}, value)
                else:
                    self.assertEqual(mine[name], value)

    def test_bits(self):
        self.compare(
            ["--model", "dense,modular-shared", "--lr", "0.1,0.01", "--seed", "0..4", "--epochs", "60"],
            model=["dense", "modular-shared"], lr=[0.1, 0.01], seed=range(5), epochs=60,
        )  # fmt: skip

    def test_rules(self):
        self.compare(
            ["--task", "rules-mlp", "--model", "modular", "--rules", "2,4", "--iterations", "40", "--test-samples", "500"],
            task="rules-mlp", model="modular", rules=[2, 4], iterations=40, test_samples=500,
        )  # fmt: skip

    def test_lists_of_sizes(self):
        self.compare(
            ["--model", "dense", "--hidden", "12,12;20", "--epochs", "20", "--weight-decay", "0"],
            model="dense", hidden=[[12, 12], [20]], epochs=20, weight_decay=0,
        )  # fmt: skip

    def test_sculpted_and_masked_runs_have_tables(self):
        theirs = json.loads(program("train", "--json", "--model", "sculpted", "--task", "sculpt/4-2-4", "--hidden", "24,24"))
        ours = modlab.train(model="sculpted", task="sculpt/4-2-4", hidden=[24, 24])
        self.assertEqual(ours.runs[0]["best"], theirs["runs"][0]["best"])
        with self.assertRaisesRegex(modlab.ConfigError, "modlab.sculpt"):
            ours[0]
        table = modlab.sculpt(task="sculpt/4-2-4", hidden=[24, 24]).table()
        self.assertEqual(table["edges"][0], theirs["runs"][0]["best"]["edges"])
        self.assertEqual(table["id"][0], theirs["runs"][0]["id"])


class Arguments(unittest.TestCase):
    def test_words(self):
        from modlab._arguments import words

        self.assertEqual(words(range(3), False), ["0..2"])
        self.assertEqual(words(range(0, 6, 2), False), ["0", "2", "4"])
        self.assertEqual(words([True, None, 1e-5], False), ["true", "none", "1e-05"])
        self.assertEqual(words(numpy.array([0.1, 0.5], dtype="float32"), False), ["0.1", "0.5"])
        self.assertEqual(words(numpy.int64(3), False), ["3"])
        self.assertEqual(words([24, 24], True), ["24,24"])
        self.assertEqual(words([[24], [36]], True), ["24;36"])
        self.assertEqual(words(numpy.array([24, 24]), True), ["24,24"])
        self.assertEqual(words("0..9", False), ["0..9"])

    def test_mistakes_are_the_programs_sentences(self):
        cases = {
            "there is no setting 'lrr'": dict(lrr=1),
            "density means nothing to model dense": dict(model="dense", density=0.5),
            "means nothing to task depth2": dict(task="depth2", iterations=3),
            "unknown task 'detph2'; did you mean 'depth2'": dict(task="detph2"),
            "seed has an empty list": dict(seed=[]),
            "lr": dict(lr=-1),
            "threads must be a whole number from 1": dict(threads=0),
            "threads must be a whole number, not 'two'": dict(threads="two"),
        }
        for sentence, settings in cases.items():
            with self.subTest(sentence), self.assertRaisesRegex(modlab.ConfigError, sentence):
                modlab.train(**settings)
        self.assertTrue(issubclass(modlab.ConfigError, modlab.Error) and issubclass(modlab.ConfigError, ValueError))
        with self.assertRaises(modlab.FormatError):
            modlab.train(task="no-such-file.yaml")


class Networks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pop = modlab.train(task="depth2", model=["dense", "modular-shared"], seed=range(3), epochs=300)

    def test_table_and_best(self):
        table = self.pop.table()
        self.assertEqual(len(table["id"]), 6)
        self.assertEqual(list(table["seed"]), [0, 1, 2, 0, 1, 2])
        best = self.pop.best()
        self.assertEqual(best.measures["validation_accuracy"], max(table["validation_accuracy"]))
        self.assertEqual(len(self.pop[1:3]), 2)
        self.assertEqual(self.pop[-1].id, self.pop.ids[5])
        with self.assertRaises(IndexError):
            self.pop[6]
        self.assertIn("<table>", self.pop._repr_html_())

    def test_answers_are_those_that_were_measured(self):
        task = modlab.graph("depth2")
        for net in self.pop:
            right = (net(task.rows) > 0.5) == task.table
            # 16 rows of each part but the training's 32: all rows by what was measured of the parts.
            parts = [net.measures[f"{part}_accuracy"] * net.measures[f"{part}_rows"] for part in ("train", "validation", "test")]
            rows = sum(net.measures[f"{part}_rows"] for part in ("train", "validation", "test"))
            self.assertAlmostEqual(100 * right.mean(), sum(parts) / rows, places=6)
            one = net(task.rows[5])
            self.assertEqual(one.shape, (2,))
            numpy.testing.assert_array_equal(one, net(task.rows)[5])
            numpy.testing.assert_allclose(net.logits(task.rows[:2]) > 0, net(task.rows[:2]) > 0.5)

    def test_wrong_arrays(self):
        net = self.pop[0]
        cases = {
            r"shape \(samples, 6\), not \(3, 5\)": numpy.zeros((3, 5)),
            r"not \(\)": 1,
            "zeros and ones, not 0.5": numpy.full((1, 6), 0.5),
            "numbers, not of": [["a"] * 6],
            "array of numbers, not of complex": numpy.zeros((1, 6), complex),
            "not of object": [None] * 6,
        }
        for sentence, x in cases.items():
            with self.subTest(sentence), self.assertRaisesRegex(modlab.ConfigError, sentence):
                net(x)
        with self.assertRaisesRegex(modlab.ConfigError, "has learned 1"):
            net(numpy.zeros((1, 6)), task=1)

    def test_weights_are_views_that_outlive_the_network(self):
        net = self.pop[0]
        weights = net.weights
        again = net.weights["layer0.weight"]
        self.assertTrue(numpy.shares_memory(weights["layer0.weight"], again))
        with self.assertRaises(ValueError):
            again[0, 0] = 1
        kept = again.copy()
        del net, weights
        numpy.testing.assert_array_equal(again, kept)

    def test_routing_and_curve(self):
        dense, modular = self.pop[0], self.pop[3]
        self.assertIsNone(dense.routing)
        self.assertEqual([len(level) for level in modular.routing["inputs"]], [3, 2])
        self.assertEqual(len(modular.routing["outputs"]), 2)
        curve = modular.curve
        self.assertEqual(list(curve["epoch"])[-1], 300)
        self.assertEqual(curve["test_accuracy"][list(curve["epoch"]).index(modular.facts["best_epoch"])], modular.measures["test_accuracy"])

    def test_pictures(self):
        for net in (self.pop[0], self.pop[3]):
            self.assertTrue(net.svg.startswith("<svg"))
            self.assertIn("data:image/svg+xml;base64,", net._repr_html_())
            self.assertIn("depth2", net.text)

    def test_saved_networks_are_the_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.safetensors")
            self.pop[3].save(path)
            again = modlab.load(path)
            self.assertEqual(again.facts, self.pop[3].facts)
            self.assertEqual(modlab.load(path, "last").snapshot, "last")
            shown = json.loads(program("show", path, "--json"))
            self.assertEqual(shown, again.to_dict())
            self.pop[3].save(os.path.join(folder, "net.svg"))
            self.assertTrue(pathlib.Path(folder, "net.svg").read_text().startswith("<svg"))
            with self.assertRaisesRegex(modlab.ConfigError, "best or last"):
                modlab.load(path, "first")
            pathlib.Path(path).write_bytes(b"not a network")
            with self.assertRaises(modlab.FormatError):
                modlab.load(path)

    def test_compare(self):
        pop = modlab.train(model=["dense", "modular-shared"], split_seed=range(40, 46), seed=range(2), epochs=30)
        words = ["--model", "dense,modular-shared", "--split-seed", "40..45", "--seed", "0,1", "--epochs", "30"]
        theirs = json.loads(program("train", "--json", "--compare", "model", *words))["comparisons"]
        self.assertEqual([dict(one) for one in pop.compare()], theirs)
        self.assertIn("modular-shared against dense", str(pop.compare()))

    def test_without_networks_they_are_trained_again(self):
        pop = modlab.train(task="depth2", model=["dense", "modular-shared"], seed=range(3), epochs=300, networks=False)
        self.assertEqual(pop.ids, self.pop.ids)
        self.assertEqual(pop[4].facts, self.pop[4].facts)
        numpy.testing.assert_array_equal(pop[0].weights["layer0.weight"], self.pop[0].weights["layer0.weight"])


class OtherKinds(unittest.TestCase):
    def test_rules(self):
        net = modlab.train(task="rules-mlp", model="modular", rules=2, iterations=60, test_samples=500)[0]
        self.assertEqual(numpy.shape(net.routing["use"]), (2, 2))
        x = numpy.hstack([numpy.random.default_rng(0).normal(size=(7, 2)), numpy.eye(2)[[0, 1, 0, 1, 0, 1, 1]]])
        said = net(x)
        self.assertEqual(said.shape, (7, 1))
        numpy.testing.assert_array_equal(net(x[:3]), said[:3])
        self.assertIn("loss", net.curve)
        self.assertTrue(net.svg.startswith("<svg"))
        with self.assertRaisesRegex(modlab.ConfigError, r"2 numbers and a column for each of 2 rules, not \(7, 3\)"):
            net(x[:, :3])

    def test_rules_answers_have_the_loss_that_was_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "samples.npz")
            program("data", "rules", "--family", "rnn", "--rules", "2", "--dim", "4", "--samples", "2000", "--out", path)
            samples = numpy.load(path)
            net = modlab.train(task="rules-rnn", model="gt-modular", rules=2, dim=4, iterations=40, test_samples=2000)[0]
            said = net(samples["inputs"])
            self.assertEqual(said.shape, samples["targets"].shape)
            loss = numpy.abs(said - samples["targets"]).mean()
            self.assertAlmostEqual(loss / net.measures["id_loss"], 1, delta=0.1)

    def test_images(self):
        # Images of our own: digit d is a bright square at the d-th of nine places.
        with tempfile.TemporaryDirectory() as folder:
            files = {}
            for part, count in (("train", 400), ("test", 100)):
                labels = numpy.arange(count) % 8
                images = numpy.zeros((count, 12, 12), "uint8")
                for at, label in enumerate(labels):
                    images[at, 4 * (label // 3) : 4 * (label // 3) + 4, 4 * (label % 3) : 4 * (label % 3) + 4] = 200 + at % 50
                for name, array in (("images", images), ("labels", labels.astype("uint8"))):
                    files[part, name] = os.path.join(folder, f"{part}-{name}")
                    header = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
                    pathlib.Path(files[part, name]).write_bytes(header + array.tobytes())
            net = modlab.train(
                task="mnist-xor-and", model="modular-shared", samples=40, test_samples=10, epochs=4,
                images=[files["train", "images"], files["test", "images"]],
                labels=[files["train", "labels"], files["test", "labels"]],
            )[0]  # fmt: skip
            pairs = numpy.stack([images[:20], images[20:40]], axis=1)
            said = net(pairs)
            self.assertEqual(said.shape, (20, 2))
            numpy.testing.assert_array_equal(net(pairs[3]), said[3])
            self.assertTrue(net.svg.startswith("<svg"))
            with self.assertRaisesRegex(modlab.ConfigError, r"\(samples, 2, 12, 12\), not \(20, 12, 12\)"):
                net(images[:20])
            with self.assertRaisesRegex(modlab.ConfigError, "numpy.uint8"):
                net(pairs / 255)


class Interrupts(unittest.TestCase):
    # What would take hours is stopped by a signal, as Ctrl-C sends it, and ends; the wait has no other end than that.
    SCRIPT = """
import os, signal, threading, time, modlab
def interrupt():
    for tick in range(100):  # which takes as long as the interpreter's lock is held elsewhere
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    modlab.train(task="depth3", model="dense", epochs=1000000, seed=range(64))
except KeyboardInterrupt:
    print("stopped")
    print(modlab.train(epochs=5)[0].settings["epochs"])
"""

    def test_ctrl_c_ends_a_training_and_threads_go_on_meanwhile(self):
        ended = subprocess.run([sys.executable, "-c", self.SCRIPT], capture_output=True, text=True, timeout=120)
        self.assertEqual(ended.stdout, "stopped\n5\n", ended.stderr)

    def test_two_threads_train_at_once(self):
        found = {}

        def work(seed):
            found[seed] = modlab.train(seed=seed, epochs=200, threads=1)[0].measures

        threads = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for seed in range(4):
            self.assertEqual(found[seed], modlab.train(seed=seed, epochs=200)[0].measures)


class Progress(unittest.TestCase):
    def test_a_terminal_has_a_bar(self):
        import pty

        parent, child = pty.openpty()
        script = "import modlab; modlab.train(task='depth3', model='dense', epochs=2000, seed=range(16))"
        process = subprocess.Popen([sys.executable, "-c", script], stderr=child)
        os.close(child)
        text = b""
        while True:
            try:
                piece = os.read(parent, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
        self.assertEqual(process.wait(), 0)
        self.assertRegex(text.decode(), r"\[#* *\] +\d+ %  .*left")

    def test_a_notebook_has_a_bar_of_its_own(self):
        # What IPython has in a notebook, as far as it is asked.
        script = """
import sys, types
shown = []
class ZMQInteractiveShell: pass
class Handle:
    def update(self, html): shown.append(html)
def display(html, display_id):
    shown.append(html)
    return Handle()
ipython = types.ModuleType("IPython")
ipython.get_ipython = ZMQInteractiveShell
ipython.display = types.ModuleType("IPython.display")
ipython.display.HTML, ipython.display.display = str, display
sys.modules.update({"IPython": ipython, "IPython.display": ipython.display})
import modlab
modlab.train(task="depth3", model="dense", epochs=2000, seed=range(16))
assert shown[0].startswith("<progress value=") and "left" in shown[0], shown
assert shown[-1] == "", shown
"""
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_elsewhere_there_is_none(self):
        script = "import modlab; modlab.train(epochs=2000, seed=range(16))"
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(ended.stderr + ended.stdout, "")


if __name__ == "__main__":
    unittest.main()
