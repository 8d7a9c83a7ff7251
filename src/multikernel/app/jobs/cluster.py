"""A cluster of Dask for a job: its problems, folds and candidates become tasks there."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 10.0  # seconds to wait for a scheduler


@contextmanager
def working_on(scheduler: str | None) -> Iterator[None]:
    """Work on the cluster of the scheduler with this address; None is this process.

    Raises
    ------
    ValueError : where Dask is not installed, or no scheduler answers
    """
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("--scheduler takes a cluster of Dask: pip install multikernel[dask]") from None
    from joblib import parallel_config

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client = Client(scheduler, timeout=_PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(
            f"no scheduler of Dask answers at {scheduler!r} ({reason}); `dask scheduler` starts one and tells its "
            "address"
        ) from None
    with client, parallel_config(backend="dask", client=client, n_jobs=-1):
        yield
