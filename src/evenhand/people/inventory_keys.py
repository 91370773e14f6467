"""Keys of published inventories: which item belongs to which scale, and which are turned round.

The items themselves belong to their authors and are not here. They are numbered as in the article
that first printed them; agreement is the high end of the scale, and a high score is the more sexist
one. Whoever uses another version numbers its items like this one, or writes the key by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.core.errors import UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryKey:
    """How an inventory is scored."""

    name: str
    citation: str
    items: int  # numbered from 1
    low: int
    high: int
    subscales: Mapping[str, tuple[int, ...]]
    reversed: tuple[int, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that the items must have: 1, 2, 3 ..."""
        return tuple(str(number) for number in range(1, self.items + 1))


_KEYS = (
    InventoryKey(
        name="modern-sexism",
        citation=(
            "Swim, Aikin, Hall, Hunter (1995). Sexism and racism: Old-fashioned and modern "
            "prejudices. Journal of Personality and Social Psychology 68(2), 199-214."
        ),
        items=8,
        low=1,
        high=5,
        subscales={
            "denial of discrimination": (1, 2, 3, 4, 5),
            "antagonism toward demands": (6, 7),
            "resentment of special favours": (8,),
        },
        reversed=(2, 6, 7),
    ),
    InventoryKey(
        name="ambivalent-sexism",
        citation=(
            "Glick, Fiske (1996). The Ambivalent Sexism Inventory: Differentiating hostile and "
            "benevolent sexism. Journal of Personality and Social Psychology 70(3), 491-512."
        ),
        items=22,
        low=0,
        high=5,
        subscales={
            "hostile": (2, 4, 5, 7, 10, 11, 14, 15, 16, 18, 21),
            "benevolent": (1, 3, 6, 8, 9, 12, 13, 17, 19, 20, 22),
            "protective paternalism": (3, 9, 17, 20),
            "complementary gender differentiation": (8, 19, 22),
            "heterosexual intimacy": (1, 6, 12, 13),
        },
        reversed=(3, 6, 7, 13, 18, 21),
    ),
)
INVENTORY_KEYS: Mapping[str, InventoryKey] = {key.name: key for key in _KEYS}


def inventory_key(name: str) -> InventoryKey:
    """The key of a published inventory; UnknownNameError that suggests close names."""
    if name not in INVENTORY_KEYS:
        raise UnknownNameError("key of an inventory", name, tuple(INVENTORY_KEYS))
    return INVENTORY_KEYS[name]
