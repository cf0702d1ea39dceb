"""A Dask cluster that runs a command's jobs."""

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import click

from bgsub.errors import DependencyError, SinkError

__all__ = ["check_jobs", "dask_executor"]

_ADDRESS = re.compile(r"([a-z]+://)?[^@/\s]+:[0-9]+/?")
"""With a port, without which Dask fails late and at length, and without a password, which it does not know."""


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
    click.UsageError
        If it is no address of a scheduler.
    DependencyError
        If distributed is not installed.
    SinkError
        If no scheduler answers.
    """
    if address is None:
        yield None
        return
    if not _ADDRESS.fullmatch(address):
        raise click.UsageError("--dask must be the address of a scheduler with its port, such as tcp://10.0.0.5:8786")
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
