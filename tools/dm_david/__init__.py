# SPDX-License-Identifier: GPL-2.0
"""dm-david for programs in Python: fake disks, arrays and pools, drives, simulations, labs and questions.

    import dm_david

    for drive in dm_david.Profile.all():
        print(drive.name, drive.capacity)
    found = dm_david.simulate("prod.blkparse", ["toshiba-p300-3tb"], loop="open")

The commands of `david` and these names call the same functions. Sizes are bytes, times nanoseconds where a
name says nothing else. What goes wrong is an Error with the text that the command would print; what was done
and is not to be believed is said by `believable`, never by an exception.

Disk, Array and Pool need root, the module and dmsetup. Profile and simulate() need david-sim: of the source
tree, of the installed package, or in PATH. Lab and bench() need the package dm-david-lab,
or the source tree.
"""

from __future__ import annotations

from . import _place

_place.find_davidlib()

from davidlib.disk.dm import DeviceError  # noqa: E402
from davidlib.util import VERSION as __version__  # noqa: E402
from davidlib.util import UserError as Error  # noqa: E402

from ._disks import Array, Check, Disk, Pool  # noqa: E402
from ._drives import Profile, Simulation, simulate  # noqa: E402
from ._labs import Answer, Lab, LabResult, bench  # noqa: E402

__all__ = [
    "Answer",
    "Array",
    "Check",
    "DeviceError",
    "Disk",
    "Error",
    "Lab",
    "LabResult",
    "Pool",
    "Profile",
    "Simulation",
    "__version__",
    "bench",
    "simulate",
]
