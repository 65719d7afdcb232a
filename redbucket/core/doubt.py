"""What few reruns can know: probabilities for independent runs of one test.

All of it is arithmetic on a constant failure rate ``p``. Real flakes are worse
behaved than that, so these numbers are the best case and are reported as such.
"""

from __future__ import annotations

import math
from collections.abc import Callable

CONFIDENCE = 0.95
RARE = 20


def doubt(n_failed: int, m_base_passed: int) -> float:
    """Return the largest probability that a flake fails n of n in head and passes m of m in base.

    That is max over p of p^n (1-p)^m, reached at p = n / (n + m). Without any
    run of base it is 1: a test that always fails explains as much.
    """
    n, m = max(0, n_failed), max(0, m_base_passed)
    if n == 0 or m == 0:
        return 1.0
    return math.exp(n * math.log(n / (n + m)) + m * math.log(m / (n + m)))


def reruns_for(target: float, n_failed: int = 0, m_base_passed: int = 0) -> int:
    """Return how many more runs, in head and in base alike, bring the doubt to ``target`` or below.

    Raises ``ValueError`` unless 0 < target <= 1: no number of runs gives certainty.
    """
    if not 0.0 < target <= 1.0:
        raise ValueError(f"a doubt must be above 0 and at most 1, not {target!r}")
    more = 0
    # Each pair of runs divides the doubt by about four, so this ends after log4(1/target) steps.
    while doubt(n_failed + more, m_base_passed + more) > target:
        more += 1
    return more


def chance_mixed(p: float, n: int) -> float:
    """Return the probability that ``n`` runs show both outcomes, for failure rate ``p``."""
    return max(0.0, 1.0 - p**n - (1.0 - p) ** n)


def visible_rate(n: int, confidence: float = CONFIDENCE) -> float:
    """Return the smallest failure rate that fails at least once in ``n`` runs with ``confidence``."""
    return 1.0 - (1.0 - confidence) ** (1.0 / n) if n > 0 else 1.0


def clopper_pearson_lower(k: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Return the exact one-sided lower bound of a rate of which ``k`` of ``n`` was seen.

    Clopper and Pearson 1934; 10 of 10 gives 0.741 at 95 %. Raises ``ValueError``
    unless 0 <= k <= n.
    """
    _check(k, n)
    if k == 0:
        return 0.0
    return _root(lambda p: _at_least(k, n, p) < 1.0 - confidence)


def clopper_pearson_upper(k: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Return the exact one-sided upper bound of a rate of which ``k`` of ``n`` was seen.

    Raises ``ValueError`` unless 0 <= k <= n.
    """
    return 1.0 - clopper_pearson_lower(n - k, n, confidence) if n else 1.0


def blind_spot(n: int, confidence: float = CONFIDENCE) -> str:
    """Return the sentence that says which flakes ``n`` runs probably miss."""
    if n <= 0:
        return "no run was made, so nothing was seen"
    runs = "1 run shows" if n == 1 else f"{n} runs show"
    rate = visible_rate(n, confidence)
    return (
        f"{runs} a flake with {confidence:.0%} probability only if it fails {rate:.0%} of the time; "
        f"one that fails 1 time in {RARE} stays unseen {(1 - 1 / RARE) ** n:.0%} of the time"
    )


def _check(k: int, n: int) -> None:
    if not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is not a count")


def _at_least(k: int, n: int, p: float) -> float:
    """Return P(X >= k) for X ~ Binomial(n, p), by logarithms so that a large n does not overflow."""
    if p <= 0.0:
        return 0.0
    if p >= 1.0:
        return 1.0
    log_p, log_q, whole = math.log(p), math.log1p(-p), math.lgamma(n + 1)
    terms = (
        math.exp(whole - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * log_p + (n - i) * log_q)
        for i in range(k, n + 1)
    )
    return math.fsum(terms)


def _root(below: Callable[[float], bool]) -> float:
    """Return where ``below`` turns False on [0, 1]; 60 halvings are finer than a double needs."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        if below(middle):
            low = middle
        else:
            high = middle
    return low
