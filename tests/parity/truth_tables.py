"""The Boolean tasks the fixtures train on, as 64-row truth tables and routing tables."""

import torch

INPUTS = 6
ROWS = 64
OUTPUTS = 2

# Row 0 is the most significant bit of each word.
OUTPUT_WORDS = {
    "depth1": (0x0000FFFFFFFF0000, 0x0FF00FF00FF00FF0),
    "depth2": (0x00000FF00FF00000, 0x0660066006600660),
    "depth3": (0x00006FF66FF60000, 0x0660666666660660),
    "B": (0x003F003F3F3F3F3F, 0x15153F3F15153F3F),
}

# Per level, per module: the inputs it reads, in order. Fixed-connectivity networks are built from these.
INPUT_ROUTING = {"depth2": [[(0, 1), (2, 3), (4, 5)], [(0, 1), (1, 2)]]}
OUTPUT_ROUTING = {"depth2": (0, 1)}
MODULE_ROUTING = {"depth2": [(0, 0, 0), (1, 1)]}


def task_parts(task):
    """The single tables a task name stands for: one, or several for a multi-task name such as A+B."""
    return ["depth2" if part == "A" else part for part in task.split("+")]


def input_table():
    rows = torch.arange(ROWS).unsqueeze(1)
    shifts = torch.arange(INPUTS - 1, -1, -1)
    return ((rows >> shifts) & 1).float()


def target_table(part):
    bits = [[(word >> (ROWS - 1 - row)) & 1 for word in OUTPUT_WORDS[part]] for row in range(ROWS)]
    return torch.tensor(bits, dtype=torch.float32)
