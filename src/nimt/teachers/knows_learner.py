"""What a teacher knows of its learner beside the predictions: parts that it was given, or sees."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from nimt.errors import InvalidInput
from nimt.kernels import as_kernel
from nimt.learners.learner import PARTS, check_rate
from nimt.losses import as_loss
from nimt.wording import Wording

if TYPE_CHECKING:
    from nimt.teachers.teacher import View


class KnowsLearner:
    """A teacher, by what it knows: its parameters `kernel`, `loss` and `learning_rate` where it has them."""

    sees: ClassVar[tuple[str, ...]] = ()
    does_without: ClassVar[tuple[str, ...]] = ()  # of what it sees, parts that a learner need not have
    hears_answers_only: ClassVar[bool] = False  # whether it reads the learner by `view.ask` alone

    @property
    def kind(self) -> Wording:
        raise NotImplementedError

    @property
    def opens(self) -> tuple[str, ...]:
        """What it sees of the learner with these options: `sees`, or less."""
        return self.sees

    @property
    def access(self) -> str:
        if self.hears_answers_only:
            return "black box"
        return "white box" if self.opens or self.known_parts else "gray box"

    @property
    def known_parts(self) -> dict[str, Any]:
        """What it knows of the learner by its own parameters."""
        unknown = [part for part in self.opens if part not in PARTS]
        if unknown:
            raise InvalidInput(f"must be of {', '.join(map(repr, PARTS))}, got {unknown[0]!r}", parameter="sees")
        given = ((part, getattr(self, PARTS[part], None)) for part in self.opens)
        return {part: value for part, value in given if value is not None}

    def check_parts(self) -> None:
        """Refuse parameters that are no rate, loss or kernel, and keep a kernel of scikit-learn as one of ours."""
        rate, loss, kernel = (getattr(self, PARTS[part], None) for part in ("rate", "loss", "kernel"))
        if callable(rate):
            raise InvalidInput("must be a number or 'auto', got a callable", parameter="learning_rate")
        if rate is not None:
            check_rate(rate)
        if loss is not None:
            as_loss(loss)
        if kernel is not None:
            object.__setattr__(self, PARTS["kernel"], as_kernel(kernel))

    @cached_property  # asked for at every step of the reference loop; the fields do not change
    def is_informed(self) -> bool:
        """Whether it knows all that it sees; a rate that changes with the step is seen in each view."""
        return all(part in self.known_parts or part in self.does_without for part in self.opens)

    def inform(self, known: Mapping[str, Any]) -> Self:
        """Return the teacher with those parts of a learner that it sees and was not given; None where it has none."""
        missing = {
            PARTS[part]: known[part]
            for part in self.opens
            if known.get(part) is not None and getattr(self, PARTS[part], 0) is None
        }
        return dataclasses.replace(self, **missing) if missing else self  # type: ignore[type-var]

    def inform_by(self, view: View) -> Self:
        """Return the teacher with what it sees of the learner in a view; refuse a view without it."""
        known = {"kernel": view.kernel, "loss": view.loss, "rate": view.rate}
        self.check_known(known, "this view")
        return self.inform(known)

    def check_known(self, known: Mapping[str, Any], learner: str) -> None:
        """Refuse a learner that has not what the teacher sees."""
        for part in self.opens:
            if known.get(part) is None and part not in self.known_parts and part not in self.does_without:
                problem = self.kind.embed(after=f" sees the learner's {part}, and {learner} has none")
                raise InvalidInput(problem, way_out=f"give {PARTS[part]}=")
