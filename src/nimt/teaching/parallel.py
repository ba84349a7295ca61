"""Many lessons side by side on joblib: threads by default, processes or a cluster where the caller configured them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import joblib
from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend

from nimt.arrays import is_whole
from nimt.errors import InvalidInput
from nimt.teaching.running import interrupt_group, lessons_of

if TYPE_CHECKING:
    from nimt.teaching.dask_cluster import Shared

QUICK = 0.02  # seconds: the set-up of shorter lessons holds Python's lock, so threads would only wait for one another
COMPILING = 1.0  # seconds that the first lesson may take before it counts as long: it may have to load an engine

Result = TypeVar("Result")


def check_jobs(n_jobs: object) -> None:
    """Refuse what joblib would not understand as a number of workers."""
    if not is_whole(n_jobs) or n_jobs == 0:
        raise InvalidInput(f"n_jobs must be a count of workers, or -1 for one per core, got {n_jobs!r}")


def first_seeds(teacher: object, seeds: Sequence[int]) -> Sequence[int]:
    """Return the seeds to begin with: all for a teacher that says it draws, else one, which shows whether it does."""
    return seeds if getattr(teacher, "draws", None) is True else seeds[:1]


class Workers:
    """Threads of this process; in `joblib.parallel_config`, the processes or the cluster that it names.

    The engines release Python's lock, so that threads use all cores.

    Parameters
    ----------
    n_jobs : int
        How many; -1 is one per core. A cluster decides for itself.
    shared : objects that occur in many calls
        A cluster gets each of them once per worker, and a worker that starts again gets them again.

    Examples
    --------
    >>> sorted(Workers().each(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """

    def __init__(self, n_jobs: int = -1, shared: Sequence[object] = ()) -> None:
        self.backend, _ = get_active_backend(prefer="threads")
        self.n_jobs = n_jobs
        self._shared: Shared | None = None
        if shared and type(self.backend).__name__ == "DaskDistributedBackend":
            from nimt.teaching.dask_cluster import Shared

            self._shared = Shared(self.backend.client, shared)

    @property
    def in_this_process(self) -> bool:
        """Whether the calls run in this process, where they can call functions of the caller back."""
        return isinstance(self.backend, ThreadingBackend | SequentialBackend)

    def each(self, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]]) -> Generator[Result]:
        """Yield `function(*call)` for every call as soon as it is known, in any order.

        A call is taken from `calls` when a worker is free for it. An error ends all calls, those under way too.
        """
        parallel = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator_unordered")
        if not isinstance(self.backend, ThreadingBackend) or joblib.effective_n_jobs(self.n_jobs) == 1:
            yield from _until_closed(parallel(self._delayed(function, call) for call in calls))
            return
        group = object()
        try:
            for result in _in_threads(parallel, _Grouped(function, group), iter(calls)):
                if isinstance(result, _Left):
                    raise result.reason
                yield result
        except BaseException:
            interrupt_group(group)
            raise

    def _delayed(self, function: Callable[..., Result], call: tuple[Any, ...]) -> Any:
        if self._shared is None:
            return joblib.delayed(function)(*call)
        from nimt.teaching.dask_cluster import with_shared

        return joblib.delayed(with_shared)(function, *(self._shared.tickets.get(id(part), part) for part in call))

    def close(self) -> None:
        """Let a cluster forget what the calls shared."""
        if self._shared is not None:
            self._shared.close()


class _Grouped(Generic[Result]):
    """A function whose lessons end together on Ctrl-C, which only the main thread hears of.

    A thread that raises KeyboardInterrupt or SystemExit would end without a result, and the others would wait for it.
    """

    def __init__(self, function: Callable[..., Result], group: object) -> None:
        self.function = function
        self.group = group

    def __call__(self, *call: Any) -> Result | _Left:
        try:
            with lessons_of(self.group):
                return self.function(*call)
        except (KeyboardInterrupt, SystemExit) as reason:
            return _Left(reason)


@dataclass(frozen=True)
class _Left:
    """Stands for the result of a call that ended the program."""

    reason: BaseException


def _in_threads(
    parallel: joblib.Parallel, function: Callable[..., Result], waiting: Iterator[tuple[Any, ...]]
) -> Iterator[Result]:
    """Yield results one after the other while calls are quick; the first long one and all after it run in threads."""
    patience = COMPILING
    alone = ThreadPoolExecutor(1)
    try:
        for call in waiting:
            under_way = alone.submit(function, *call)
            try:
                result = under_way.result(patience)
            except Late:
                rest = (joblib.delayed(function)(*call) for call in waiting)
                yield from _until_closed(parallel(chain([joblib.delayed(_awaited)(under_way)], rest)))
                return
            yield result
            patience = QUICK
    finally:
        alone.shutdown(wait=False)


def _until_closed(results: Generator[Result]) -> Iterator[Result]:
    """Yield the results; if the caller stops early, end the rest without joblib's warning that this is a waste."""
    try:
        for result in results:  # noqa: UP028 ("yield from" would close them before the warning can be turned off)
            yield result
    except GeneratorExit:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()
        raise


def _awaited(under_way: Future[Result]) -> Result:
    """Take up a worker until the long call, which began before there were any, is over."""
    return under_way.result()
