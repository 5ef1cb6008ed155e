"""Tasks from Python: functions of bits, truth tables, and what is wrong with them."""

import os
import tempfile
import unittest

import numpy

import modlab


class Tasks(unittest.TestCase):
    def test_a_function(self):
        def adder(a1, a0, b1, b0):
            total = 2 * a1 + a0 + 2 * b1 + b0
            return total & 4, total & 2, total & 1

        with self.assertRaisesRegex(modlab.ConfigError, "zeros and ones"):
            modlab.task(adder)
        task = modlab.task(lambda *bits: [bool(bit) for bit in adder(*bits)], inputs=["a1", "a0", "b1", "b0"],
                           outputs=["y_carry", "y_high", "y_low"], name="adder", about="Two bits and two bits")  # fmt: skip
        self.assertEqual(task.inputs, ["a1", "a0", "b1", "b0"])
        self.assertEqual(task.outputs, ["y_carry", "y_high", "y_low"])
        self.assertEqual(task.about, "Two bits and two bits")
        for row, answer in zip(task.rows, task.table):
            self.assertEqual(answer.tolist(), [bool(bit) for bit in adder(*row.tolist())])
        self.assertTrue(task.svg.startswith("<svg"))
        self.assertIn("adder", task.text)

    def test_a_function_is_a_task_wherever_one_is_asked_for(self):
        def both(a, b, c):
            return a and b and c

        self.assertEqual(modlab.graph(both).inputs, ["a", "b", "c"])
        net = modlab.train(task=[both, "depth1"], model="dense", epochs=5)[0]
        self.assertEqual(net.settings["task"], "both")
        self.assertEqual(list(net.curve["epoch"]), [1, 2, 3, 4, 5])

    def test_a_table_is_the_same_task_as_the_function(self):
        built_in = modlab.graph("depth2")
        table = modlab.task(built_in.table, inputs=built_in.inputs, name="as-a-table")
        numpy.testing.assert_array_equal(table.table, built_in.table)
        ours = modlab.train(task=table, model="dense", hidden=[36, 36, 36], seed=range(2), epochs=50)
        theirs = modlab.train(task="depth2", model="dense", hidden=[36, 36, 36], seed=range(2), epochs=50)
        for one, other in zip(ours, theirs):
            self.assertEqual(one.measures, other.measures)
            self.assertNotEqual(one.id, other.id)
        answers = ours[0](table.rows)
        numpy.testing.assert_array_equal(answers, theirs[0](built_in.rows))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.safetensors")
            ours[0].save(path)
            numpy.testing.assert_array_equal(modlab.load(path)(table.rows), answers)

    def test_tasks_of_one_name_one_after_the_other(self):
        first = modlab.train(task=modlab.task([0, 0, 0, 1], name="mine"), model="dense", ratio=0.5, epochs=50)[0]
        second = modlab.task([0, 1, 1, 0], name="mine")
        trained = modlab.train(task=second, model="dense", ratio=0.5, epochs=50)[0]
        self.assertEqual(first.facts["task"], trained.facts["task"])
        self.assertTrue(first.svg and trained.svg)
        with self.assertRaisesRegex(modlab.ConfigError, "another task called 'mine'"):
            modlab.train(task=[second, modlab.task([0, 1, 1, 1], name="mine")], model="dense")
        with self.assertRaisesRegex(modlab.ConfigError, "unknown task 'mine'"):
            modlab.train(task="mine")

    def test_files_that_change_are_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.csv")
            tables = []
            for outputs in ("0001", "0110"):
                with open(path, "w") as file:
                    file.write("a,b,y\n" + "".join(f"{row >> 1},{row & 1},{bit}\n" for row, bit in enumerate(outputs)))
                stamp = os.stat(path).st_mtime + len(tables) + 1
                os.utime(path, (stamp, stamp))
                net = modlab.train(task=path, model="dense", ratio=0.5, epochs=10)[0]  # lives on meanwhile
                net.svg
                tables.append((net, modlab.graph(path).table[:, 0].tolist()))
            self.assertNotEqual(tables[0][1], tables[1][1])

    def test_what_cannot_be_a_task(self):
        cases = {
            "needs one here": lambda: modlab.task(lambda a: a),
            "needs a name": lambda: modlab.task([0, 1]),
            "there is a task depth2 already": lambda: modlab.task([0, 1], name="depth2"),
            "there is a task rules-mlp already": lambda: modlab.task([0, 1], name="rules-mlp"),
            "one word without dots": lambda: modlab.task([0, 1], name="a/b"),
            "2, 4, 8": lambda: modlab.task([0, 1, 0], name="mine"),
            "those of 2 inputs, not of 3": lambda: modlab.task([0, 1, 1, 0], inputs=3, name="mine"),
            "zeros and ones, not": lambda: modlab.task([0, 2], name="mine"),
            "has zeros and ones": lambda: modlab.task([[0, 1], [1]], name="mine"),
            "say how many": lambda: modlab.task(all_of),
            "1 to 16": lambda: modlab.task(all_of, inputs=17),
            "as many bits for every row": lambda: modlab.task(lambda a: [a] if a else [a, a], name="mine"),
            "there are 1 outputs, but 2 names": lambda: modlab.task([0, 1], outputs=["y0", "y1"], name="mine"),
            "has no graph to show": lambda: modlab.graph("rules-mlp"),
            "unknown task": lambda: modlab.graph("no-such-task"),
        }

        def all_of(*bits):
            return all(bits)

        for sentence, make in cases.items():
            with self.subTest(sentence), self.assertRaisesRegex(modlab.ConfigError, sentence):
                make()

    def test_built_in_tasks_draw_themselves(self):
        task = modlab.graph("depth3")
        self.assertIn("data:image/svg+xml", task._repr_html_())
        self.assertEqual(task.to_dict()["tasks"][0]["name"], "depth3")
        self.assertIs(modlab.graph(task), task)
        self.assertIn("depth3", repr(modlab.graph()))


if __name__ == "__main__":
    unittest.main()
