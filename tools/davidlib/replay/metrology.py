# SPDX-License-Identifier: GPL-2.0
"""How sure a mean is: the GUM's sum of uncertainties, and what to say of a bias that stays.

Formulas: JCGM 100:2008 (GUM); Phillips, Eberhardt, Parry, J. Res. NIST 102, 577 (1997), for a bias that is
not corrected; Pereira, Brasileiro, Sampaio, MSST'16, for replays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .. import student

INFINITE = math.inf


@dataclass(frozen=True)
class Sample:
    """A mean of repeated measurements."""

    mean: float
    deviation: float  # of one measurement
    n: int

    @property
    def error(self) -> float:
        """The standard uncertainty of the mean; of one measurement nothing is known."""
        return self.deviation / math.sqrt(self.n) if self.n > 1 else 0.0

    @property
    def freedom(self) -> float:
        return float(self.n - 1)


@dataclass(frozen=True)
class Source:
    """A line of an uncertainty budget."""

    name: str
    uncertainty: float  # standard, in the measurand's unit
    freedom: float = INFINITE


@dataclass(frozen=True)
class Combined:
    uncertainty: float
    freedom: float
    coverage: float  # the factor k for 95 %

    @property
    def expanded(self) -> float:
        return self.coverage * self.uncertainty


def sample(values: Sequence[float]) -> Sample:
    n = len(values)
    mean = math.fsum(values) / n
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Sample(mean, math.sqrt(squares / (n - 1)) if n > 1 else 0.0, n)


def combine(sources: Sequence[Source], level: float = 0.95) -> Combined:
    """Independent sources: the root of the sum of squares, and degrees of freedom by Welch and Satterthwaite.

    These are rounded down, as the GUM does.
    """
    total = math.sqrt(math.fsum(source.uncertainty**2 for source in sources))
    parts = [
        source.uncertainty**4 / source.freedom
        for source in sources
        if source.uncertainty and source.freedom > 0
    ]
    below = math.fsum(parts)
    freedom = total**4 / below if below else INFINITE
    whole = float(math.floor(freedom)) if math.isfinite(freedom) else freedom
    return Combined(total, whole, student.factor(max(whole, 1.0), level))


def of_replay(bias: float, precision: float, coverage: float = 2.0) -> float:
    """The expanded uncertainty of a replay whose bias stays: k times the root of the sum of squares."""
    return coverage * math.hypot(bias, precision)


def around_bias(bias: float, expanded: float) -> tuple[float, float]:
    """How far the true value may be below and above a result that is too large by @bias, uncorrected."""
    return max(expanded + bias, 0.0), max(expanded - bias, 0.0)


def _ranks(values: Sequence[float]) -> list[float]:
    """From 1 on; equal values share the mean of theirs."""
    order, ranks = sorted(values), {}
    for value in set(values):
        first = order.index(value)
        ranks[value] = first + (order.count(value) + 1) / 2
    return [ranks[value] for value in values]


def rank_correlation(points: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's; None where one side is all alike."""
    if len(points) < 3:
        return None
    x, y = (_ranks([point[i] for point in points]) for i in (0, 1))
    middle = (len(points) + 1) / 2
    both = math.fsum((a - middle) * (b - middle) for a, b in zip(x, y, strict=True))
    sides = [math.fsum((value - middle) ** 2 for value in side) for side in (x, y)]
    return both / math.sqrt(sides[0] * sides[1]) if all(sides) else None


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """By least squares; None where there is no line."""
    x = sample([one for one, _ in points]).mean if points else 0
    y = sample([other for _, other in points]).mean if points else 0
    below = math.fsum((one - x) ** 2 for one, _ in points)
    return math.fsum((one - x) * (other - y) for one, other in points) / below if below else None
