"""What is written about the package: docstrings, stubs, arguments, notebooks, docs/python.md."""

import ast
import base64
import contextlib
import doctest
import hashlib
import importlib
import inspect
import io
import json
import os
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import modlab

PROGRAM = os.environ["MODLAB_PROGRAM"]
ROOT = pathlib.Path(os.environ["MODLAB_ROOT"])


def run_cells(cells):
    """Runs code as a notebook does: the value of a cell's last line is shown. Returns what the cells have defined."""
    names = {"__name__": "__main__"}
    for code in cells:
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            for one in value if isinstance(value, tuple) else (value,):
                show = getattr(one, "_repr_html_", None)
                shown = show() if show else repr(one)
                assert isinstance(shown, str) and shown
    return names


class Words(unittest.TestCase):
    def test_examples_of_docstrings(self):
        modules = [modlab] + [importlib.import_module(f"modlab.{one.name}") for one in pkgutil.iter_modules(modlab.__path__)]
        ran = 0
        for module in modules:
            result = doctest.testmod(module, extraglobs={"modlab": modlab})
            self.assertEqual(result.failed, 0, module.__name__)
            ran += result.attempted
        self.assertGreater(ran, 40)

    def test_everything_public_has_an_example(self):
        plain = {"Error", "ConfigError", "FormatError", "Figure"}  # the last one is what a study's example leads to
        for name in set(modlab.__all__) - plain:
            self.assertIn(">>>", inspect.getdoc(getattr(modlab, name)), name)

    def test_stubs_are_those_that_are_made(self):
        made = subprocess.run([sys.executable, ROOT / "python" / "tests" / "make_stubs.py"], check=True, capture_output=True, text=True)
        written = (ROOT / "python" / "modlab" / "__init__.pyi").read_text()
        self.assertEqual(made.stdout, written, "./modlab python python/tests/make_stubs.py > python/modlab/__init__.pyi makes it again")


class Package(unittest.TestCase):
    def test_its_version_is_the_programs(self):
        said = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(said, f"modlab {modlab.__version__}\n")
        self.assertIn(f'version = "{modlab.__version__}"', (ROOT / "pyproject.toml").read_text())

    def test_a_wheel(self):
        # Of what is built: pip itself, which needs minutes and another folder, is tried by hand.
        sys.path.insert(0, str(ROOT / "python"))
        self.addCleanup(sys.path.remove, str(ROOT / "python"))
        import build_wheel

        build_wheel._compiled = lambda: pathlib.Path(modlab._core.__file__)
        with tempfile.TemporaryDirectory() as folder:
            wheel = os.path.join(folder, build_wheel.build_wheel(folder))
            place = os.path.join(folder, "place")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(place)
            record = pathlib.Path(place, f"modlab-{modlab.__version__}.dist-info", "RECORD").read_text()
            for line in record.splitlines()[:-1]:
                name, digest, size = line.split(",")
                data = pathlib.Path(place, name).read_bytes()
                self.assertEqual(len(data), int(size))
                self.assertEqual("sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), digest)
            script = "import modlab; print(modlab.__file__, len(modlab.train(epochs=2)))"
            environment = {**os.environ, "PYTHONPATH": place}
            said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment, cwd=folder)
            self.assertEqual(said.stdout, f"{place}/modlab/__init__.py 1\n")


class Arguments(unittest.TestCase):
    OWN = {"threads", "progress", "networks"}

    def options(self, verb, heading):
        """The settings that the program's help lists, above the heading of its own options."""
        words = [PROGRAM, verb, "--help"] + ([] if verb == "sculpt" else ["all"])
        text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        return {name.replace("-", "_") for name in re.findall(r"^  --([a-z0-9_-]+)", text.split(heading)[0], re.MULTILINE)}

    def test_they_are_the_programs(self):
        for verb in ("train", "sculpt", "mask"):
            ours = set(inspect.signature(getattr(modlab, verb)).parameters) - self.OWN
            self.assertEqual(ours, self.options(verb, "\nOutput\n"), verb)

    def test_docs_list_them(self):
        page = (ROOT / "docs" / "settings.md").read_text()
        listed = set(re.findall(r"^\| `([a-z0-9_]+)` \|", page, re.MULTILINE))
        ours = set(inspect.signature(modlab.train).parameters) - self.OWN
        self.assertEqual(ours, listed)


class Examples(unittest.TestCase):
    def run_in_folder(self, cells, files=()):
        """In a folder of its own, in which the test goes on."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for file in files:
            shutil.copy(file, folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        with contextlib.redirect_stdout(io.StringIO()):
            return run_cells(cells)

    def notebook(self, name):
        examples = ROOT / "python" / "examples"
        cells = json.loads((examples / name).read_text())["cells"]
        codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        self.assertTrue(codes)
        for cell in cells:
            self.assertFalse(cell.get("outputs"), "notebooks are kept without their outputs")
        return self.run_in_folder(codes, examples.glob("*.npz"))

    def test_from_a_question_to_a_figure(self):
        names = self.notebook("question_to_figure.ipynb")
        self.assertEqual(len(names["pop"]), 100)
        self.assertEqual(len(names["study"].runs()["seed"]), 180)
        self.assertEqual([claim["verdict"] for claim in names["study"].claims()], ["holds", "undecided"])

    def test_from_a_pytorch_model_to_its_modules(self):
        names = self.notebook("pytorch_to_modules.ipynb")
        self.assertEqual(len(names["found"]), 2)

    def test_the_readme(self):
        (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
        given = (
            "import modlab, numpy\nx = numpy.zeros((2, 6))\n"
            "class model:\n    state_dict = staticmethod(lambda: {'0.weight': numpy.eye(3), '2.weight': numpy.eye(3)})\n"
        )
        for whole, less in {"range(100)": "range(3), epochs=20", 'preset="quick"': 'preset="quick", epochs=3, seed=0, ratio=[0.5, 0.7], lr=0.1'}.items():
            self.assertIn(whole, block)
            block = block.replace(whole, less)
        self.run_in_folder([given + block])

    def test_the_page_of_the_docs(self):
        # As it stands there, with fewer networks, and without MNIST and the study that others run.
        page = (ROOT / "docs" / "python.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        self.assertGreaterEqual(len(blocks), 6)
        text = "\n".join(blocks)
        changes = {
            r"^.*mnist.*$": "",
            r"seed=range\(100\)": "seed=range(4), epochs=100",
            r"iterations=500": "iterations=20",
            r'^study = modlab.Study\("boolean", preset="quick"\).run\(\)$':
                'study = modlab.Study("boolean", preset="quick", epochs=3, seed=0, split_seed=[40, 41], ratio=[0.5, 0.7], lr=0.1).run()',
            r'study.network\("[0-9a-f]*"\)': 'study.network(study.runs()["id"][0])',
            r'"split_seed": \{"values": range\(40, 46\)\},': '"split_seed": {"values": range(40, 46)}, "epochs": {"value": 10},',
            r'^found = modlab.detect\(\[W1, W2, W3\]\)':
                "import numpy\nW1, W2, W3 = (numpy.kron(numpy.eye(2), numpy.ones((2, 2))) for _ in range(3))\n"
                "use = numpy.eye(3) + 0.1\n"
                "class model:\n    state_dict = staticmethod(lambda: {'0.weight': W1, '2.weight': W2})\n"
                "found = modlab.detect([W1, W2, W3])",
            r"ratio=0.7, seed=range\(3\)\)": "ratio=0.7, seed=range(2), epochs=50, mask_steps=50)",
        }  # fmt: skip
        for pattern, replacement in changes.items():
            text, count = re.subn(pattern, lambda _: replacement, text, flags=re.MULTILINE)
            self.assertGreater(count, 0, pattern)
        names = self.run_in_folder([text])
        self.assertEqual(names["study"].folder, "results/majority")


if __name__ == "__main__":
    unittest.main()
