# SPDX-License-Identifier: GPL-2.0
"""One experiment of the paper's evaluation, in its lab.

    python3 -m davidlib.paper.guest RUN.json RESULT.json
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from ..bench import testbed
from . import images, load, requests, storage, table2, table3

EXPERIMENTS = {
    "table2": table2.run,
    "table3": table3.run,
    "figure1": images.figure_1,
    "figure4": load.figure_4,
    "figure6": requests.figure_6,
    "figure7": requests.figure_7,
    "figure8": images.figure_8,
    "figure9": load.figure_9,
    "kept": storage.run,
}


def main() -> int:
    description, place = map(Path, sys.argv[1:3])
    os.chdir("/")  # from where davidlib is
    run = json.loads(description.read_text())
    try:
        result = EXPERIMENTS[run["experiment"]](run)
    except testbed.ERRORS as error:
        print(f"paper: {error}", file=sys.stderr)
        return 1
    place.write_text(testbed.answer(run, result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
