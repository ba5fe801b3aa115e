# SPDX-License-Identifier: GPL-2.0
"""A composed attack: one plan on the control and on fake disks; what is lost there and not here; and the
shortest plan of which that is still true.
"""

from __future__ import annotations

import os
import pickle
import random
import select
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from helpers.attackplan import Plan
from helpers.attackside import Moment, NotBuilt, Side
from helpers.attacksteps import STEPS
from helpers.guest import SCRATCH, Failed, busy, run, say
from helpers.manifest import difference

END = "the end"
AT = SCRATCH / "attack-at"  # what a life is doing now
AGAIN = 3  # so often a life is lived again at most, without what only the control refused
# One side may take so many seconds of the lab's CPU time, and three times as many of the clock: of a life
# that takes longer it is said what it was doing, and it is not judged.
LONGEST = 240
PATIENCE = 3


@dataclass
class Lived:
    moments: list[Moment] = field(default_factory=list)
    wrong: str = ""  # what ended it
    late: str = ""  # it did not end in time
    not_built: str = ""
    steps: int = 0
    squashed: int = 0  # blocks, at once or later
    written: int = 0  # of these, with content of their own
    seconds: dict[str, float] = field(default_factory=dict)  # by what took them: steps by name


@dataclass
class Compared:
    """`wrong` is the first difference. Behind a step that the control alone refused, `alone`, the two sides
    are not in the same state any more: what comes then is compared with nothing.
    """

    wrong: str = ""
    steps: int = 0
    alone: Moment | None = None


@dataclass
class Judged:
    """`wrong` is what fake disks have and the control does not. `control` is what ended the control. `part`
    is where the comparison ended though neither side did: such a life is not clean.
    """

    wrong: str = ""
    control: str = ""
    part: str = ""
    late: str = ""
    not_built: str = ""
    steps: int = 0  # done to fake disks, whoever was asked what they came to
    compared: int = 0  # with the control, in the last of the lives lived
    refused: int = 0
    left_out: list[str] = field(default_factory=list)  # steps that only the control refused
    squashed: int = 0  # blocks; a life in which none is squashed proves nothing of what is kept
    written: int = 0
    seconds: dict[str, float] = field(default_factory=dict)


def lived(plan: Plan, fake: bool) -> Lived:
    """In a process of its own: where a page of a mapping cannot be read, it is killed."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(receive)
            with os.fdopen(send, "wb") as file:
                pickle.dump(lived_here(plan, fake), file)
            status = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(send)
    text = b""
    deadline, spent, late = time.monotonic() + PATIENCE * LONGEST, busy(), True
    with os.fdopen(receive, "rb", buffering=0) as file:
        while (left := deadline - time.monotonic()) > 0 and busy() - spent < LONGEST:
            if not select.select([file], [], [], min(left, 1))[0]:
                continue
            if not (more := file.read(1 << 20)):
                late = False
                break
            text += more
        if late:
            doing = f"{AT.read_text()}; {waiting()}" if AT.exists() else "not begun"
            os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    clean_up()
    if late:
        return Lived(late=f"not ended, at {doing}")
    if status < 0:
        return Lived(wrong=f"killed by {signal.Signals(-status).name}")
    if status:
        raise RuntimeError("a life ended with an exception, which stands above")
    found = pickle.loads(text)
    assert isinstance(found, Lived)
    return found


def lived_here(plan: Plan, fake: bool) -> Lived:
    found = Lived()
    try:
        with ExitStack() as exits:
            side = Side(plan, fake, exits)
            found.moments = side.moments
            try:
                with timed(found, "the beginning"):
                    begin(side)
                for number, (name, seed) in enumerate(plan.steps):
                    with timed(found, name):
                        one_step(side, number, name, seed)
                    found.steps += 1
                side.moments.append(Moment(len(plan.steps), END))
                with timed(found, END):
                    side.moments[-1].tree = side.look()
                side.moments[-1].complaints = side.complaints()
                side.room()
            finally:
                with timed(found, "the way out"):
                    end(side)
                found.squashed, found.written = side.blocks_squashed, side.blocks_written
    except NotBuilt as error:
        found.not_built = " ".join(str(error).split())[:300]
    except (Failed, OSError) as error:
        found.wrong = f"{type(error).__name__}: {error}"
    return found


def waiting() -> str:
    """Who runs, and who sleeps so that nothing wakes them but what they wait for, and where in the kernel."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(")")
            state = rest.split()[0]
            if state in "DR" and name != "python3":
                found.append(f"{name} {state} {(process / 'wchan').read_text().strip('0')}".strip())
    return ", ".join(found) or "nobody runs or waits for a device"


@contextmanager
def timed(found: Lived, what: str) -> Iterator[None]:
    start = time.monotonic()
    AT.parent.mkdir(parents=True, exist_ok=True)
    AT.write_text(f"step {found.steps}, {what}")
    try:
        yield
    finally:
        found.seconds[what] = found.seconds.get(what, 0.0) + time.monotonic() - start


def begin(side: Side) -> None:
    try:
        side.make_bases()
        side.open()
        side.make()
        side.mount()
    except (Failed, OSError) as error:
        raise NotBuilt(str(error)) from None
    side.populate()


def end(side: Side) -> None:
    side.unmount()
    side.close()


def one_step(side: Side, number: int, name: str, seed: int) -> None:
    """What is refused is known, and compared; what ends the life is raised."""
    moment = Moment(number, name)
    side.moments.append(moment)
    looks = name == "fs: look" or name.startswith("cut:")
    try:
        STEPS[name](side, random.Random(seed))
    except (Failed, OSError) as error:
        text = f"step {number}, {name}: {type(error).__name__}: {error}"
        if looks or not side.top:
            raise Failed(text) from None
        moment.refused = text
    moment.complaints = side.complaints()


def clean_up() -> None:
    """What a life that failed, or was killed, has left: mounts, devices, files of devices."""
    points = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for point in reversed([point for point in points if point.startswith(f"{SCRATCH}/")]):
        run("umount", "-l", point, ok=(0, 32))
    for _ in range(8):
        left = [line.split("\t")[0] for line in run("dmsetup", "ls").splitlines() if "\t" in line]
        for name in reversed(left):
            with suppress(Failed, OSError):
                run("dmsetup", "remove", name, ok=(0, 1))
        for line in Path("/proc/mdstat").read_text().splitlines():
            if line.startswith("md1"):
                run("mdadm", "--stop", f"/dev/{line.split()[0]}", ok=(0, 1))
        if left:
            run("losetup", "-D", ok=(0, 1))
        else:
            break
        time.sleep(0.1)
    for path in (*SCRATCH.glob("disk-*"), *SCRATCH.glob("attack-*")):
        run("losetup", "-D", ok=(0, 1))
        path.unlink()
    room = os.statvfs(SCRATCH)
    if left or room.f_bavail < room.f_blocks // 2:
        raise RuntimeError(f"what is left of a life cannot be removed: {left}, {room.f_bavail} blocks free")


def judged(plan: Plan) -> Judged:
    """What only the control refuses ends the comparison: the life is lived again without that."""
    found, compared = once(plan)
    for _ in range(AGAIN):
        if not compared.alone or found.wrong or found.control or found.late:
            break
        left_out = [*found.left_out, f"{compared.alone.name}: {compared.alone.refused}"]
        at = compared.alone.step
        plan = plan.with_steps([*plan.steps[:at], *plan.steps[at + 1 :]])
        before = found
        found, compared = once(plan)
        found.left_out = left_out
        found.steps += before.steps
        found.refused += before.refused
        found.squashed += before.squashed
        found.written += before.written
        for what, seconds in before.seconds.items():
            found.seconds[what] = found.seconds.get(what, 0.0) + seconds
    if compared.alone:
        found.part = f"step {compared.alone.step}, {compared.alone.name}: only the control refused it"
    elif not found.compared:
        found.part = "nothing could be compared"
    return found


def once(plan: Plan) -> tuple[Judged, Compared]:
    """The control first: it is what a difference is measured by."""
    control = lived(plan, False)
    if control.not_built:
        return Judged(not_built=control.not_built), Compared()
    if control.late:
        return Judged(late=f"control: {control.late}"), Compared()
    fake = lived(plan, True)
    refused = sum(bool(moment.refused) for moment in fake.moments)
    found = Judged(control=control.wrong, late=fake.late, steps=fake.steps, refused=refused)
    found.squashed, found.written = fake.squashed, fake.written
    for side, name in ((control, "control"), (fake, "fake")):
        found.seconds |= {f"{name}: {what}": seconds for what, seconds in side.seconds.items()}
    if fake.not_built:
        found.wrong = f"not built, as the control is: {fake.not_built}"
        return found, Compared()
    result = compared(control, fake)
    found.wrong, found.compared = result.wrong, result.steps
    if fake.wrong and not found.wrong and not control.wrong:
        found.wrong = fake.wrong
    if control.wrong and not found.wrong and fake.wrong:
        found.control = f"{control.wrong} (and on fake disks: {fake.wrong})"
    return found, result


def compared(control: Lived, fake: Lived) -> Compared:
    heard: set[str] = set()
    for there in control.moments:
        heard |= set(there.complaints)
    found = Compared()
    for here, there in zip(fake.moments, control.moments, strict=False):
        if there.refused and not here.refused:
            found.alone = there
        elif here.refused and not there.refused:
            found.wrong = here.refused
        elif here.tree and there.tree and (wrong := difference(there.tree, here.tree)):
            found.wrong = f"step {here.step}, {here.name}: the tree is not the control's: " + "\n".join(wrong)
        elif new := [text for text in here.complaints if text not in heard]:
            found.wrong = f"step {here.step}, {here.name}: kernel: " + "\nkernel: ".join(new[:5])
        if found.wrong or found.alone:
            break
        found.steps += here.name != END
    return found


def reduced(plan: Plan, seconds: float, tell: Callable[[str], None] = say) -> Plan:
    """Steps are taken out as long as it still fails: halves first, then less."""
    deadline = time.monotonic() + seconds
    steps = list(plan.steps)
    size = max(len(steps) // 2, 1)
    while time.monotonic() < deadline:
        before = len(steps)
        at = 0
        while at < len(steps) and time.monotonic() < deadline:
            fewer = steps[:at] + steps[at + size :]
            if judged(plan.with_steps(fewer)).wrong:
                steps = fewer
                tell(f"attack: {plan.seed}: it fails with {len(steps)} steps")
            else:
                at += size
        if size == 1 and len(steps) == before:
            break
        size = max(size // 2, 1)
    return plan.with_steps(steps)
