"""What a fit will take, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Forecast:
    """What a fit will take, as far as it is known beforehand.

    Parameters
    ----------
    estimator : str, the name of its class
    kernels, samples, problems : int
    seconds : float or None, on this machine while nothing else runs; None where nobody knows
    bytes : float, that the fit takes at a time, beside what the process holds before
    memory : float, bytes that are available to this process
    form : str, how the kernels are held
    """

    estimator: str
    kernels: int
    samples: int
    problems: int
    seconds: float | None
    bytes: float
    memory: float
    form: str

    @property
    def fits(self) -> bool:
        """Whether the memory is enough."""
        return self.bytes <= self.memory

    def __str__(self) -> str:
        kernels = f"{self.kernels:,} kernel{'s' * (self.kernels != 1)} of {self.samples:,} samples, {self.form}"
        problems = f", {self.problems} problems" if self.problems > 1 else ""
        time = "a time that is not known beforehand" if self.seconds is None else _duration(self.seconds)
        more = "" if self.fits else f", and {_size(self.memory)} are available"
        return f"{self.estimator}: {time} and {_size(self.bytes)}{more}: {kernels}{problems}"


def _duration(seconds: float) -> str:
    """In the unit that people say it in."""
    for least, unit, name in ((7200.0, 3600.0, "hours"), (120.0, 60.0, "min"), (0.1, 1.0, "s")):
        if seconds >= least:
            return f"about {float(f'{seconds / unit:.2g}'):,g} {name}"
    return "less than 0.1 s"


def _size(number: float) -> str:
    """Bytes, as megabytes or gigabytes."""
    return f"{float(f'{number / 1e9:.2g}'):,g} GB" if number >= 1e9 else f"{max(1.0, number / 1e6):.0f} MB"
