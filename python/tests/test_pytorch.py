"""Networks of PyTorch's, as TorchScript; PyTorch itself is not needed."""

import os
import pathlib
import unittest

import numpy

import modlab

FILES = pathlib.Path(os.environ["MODLAB_ROOT"]) / "tests" / "torch" / "files"
LIBRARY = pathlib.Path(os.environ["MODLAB_PROGRAM"]).parent / "libmodlab_torch.so"


@unittest.skipUnless(LIBRARY.exists(), "built without libtorch")
class PyTorch(unittest.TestCase):
    def test_a_model_is_masked(self):
        masked = modlab.mask(
            model=str(FILES / "plain.pt"), data=str(FILES / "plain.npz"), targets="outputs", beta=0.001, mask_steps=20,
            mask_batch=16, controls=False,
        )
        net = masked[0]
        self.assertEqual(sorted(net.masks), ["all", "y1", "y2", "y3"])
        self.assertEqual(net.masks["y1"]["2.weight"].shape, (16, 16))
        self.assertEqual(net.facts["unmasked"]["y1"], 100)

    def test_an_architecture_is_trained(self):
        population = modlab.train(task="depth1", model=str(FILES / "untrained.pt"), seed=[0, 1], epochs=10)
        table = population.table()
        self.assertEqual(len(table["seed"]), 2)
        self.assertTrue(numpy.isfinite(table["test_accuracy"]).all())

    def test_what_does_not_fit_is_said(self):
        with self.assertRaisesRegex(modlab.FormatError, "pickle"):
            modlab.mask(model=str(FILES / "pickle.pt"), data=str(FILES / "plain.npz"))


if __name__ == "__main__":
    unittest.main()
