"""What many calls share, on a Dask cluster: sent to every worker once, and to workers that join or restart later."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from distributed import Client, Worker, WorkerPlugin

Result = TypeVar("Result")

_here: dict[str, Sequence[object]] = {}  # what came to this process, by name


class SharedObjects(WorkerPlugin):
    """Things that every worker has. The scheduler keeps them, so that no worker is needed to have them again.

    `Client.scatter` would not do: the cluster drops spare copies, and what only a lost worker had is lost.
    """

    def __init__(self, name: str, things: Sequence[object]) -> None:
        self.name = name
        self.things = things

    def setup(self, worker: Worker) -> None:
        _here[self.name] = self.things

    def teardown(self, worker: Worker) -> None:
        _here.pop(self.name, None)


@dataclass(frozen=True)
class Ticket:
    """What stands in a call for a thing that the worker has."""

    name: str
    number: int


class Shared:
    """The things that calls on a cluster share.

    Parameters
    ----------
    client : distributed.Client
    things : list of objects
    """

    def __init__(self, client: Client, things: Sequence[object]) -> None:
        self.client = client
        self.name: str = f"nimt-{uuid.uuid4().hex}"
        self.tickets: dict[int, Ticket] = {id(thing): Ticket(self.name, number) for number, thing in enumerate(things)}
        _here[self.name] = things  # joblib makes the calls itself while the cluster has a single worker
        client.register_plugin(SharedObjects(self.name, things))

    def close(self) -> None:
        """Let the workers forget them."""
        _here.pop(self.name, None)
        self.client.unregister_worker_plugin(self.name)  # type: ignore[no-untyped-call]


def call_with_shared(function: Callable[..., Result], *call: Any) -> Result:
    """Return `function(*call)` on a worker, where tickets are things again."""
    return function(*(_here[part.name][part.number] if isinstance(part, Ticket) else part for part in call))
