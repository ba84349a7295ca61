"""Many lessons side by side on joblib: threads by default, processes or a cluster where the caller configured them."""

from __future__ import annotations

import contextlib
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import joblib
from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend

from nimt.arrays import is_whole
from nimt.errors import InvalidInput
from nimt.session.interrupts import interrupt_group, lessons_of

if TYPE_CHECKING:
    from nimt.runs.dask_cluster import Shared

QUICK = 0.02  # seconds: the set-up of shorter lessons holds Python's lock, so threads would only wait for one another
TOGETHER = 0.1  # seconds for which results of quick lessons are gathered
COMPILING = 1.0  # seconds that the first lesson may take before it counts as long: it may have to load an engine

Result = TypeVar("Result")


def check_jobs(n_jobs: object) -> None:
    """Refuse what joblib would not understand as a number of workers."""
    if not is_whole(n_jobs) or n_jobs == 0:
        raise InvalidInput(f"must be a count of workers, or -1 for one per core, got {n_jobs!r}", parameter="n_jobs")


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
            from nimt.runs.dask_cluster import Shared

            self._shared = Shared(self.backend.client, shared)

    @property
    def in_this_process(self) -> bool:
        """Whether the calls run in this process, where they can call functions of the caller back."""
        return isinstance(self.backend, ThreadingBackend | SequentialBackend)

    def each(
        self, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]], *, at_once: bool = True
    ) -> Generator[Result]:
        """Yield `function(*call)` for every call as soon as it is known, in any order.

        A call is taken from `calls` when a worker is free for it. An error ends all calls, those under way too. Where
        results need not come at once, those of quick calls come a few at a time, which takes less time.
        """
        parallel = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator_unordered")
        if not isinstance(self.backend, ThreadingBackend) or joblib.effective_n_jobs(self.n_jobs) == 1:
            yield from _until_closed(parallel(self._delay(function, call) for call in calls))
            return
        group = object()
        try:
            for result in _in_threads(parallel, _Grouped(function, group), iter(calls), 0.0 if at_once else TOGETHER):
                if isinstance(result, _Left):
                    raise result.reason
                yield result
        except BaseException:
            interrupt_group(group)
            raise

    def _delay(self, function: Callable[..., Result], call: tuple[Any, ...]) -> Any:
        if self._shared is None:
            return joblib.delayed(function)(*call)
        from nimt.runs.dask_cluster import call_with_shared

        return joblib.delayed(call_with_shared)(function, *(self._shared.tickets.get(id(part), part) for part in call))

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


class _QuickCalls(Generic[Result]):
    """Calls taken one after the other in a thread, until they have taken some seconds together or are to stop.

    Parameters
    ----------
    function, waiting : as in `Workers.each`
    seconds : float
        0 for one call at a time.
    """

    def __init__(self, function: Callable[..., Result], waiting: Iterator[tuple[Any, ...]], seconds: float) -> None:
        self.function = function
        self.waiting = waiting
        self.seconds = seconds
        self._taking = threading.Lock()  # `waiting` is a generator: two threads must not ask it at once
        self._are_enough = False
        self.longest: float = 0.0  # seconds of a call, but for the first, which may have to load an engine
        self._began = False

    def some(self) -> list[Result]:
        """Return the next results; an empty list if nothing waits."""
        results: list[Result] = []
        now = time.perf_counter()
        end = now + self.seconds
        while not results or now < end:
            with self._taking:
                call = None if self._are_enough else next(self.waiting, None)
            if call is None:
                break
            results.append(self.function(*call))
            if isinstance(results[-1], _Left):
                break
            before, now = now, time.perf_counter()
            self.longest = max(self.longest, now - before) if self._began else 0.0
            self._began = True
        return results

    def stop(self) -> None:
        """Take no call after the one under way."""
        with self._taking:
            self._are_enough = True


def _in_threads(
    parallel: joblib.Parallel,
    function: Callable[..., Result],
    waiting: Iterator[tuple[Any, ...]],
    together: float,
) -> Iterator[Result]:
    """Yield results one after the other while calls are quick; the first long one and all after it run in threads.

    `together` is for how many seconds quick calls are gathered: handing each to this thread takes a tenth of a
    millisecond, a share of a small lesson that can be seen.
    """
    patience, first = COMPILING, []
    alone = ThreadPoolExecutor(1)
    quick = _QuickCalls(function, waiting, together)
    try:
        while quick.longest < QUICK:
            under_way = alone.submit(quick.some)
            try:
                results = under_way.result(patience)
            except Late:
                quick.stop()
                first = [joblib.delayed(under_way.result)()]
                break
            if not results:
                return
            yield from results
            patience = QUICK + together
        rest = (joblib.delayed(_alone)(function, *call) for call in waiting)
        with contextlib.closing(_until_closed(parallel(chain(first, rest)))) as gathered:
            for several in gathered:
                yield from several
    finally:
        quick.stop()
        alone.shutdown(wait=False)


def _alone(function: Callable[..., Result], *call: Any) -> list[Result]:
    return [function(*call)]


def _until_closed(results: Generator[Result]) -> Generator[Result]:
    """Yield the results; if the caller stops early, end the rest without joblib's warning that this is a waste."""
    try:
        for result in results:  # noqa: UP028 ("yield from" would close them before the warning can be turned off)
            yield result
    except GeneratorExit:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()
        raise
