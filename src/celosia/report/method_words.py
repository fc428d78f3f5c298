"""What methods are called, and what each of the two criteria promises."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "suppress": "cell suppression",
    "interval": "interval publication",
    "combined": "combined suppression",
    "mixed": "a mixed release",
    "round": "controlled rounding",
    "perturb": "cell perturbation",
    "adjust": "controlled tabular adjustment",
    "random-round": "random rounding",
}
"""What the method of each name is called."""

PROMISE: Mapping[str, str] = {
    "intervals": "what attackers can conclude is as wide as required",
    "distance": "published values of sensitive cells are far from the truth; what attackers conclude is not known",
}
"""What a criterion that is met means."""
