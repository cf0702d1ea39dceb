"""A Dask cluster that runs a command's jobs."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import click

from bgsub.errors import DependencyError, SinkError

__all__ = ["check_jobs", "dask_executor"]


def check_jobs(jobs: int, address: str | None) -> None:
    """Refuse processes of this machine beside a cluster.

    Raises
    ------
    click.UsageError
        If both are asked for.
    """
    if address is not None and jobs > 1:
        raise click.UsageError("--dask uses the workers of the cluster; leave out --jobs")


@contextmanager
def dask_executor(address: str | None) -> Iterator[Executor | None]:
    """Connect to the Dask scheduler at an address; None without one.

    Raises
    ------
    DependencyError
        If distributed is not installed.
    SinkError
        If no scheduler answers.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise DependencyError("--dask needs the package distributed; pip install 'bgsub[cluster]'") from error
    try:
        client = Client(address, timeout=10, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise SinkError(f"no Dask scheduler answers at {address}; check the address, or use --jobs") from error
    with client:
        yield client.get_executor(pure=False, retries=0)  # type: ignore[no-untyped-call]
