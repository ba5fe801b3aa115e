# SPDX-License-Identifier: GPL-2.0
"""Student's t: by which factor of its standard error a mean of few measurements is uncertain."""

from __future__ import annotations

import math


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / ((1 - (a + b) * x / (a + 1)) or tiny)
    whole = d
    for m in range(1, 500):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / ((1 + step * d) or tiny)
            c = (1 + step / c) or tiny
            whole *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return whole


def _beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    logs = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(1 - x)
    if x < (a + 1) / (a + b + 2):
        return math.exp(logs) * _fraction(a, b, x) / a
    return 1 - math.exp(logs) * _fraction(b, a, 1 - x) / b


def factor(freedom: float, level: float = 0.95) -> float:
    """The factor that covers @level of both sides, for so many degrees of freedom."""
    freedom = min(freedom, 1e6)
    if freedom <= 0:
        return math.inf
    low, high = 0.0, 1e5
    for _ in range(200):
        middle = (low + high) / 2
        covered = 1 - _beta(freedom / 2, 0.5, freedom / (freedom + middle * middle))
        low, high = (middle, high) if covered < level else (low, middle)
    return (low + high) / 2
