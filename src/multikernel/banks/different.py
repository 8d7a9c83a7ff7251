"""Which of many kernels are the same."""

from __future__ import annotations

from dataclasses import dataclass, field

from multikernel.kernels.base import Kernel


@dataclass(frozen=True)
class Different:
    """The different ones among kernels that are looked at one after the other.

    They are found by how they are written, which is fast, and then compared: kernels of other packages may be written
    alike and differ.

    Parameters
    ----------
    known : dict, the different kernels that are written in one way
    """

    known: dict[str, list[Kernel | None]] = field(default_factory=dict)

    def place(self, kernel: Kernel | None) -> tuple[str, int]:
        """A key of the kernel, the same for kernels that are equal."""
        written = repr(kernel)
        alike = self.known.setdefault(written, [])
        place = next((place for place, other in enumerate(alike) if other == kernel), len(alike))
        if place == len(alike):
            alike.append(kernel)
        return written, place
