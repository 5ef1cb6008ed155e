"""Detecting, sculpting, masking; overlap and collapse."""

import collections
import json
import os
import subprocess
import tempfile
import unittest

import numpy

import modlab

PROGRAM = os.environ["MODLAB_PROGRAM"]
BLOCKS = [numpy.kron(numpy.eye(2), numpy.ones((3, 2))), numpy.kron(numpy.eye(2), numpy.ones((2, 3)))]


def program(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout


class Detect(unittest.TestCase):
    def test_matrices(self):
        found = modlab.detect(BLOCKS)
        self.assertEqual(len(found), 2)
        self.assertEqual([one["inputs"] for one in found.modules], [[0, 1], [2, 3]])
        self.assertEqual([one["inputs"] for one in modlab.detect([one.T for one in BLOCKS], inputs_first=True).modules],
                         [[0, 1], [2, 3]])  # fmt: skip
        self.assertTrue(found.svg.startswith("<svg"))
        self.assertIn("module", found.text)

    def test_answers(self):
        found = modlab.detect(BLOCKS, biases=[numpy.zeros(6), numpy.array([0.5, 0, 0, 0])])
        x = numpy.array([[1.0, 2, 0, -1]])
        hidden = numpy.maximum(BLOCKS[0] @ x[0], 0)
        numpy.testing.assert_allclose(found.logits(x)[0], BLOCKS[1] @ hidden + [0.5, 0, 0, 0], rtol=1e-6)
        with self.assertRaisesRegex(modlab.ConfigError, r"shape \(samples, 4\), not \(1, 3\)"):
            found(x[:, :3])

    def test_a_state_dict(self):
        class Tensor:  # as torch has it
            def __init__(self, values):
                self.values = values

            def detach(self):
                return self

            def cpu(self):
                return self

            def numpy(self):
                return self.values

        named = collections.OrderedDict()
        for at, matrix in enumerate(BLOCKS):
            named[f"{2 * at}.weight"] = Tensor(matrix.astype("float32"))
            named[f"{2 * at}.bias"] = Tensor(numpy.full(len(matrix), 0.25, "float32"))
        found = modlab.detect(named)
        self.assertEqual(found.to_dict()["hierarchy"], modlab.detect(BLOCKS).to_dict()["hierarchy"])
        numpy.testing.assert_array_equal(found.weights["layer1.bias"], [0.25] * 4)
        self.assertEqual(len(modlab.detect(named, tensors=["0.weight"])), 2)

    def test_the_program_says_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "network.npz")
            numpy.savez(path, **{"layer0.weight": BLOCKS[0], "layer1.weight": BLOCKS[1]})
            theirs = json.loads(program("detect", path, "--json"))
            self.assertEqual(modlab.detect(path).to_dict(), theirs)
            ours = modlab.detect(BLOCKS).to_dict()
            self.assertEqual({**ours, "id": ""}, {**theirs, "id": ""})

    def test_networks(self):
        pop = modlab.train(model=["sparse", "modular"], density=0.1, epochs=20)
        self.assertGreaterEqual(len(modlab.detect(pop[0], task="depth2")), 1)
        with self.assertRaisesRegex(modlab.ConfigError, "modules of its own"):
            modlab.detect(pop[1])

    def test_what_is_no_network(self):
        cases = {
            r"matrix 2 must have the shape \(out, in\), not \(3,\)": lambda: modlab.detect([BLOCKS[0], [1, 2, 3]]),
            "there are 2 matrices, but 1 biases": lambda: modlab.detect(BLOCKS, biases=[[0]]),
            r"bias 1 must have the shape \(6,\), not \(2,\)": lambda: modlab.detect(BLOCKS, biases=[[0, 0], None]),
            "differ in length": lambda: modlab.detect([[[1, 2], [3]]]),
            "array of numbers, not of": lambda: modlab.detect([[["a", "b"]]]),
            "linkage": lambda: modlab.detect(BLOCKS, linkage="nearest"),
            "looks at one network": lambda: modlab.detect(modlab.train(epochs=2)),
            "null takes a whole number": lambda: modlab.detect(BLOCKS, null=-1),
        }
        for sentence, make in cases.items():
            with self.subTest(sentence), self.assertRaisesRegex(modlab.ConfigError, sentence):
                make()
        for broken in ([BLOCKS[0], BLOCKS[0]], [numpy.full((2, 2), numpy.nan)], []):
            with self.assertRaises(modlab.Error):
                modlab.detect(broken)


class Sculpt(unittest.TestCase):
    def test_trials_are_the_programs(self):
        ours = modlab.sculpt(task="sculpt/4-2-4", hidden=[24, 24], seed=range(4))
        with tempfile.TemporaryDirectory() as folder:
            words = ["sculpt", "--task", "sculpt/4-2-4", "--hidden", "24,24", "--seed", "0..3", "--save", folder, "--json"]
            theirs = json.loads(program(*words))["trials"]
        self.assertEqual([trial.facts for trial in ours], theirs)
        task = modlab.graph("sculpt/4-2-4")
        for trial in ours:
            for network in trial.networks:
                numpy.testing.assert_array_equal(network(task.rows) > 0.5, task.table)
                self.assertTrue(network.svg.startswith("<svg"))
        self.assertTrue(ours[0].learned and not ours[3].learned)
        self.assertIsNone(ours[3].network)
        self.assertEqual(ours[0].dense.weights["layer0.weight"].shape, (24, 4))
        with self.assertRaisesRegex(modlab.ConfigError, "model is sculpted here"):
            modlab.sculpt(model="dense")

    def test_a_task_of_ones_own(self):
        task = modlab.task(lambda a, b, c, d: (a and b, c or d), name="apart")
        trial = modlab.sculpt(task=task, hidden=[12], seed=0, epochs=60, lr=0.05, batch_size=4)[0]
        self.assertTrue(trial.learned)
        self.assertEqual(sorted(one["inputs"] for one in trial.network.modules), [[0, 1], [2, 3]])


class Masks(unittest.TestCase):
    def test_masks_are_the_programs(self):
        settings = dict(task="depth2", network="dense", epochs=100, mask_steps=60, seed=0)
        ours = modlab.mask(**settings)
        words = [word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        with tempfile.TemporaryDirectory() as folder:
            theirs = json.loads(program("mask", *words, "--json", "--save", folder))["runs"][0]
            self.assertEqual(ours[0].facts, theirs)
            files = [os.path.join(folder, f"{ours[0].id}.mask-{target}.safetensors") for target in ("y0", "y1")]
            shared = json.loads(program("overlap", *files, "--json"))
        overlap = ours[0].overlap()
        self.assertEqual(overlap.names, ["y0", "y1"])
        for name in ("kept_by_both", "iou", "iou_chance", "iomin"):
            self.assertEqual(overlap.pairs[0][name], shared["pairs"][0][name])
        self.assertEqual(overlap.iou[0, 1], shared["pairs"][0]["iou"])
        self.assertLess(set(ours[0].masks["y0"]), set(ours[0].weights))
        self.assertIn("y0", str(ours))

    def test_wrong_masks(self):
        cases = {
            "two masks or more": lambda: modlab.overlap([[1, 0]]),
            "other values than 0 and 1": lambda: modlab.overlap([[1, 0.5], [0, 1]]),
            "exclude each other": lambda: modlab.overlap([[1, 0], [0, 1]], nonzero=True, logits=True),
            "array of numbers": lambda: modlab.overlap([["a"], ["b"]]),
            "mask 2": lambda: modlab.overlap([[1, 0, 1], [0, 1]]),
        }
        for sentence, make in cases.items():
            with self.subTest(sentence), self.assertRaisesRegex(modlab.Error, sentence):
                make()


class Collapse(unittest.TestCase):
    def test_the_program_says_the_same(self):
        use = numpy.random.default_rng(0).random((4, 3))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "use.npy")
            numpy.save(path, use.astype("float32"))
            theirs = json.loads(program("collapse", path, "--json"))
        ours = modlab.collapse(use.astype("float32")).measures
        for name, value in theirs.items():
            if isinstance(value, float):
                self.assertAlmostEqual(ours[name], value)
        self.assertTrue(modlab.collapse(use).svg.startswith("<svg"))
        self.assertIn("a", modlab.collapse(use, rules="abcd", modules="xyz").text)

    def test_wrong_matrices(self):
        for sentence, use in {
            r"rules by modules, .*\(3,\)": [1, 2, 3],
            "rule 1 uses no module": [[0, 0], [1, 1]],
            "array of numbers": [["a"]],
        }.items():
            with self.subTest(sentence), self.assertRaisesRegex(modlab.ConfigError, sentence):
                modlab.collapse(use)
        with self.assertRaisesRegex(modlab.ConfigError, "have names"):
            modlab.collapse([[1, 0], [0, 1]], rules=["a"])


if __name__ == "__main__":
    unittest.main()
