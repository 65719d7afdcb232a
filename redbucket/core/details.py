"""What an alteration of a judge-side file amounts to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Effect(str, Enum):
    """How much of the old judge is left."""

    NOTHING = "nothing"
    ADDITIVE = "additive"
    CHANGED = "changed"


@dataclass(frozen=True)
class Detail:
    """One thing that the alteration does, in plain words.

    ``unit`` is the qualified name it happens in, "" for the file; ``weakens``
    is True where the new form accepts what the old one refused.
    """

    text: str
    line: int = 1
    unit: str = ""
    weakens: bool = False


@dataclass(frozen=True)
class Alteration:
    """The effect, what was added beside the old judge, and what was changed in it.

    ``unreadable`` is True where no Python here can parse the new form.
    """

    effect: Effect
    additions: tuple[Detail, ...] = ()
    changes: tuple[Detail, ...] = ()
    unreadable: bool = False

    @property
    def weakens(self) -> bool:
        """True if a change is known to weaken."""
        return any(change.weakens for change in self.changes)


UNCHANGED = Alteration(Effect.NOTHING)


def alteration(additions: list[Detail], changes: list[Detail], *, differs: bool = True) -> Alteration:
    """Return the alteration that these details make."""
    if changes:
        return Alteration(Effect.CHANGED, tuple(additions), tuple(changes))
    if additions or differs:
        return Alteration(Effect.ADDITIVE, tuple(additions))
    return UNCHANGED
