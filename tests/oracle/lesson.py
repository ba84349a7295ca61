"""Algorithm 1 of the paper, step by step beside the record of a lesson: the first thing that is wrong is raised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from oracle import kernels, losses, records
from oracle.family import NothingLeft
from oracle.problem import Problem, number_at, start_at
from oracle.schedules import looks
from oracle.synthesis import LabelMaker
from oracle.teachers import Pack, Undecided, View, rule_of

Record = dict[str, Any]
RELATIVE = 1e-9  # of a measure: engines sum in another order, and keep sums up to date by differences
EPS = float(np.finfo(float).eps)


class Wrong(AssertionError):
    """What the record says cannot be."""


def require(holds: Any, text: str) -> None:
    if not holds:
        raise Wrong(text)


def near(got: Any, expected: np.ndarray, off: float, text: str) -> None:
    """Require an array of the same shape and of the same numbers, up to `off`."""
    if isinstance(got, str):
        raise Wrong(f"{text}: {got}")
    got = np.asarray(got)
    require(got.shape == expected.shape, f"{text} has shape {got.shape}, not {expected.shape}")
    same = (got == expected) | (abs(got - expected) <= off) | (np.isnan(got) & np.isnan(expected))
    if not np.all(same):
        raise Wrong(f"{text} is off by {np.max(abs(got - expected)):.3g} where {off:.1g} is allowed")


class Taught:
    """The learner as the oracle knows it: its values on the pool, then at the probes, then at held-out points."""

    def __init__(self, problem: Problem, automatic: float | None) -> None:
        self.problem, self.automatic, self.n = problem, automatic, len(problem.points)
        places = [problem.points, problem.probes] + ([] if problem.holdout is None else [problem.holdout[0]])
        self.values = np.concatenate([start_at(problem, part) for part in places])
        self.K = kernels.matrix(problem.kernel, np.concatenate(places), problem.points)
        self.own_K = [kernels.matrix(one, np.concatenate(places), problem.points) for one, _ in problem.members]
        self.highest = np.max([abs(one).max(axis=0) for one in [self.K, *self.own_K]], axis=0)
        self.diagonal = kernels.diagonal(problem.kernel, problem.points)
        self.noise = 0.0 if problem.start[0] != "weights" else 8 * EPS * self.scale

    @property
    def scale(self) -> float:
        return float(max(abs(self.values).max(), abs(self.problem.target).max()))

    @property
    def f(self) -> np.ndarray:
        return self.values[: self.n]

    def learn(self, step: int, packs: list[Pack], slopes: list[np.ndarray]) -> None:
        """Move: one pack for all outputs, or one for each; f <- f - eta / k sum_j slope_j K(x_j, .)."""
        before, moved = self.scale, 0.0
        if self.problem.members:
            moved = self.learn_in_class(step, packs[0], slopes[0])
        for output, (pack, slope) in enumerate([] if self.problem.members else zip(packs, slopes, strict=True)):
            outputs = slice(None) if len(packs) == 1 else slice(output, output + 1)
            change = -self.problem.rate_at(step, self.automatic) / len(pack) * slope
            self.values[:, outputs] += self.K[:, pack] @ change  # a pack may show the same point twice
            moved += float(abs(change).max(axis=1) @ self.highest[pack])
        growth = max(1.0, self.scale / before) if before > 0 else 1.0
        self.noise = self.noise * growth + 16 * EPS * (self.scale + moved)

    def learn_in_class(self, step: int, pack: Pack, slope: np.ndarray) -> float:
        """Move each learner of a class, whose values are a column, by its own kernel and rate; return how far."""
        moved = 0.0
        for j, (_, rate) in enumerate(self.problem.members):
            change = -number_at(rate, step) / len(pack) * slope[:, j]
            self.values[:, j] += self.own_K[j][:, pack] @ change
            moved += float(abs(change) @ self.highest[pack])
        return moved

    def mix(self, matrix: np.ndarray) -> None:
        before = self.scale
        self.noise = (self.noise + 16 * EPS * before) * max(1.0, float(abs(matrix).sum(axis=1).max()))
        self.values = self.values @ matrix.T


class Judge:
    """A lesson beside its record; without indices in the record the oracle chooses alone, as far as nothing ties."""

    def __init__(self, problem: Problem, record: Record) -> None:
        self.problem, self.record = problem, record
        self.taught = Taught(problem, record["rate"])
        self.spec, self.rules = problem.teacher, problem.rules
        self.budget = self.rules["max_iterations"]
        pool, self.selection, self.labels = np.random.default_rng(self.rules["seed"]).spawn(3)
        self.candidates = self.allowed(pool)
        self.separate = self.spec.get("per_output", False)
        self.rule = [rule_of(self.spec) for _ in range(problem.q if self.separate else 1)]
        self.makers: list[LabelMaker] = []
        self.M: list[float] = record["discrepancy"].tolist()
        self.T = len(self.M) - 1
        self.best, self.best_at = math.inf, 0
        self.mixes = 0
        self.picks = np.zeros(self.taught.n, dtype=int)

    def allowed(self, stream: np.random.Generator) -> np.ndarray:
        pool, n = self.spec.get("pool"), self.taught.n
        if pool is None:
            return np.arange(n)
        if isinstance(pool, float):
            return np.array(sorted(stream.choice(n, size=max(1, math.floor(pool * n)), replace=False)))
        pool = np.asarray(pool)
        return np.array([i for i in range(n) if (pool.ravel()[i] if pool.dtype == bool else i in pool)])

    def judge(self) -> bool:
        """Raise `Wrong`, or return whether all could be judged: a record without indices ends at the first tie."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self.check_rate()
            at_start, _ = self.measure()
            self.limit = 1e6 * at_start if at_start > 0 and self.rules["measure"] != "accuracy" else math.inf
            try:
                self.steps()
            except Undecided:
                return False
            self.check_end()
        return True

    def check_rate(self) -> None:
        if self.problem.rate == "auto" and self.spec.get("k", 1) == 1 and isinstance(self.spec.get("k", 1), int):
            bound = 1 / (losses.SMOOTHNESS[self.problem.loss[0]] * self.taught.diagonal.max())
            near(self.record["rate"], np.array(bound), 1e-12 * bound, "the learning rate 'auto'")

    def steps(self) -> None:
        for t in range(self.T + 1):
            if t == 0:
                self.look_aside(t)
            self.mix_if_due(t)
            M, off = self.measure()
            got = self.M[t]
            allowed = off + RELATIVE * abs(M)
            require(
                abs(got - M) <= allowed or got == M or math.isnan(M),
                f"the discrepancy at step {t} is {got!r}, not {M!r}",
            )
            self.look_at(t)
            outcome = self.outcome_at(t)
            if outcome is None and t == self.budget:
                outcome = "BUDGET"
            shown: list[Pack] | None = None
            if outcome is None:
                outcome, shown = self.show(t)
            if outcome is not None:
                require(t == self.T, f"the lesson goes on after step {t}, at which it is {outcome}")
                require(self.record["outcome"] == outcome, f"the outcome is {self.record['outcome']}, not {outcome}")
                return
            require(t < self.T, f"the lesson ends at step {t} as {self.record['outcome']}, and nothing ended it")
            assert shown is not None
            for pack in shown:
                np.add.at(self.picks, pack, 1)

    def measure(self) -> tuple[float, float]:
        return records.measure(self.rules["measure"], self.taught.f, self.problem.target, self.taught.noise)

    def outcome_at(self, t: int) -> str | None:
        """Apply the rules to the numbers of the record, which were compared with the true ones."""
        M, tol, patience = self.M[t], self.rules["tol"], self.rules["patience"]
        rises = self.rules["measure"] == "accuracy"
        if not math.isfinite(M) or self.limit < M:
            return "DIVERGED"
        if tol is not None and (tol <= M if rises else tol > M):
            return "REACHED" if rises else "CONVERGED"
        if (-M if rises else M) < self.best:
            self.best, self.best_at = -M if rises else M, t
        return "STALLED" if patience is not None and t - self.best_at >= patience else None

    # ------------------------------------------------------------ one step

    def show(self, t: int) -> tuple[str | None, list[Pack] | None]:
        """Choose, label and learn; or return why the lesson ends before that."""
        recorded = None if self.record["indices"] is None or t == self.T else self.recorded_packs(t)
        f, target, c = self.taught.f, self.problem.target, self.candidates
        columns = [slice(o, o + 1) for o in range(self.problem.q)] if self.separate else [slice(None)]
        places = {int(index): place for place, index in enumerate(c)}
        packs: list[Pack] = []
        for number, (rule, part) in enumerate(zip(self.rule, columns, strict=True)):
            view = View(
                t,
                self.budget,
                self.problem.points[c],
                f[c][:, part],
                target[c][:, part],
                c,
                self.selection,
                self.taught.noise,
            )
            asked = None
            if recorded is not None:
                require(
                    all(i in places for i in recorded[number]),
                    f"step {t} shows {recorded[number]}, not all in the pool",
                )
                asked = [places[i] for i in recorded[number]]
            try:
                chosen = rule.choose(view, asked)
            except NothingLeft:
                return "ALL_SHOWN", None
            except Undecided:
                if t == self.T and self.record["outcome"] in ("STATIONARY", "AT_REST"):
                    return self.record["outcome"], None  # what was not shown is not known
                raise
            require(
                asked is None or chosen == asked,
                f"step {t} shows {recorded and recorded[number]}, not {c[chosen].tolist()}",
            )
            packs.append([int(i) for i in c[chosen]])
        self.view = view
        labels = self.labels_of(t, packs, columns)
        if (
            self.problem.loss[0] == "perceptron"
            and t > 0
            and any((abs(f[pack]) <= self.taught.noise).any() for pack in packs)
        ):
            raise Undecided  # the kink is at f = 0, and rounding decides on which side f is
        slopes = [
            losses.slope(self.problem.loss, f[pack][:, part], label)
            for pack, part, label in zip(packs, columns, labels, strict=True)
        ]
        slopes = self.weighed(t, packs, slopes)
        ended = self.stillness(t, packs, slopes)
        if ended is not None:
            return ended, None
        if t < self.T:
            self.taught.learn(t, packs, slopes)
        return None, packs

    def weighed(self, t: int, packs: list[Pack], slopes: list[np.ndarray]) -> list[np.ndarray]:
        """Return the slopes times the weights of the examples, those of the record where these are right."""
        got = self.record["weights"]
        if not hasattr(self.rule[0], "weigh"):
            require(got is None, "weights are recorded, and the teacher gives none")
            return slopes
        places = [int(np.flatnonzero(self.candidates == index)[0]) for index in packs[0]]
        weights, off = self.rule[0].weigh(self.view, places)
        if got is not None and t < self.T:
            near(got[t][: len(weights)], weights, off, f"the weight of step {t}")
            weights = got[t][: len(weights)]
        return [slopes[0] * weights[:, np.newaxis]]

    def recorded_packs(self, t: int) -> list[Pack]:
        row = self.record["indices"][t].tolist()
        shown = [i for i in row if i >= 0]
        require(row == shown + [-1] * (len(row) - len(shown)), f"the row of step {t} is {row}")
        if not self.separate:
            return [shown]
        k = len(shown) // self.problem.q
        return [shown[o * k : (o + 1) * k] for o in range(self.problem.q)]

    def labels_of(self, t: int, packs: list[Pack], columns: list[slice]) -> list[np.ndarray]:
        """Return the labels (k, outputs) of each pack, compared with those of the record."""
        source, off = self.problem.target, 0.0
        if self.spec.get("other") is not None and self.labels.random() < self.spec["probability"]:
            source = self.spec["other"]
        labels = [source[pack][:, part] for pack, part in zip(packs, columns, strict=True)]
        if self.spec["kind"] == "synthesis":
            labels = self.made(t, packs, columns)
            off = 1e-8 * max(float(abs(part).max()) for part in labels) + 1e4 * self.taught.noise
        if self.spec["kind"] == "last":
            if self.record["labels"] is None:
                raise Undecided  # rounding of f is divided by the rate, and what was shown is not known
            places = [int(np.flatnonzero(self.candidates == index)[0]) for index in packs[0]]
            made, off = self.rule[0].labels(self.view, places)
            labels = [made]
        if self.record["labels"] is None or t == self.T:
            return labels
        count = sum(map(len, packs))
        got = self.record["labels"][t][:count]
        expected = np.concatenate(labels)
        flat = self.separate or self.problem.q == 1
        require(
            np.isnan(self.record["labels"][t][count:]).all(), f"step {t} has labels of examples that it does not show"
        )
        if self.makers and any(maker.lost for maker in self.makers):
            off = math.inf
        near(got, expected[:, 0] if flat else expected, off, f"the label of step {t}")
        if self.spec["kind"] == "last":
            return [np.asarray(got).reshape(expected.shape)]
        if not self.makers:
            return labels
        ends = np.cumsum([len(pack) for pack in packs])[:-1]  # go on with the labels that were shown
        labels = [part[:, np.newaxis] for part in np.split(np.asarray(got), ends)]
        for maker, label in zip(self.makers, labels, strict=True):
            made = zip(maker.pending, label[:, 0], strict=True)
            maker.pending = [(i, f, offset if y - f == 0 else y - f) for (i, f, offset), y in made]
        return labels

    def made(self, t: int, packs: list[Pack], columns: list[slice]) -> list[np.ndarray]:
        found = []
        for number, (pack, part) in enumerate(zip(packs, columns, strict=True)):
            f, target = self.taught.f[:, part][:, 0], self.problem.target[:, part][:, 0]
            if t == 0:
                self.makers.append(LabelMaker(self.spec, f[self.candidates], target[self.candidates]))
            else:
                self.makers[number].observe(f, t, self.taught.noise)
            found.append(np.array(self.makers[number].labels(pack, f, target))[:, np.newaxis])
        return found

    def stillness(self, t: int, packs: list[Pack], slopes: list[np.ndarray]) -> str | None:
        """Return why the lesson ends before this pack is shown: it would move the learner too little, or not at all."""
        ended, still = t == self.T, self.rules["stop_when_stationary"]
        steepest = max(float(abs(slope).max()) for slope in slopes)
        if still is not None:
            parts = zip(packs, slopes, strict=True)
            S = max(float(abs(slope * self.taught.diagonal[pack][:, np.newaxis]).max()) ** 2 for pack, slope in parts)
            blur = 1e-9 * still + 8 * math.sqrt(S) * self.taught.noise * float(self.taught.diagonal.max()) ** 2
            undecided = abs(S - still) <= blur and ended and self.record["outcome"] == "STATIONARY"
            if undecided or (still >= S and not (abs(S - still) <= blur and not ended)):
                return "STATIONARY"
        if not self.repeats() or self.M[t] == 0:
            return None
        blurred = 0 < steepest <= 8 * self.taught.noise and ended and self.record["outcome"] == "AT_REST"
        return "AT_REST" if steepest == 0 or blurred else None

    def repeats(self) -> bool:
        """Say whether the teacher shows the same again as long as the learner does not move, and remembers nothing."""
        spec = self.spec
        plain = spec["kind"] in ("greedy", "uncertainty", "int") or (spec["kind"], spec.get("rule")) == (
            "interpolation",
            "f",
        )
        if spec["kind"] == "mixed":
            plain = all(part["kind"] in ("greedy", "uncertainty") for part, _ in spec["parts"])
        changes = isinstance(spec.get("k"), tuple) or spec.get("look") is not None or spec.get("mixes") is not None
        return plain and not changes and spec.get("other") is None and not isinstance(spec.get("pool"), float)

    def mix_if_due(self, t: int) -> None:
        every, until, ridge = self.spec.get("mixes") or (0, 0, 0.0)
        if not every or t % every or (until is not None and t >= until):
            return
        c, q = self.candidates, self.problem.q
        F, goal = self.taught.f[c], self.problem.target[c]
        r = ridge * float((F**2).sum()) / q

        def missed(A: np.ndarray) -> float:
            return float(((F @ A.T - goal) ** 2).sum() + r * ((A - np.eye(q)) ** 2).sum())

        A = np.eye(q)
        if r > 0 and np.isfinite(r):
            rows = np.concatenate([F, math.sqrt(r) * np.eye(q)])
            A = np.linalg.lstsq(rows, np.concatenate([goal, math.sqrt(r) * np.eye(q)]), rcond=None)[0].T
            if self.record["mixes"] is None and np.linalg.cond(rows) > 1e3:
                raise Undecided  # f does not determine it, and what it was is not recorded
        if self.record["mixes"] is not None:
            require(self.mixes < len(self.record["mixes"]), f"the outputs are not mixed at step {t}")
            got = self.record["mixes"][self.mixes]
            blur = 1e-6 * missed(A) + 1e-12 * float((goal**2).sum()) + 1e-6 * r
            require(missed(got) <= missed(A) + blur, f"the mixture at step {t} is not the best one")
            require(self.record["mix_steps"][self.mixes] == t, f"a mixture of step {t} is recorded elsewhere")
            A = got  # there are almost as good ones where f does not determine it
        self.mixes += 1
        self.taught.mix(A)

    # ------------------------------------------------------------ records

    def as_given(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0] if self.problem.q == 1 else rows

    def look_at(self, t: int) -> None:
        if t == 0:
            near(self.record["initial"], self.as_given(self.taught.f), self.allowed_gap, "the start")
        if t in self.rules["snapshots"]:
            require(t in self.record["snapshots"], f"there is no snapshot of step {t}")
            near(
                self.record["snapshots"][t], self.as_given(self.taught.f), self.allowed_gap, f"the snapshot of step {t}"
            )
        if t:
            self.look_aside(t)

    @property
    def allowed_gap(self) -> float:
        return 4 * self.taught.noise + 16 * EPS * self.taught.scale

    def find_held_out(self, holdout: tuple[np.ndarray, np.ndarray]) -> dict[str, tuple[float | None, float]]:
        points, target = holdout
        values = self.taught.values[-len(points) :]
        return records.held_out(values, target, self.problem.target, self.allowed_gap)

    def look_aside(self, t: int) -> None:
        """Compare the error on held-out points: at step 0 that of the start, before any mixture."""
        holdout = self.problem.holdout
        if holdout is None or not (t in self.rules["snapshots"] or t == self.T):
            return
        curve = self.record["held_out_curve"]
        require(t in curve, f"the held-out curve has nothing at step {t}")
        found = self.find_held_out(holdout)
        expected, off = found["rms"] if found["accuracy"][0] is None else found["accuracy"]
        assert expected is not None
        near(curve[t], np.array(expected), off + RELATIVE * expected, f"the held-out error at step {t}")

    def check_end(self) -> None:
        record, taught, rules = self.record, self.taught, self.rules
        near(record["final"], self.as_given(taught.f), self.allowed_gap, "the final function")
        middle = taught.values[taught.n : taught.n + len(self.problem.probes)]
        near(record["predictions"], self.as_given(middle), self.allowed_gap, "the prediction off the pool")
        require(record["picks"].tolist() == self.picks.tolist(), "the counts of what was shown are wrong")
        tol, rises = rules["tol"], rules["measure"] == "accuracy"
        met = [t for t, M in enumerate(self.M) if tol is not None and (tol <= M if rises else tol > M)]
        require(record["itd"] == (met[0] if met else None), f"the ITD is {record['itd']}, not {met[:1]}")
        require(set(record["snapshots"]) == {t for t in rules["snapshots"] if t <= self.T}, "snapshots of other steps")
        self.check_held_out()
        self.check_kept()

    def check_held_out(self) -> None:
        holdout = self.problem.holdout
        if holdout is None:
            require(self.record["held_out"] is None and not self.record["held_out_curve"], "nothing was held out")
            return
        expected_steps = {t for t in self.rules["snapshots"] if t <= self.T} | {self.T}
        require(set(self.record["held_out_curve"]) == expected_steps, "the held-out curve has other steps")
        found = self.find_held_out(holdout)
        got = self.record["held_out"]
        require(isinstance(got, dict), f"the held-out error is {got}")
        for name, (number, off) in found.items():
            require((got[name] is None) == (number is None), f"the held-out {name} is {got[name]}, not {number}")
            if number is not None:
                near(got[name], np.array(number), off + RELATIVE * abs(number), f"the held-out {name}")

    def check_kept(self) -> None:
        record, spec = self.record, self.spec
        looked = None if spec.get("look") is None else [looks(spec["look"], t, self.budget) for t in range(self.T)]
        got = record["looked"]
        require((None if got is None else list(got)) == (looked or None), "it looked at other steps")
        kept = self.rules["record"] != "picks"
        require((record["indices"] is not None) == kept, "indices are kept where they should not be, or the reverse")
        if not kept:
            require(
                set(record["table"]) <= {"step", "discrepancy", "looked"}, "the table has columns of what was not kept"
            )
            return
        require(self.mixes == len([] if record["mixes"] is None else record["mixes"]), "other mixtures are recorded")
        draws = self.draws()
        require(
            record["drew"] or not ((all(draws) and self.T) or isinstance(spec.get("pool"), float)),
            "something was drawn from the seed",
        )
        require(
            any(draws) or not record["drew"] or isinstance(spec.get("pool"), float), "nothing was drawn from the seed"
        )
        check_tables(self.problem, record)

    def draws(self) -> list[bool]:
        """Say of each part of a pack whether it is drawn, or its labels are."""
        parts = [part for part, _ in self.spec["parts"]] if self.spec["kind"] == "mixed" else [self.spec]
        drawn = [draws_points(part) for part in parts]
        return [True] if self.spec.get("other") is not None else drawn


def draws_points(part: dict[str, Any]) -> bool:
    """Say whether a teacher draws what it shows, or what it sees."""
    if part["kind"] in ("once", "last", "observed"):
        return bool(part.get("drawn") or part.get("points") == "random" or part.get("noise", 0) > 0)
    return part["kind"] in ("random", "planned", "epochs", "importance") or part.get("temperature", 0) > 0


def check_tables(problem: Problem, record: Record) -> None:
    """Compare the columns of both tables with what was shown."""
    for name, expected in zip(("examples", "table"), records.columns(problem, record), strict=True):
        require(
            set(record[name]) == set(expected), f"{name} has the columns {sorted(record[name])}, not {sorted(expected)}"
        )
        for title, numbers in expected.items():
            got, wanted = np.asarray(record[name][title], dtype=float), np.asarray(numbers, dtype=float)
            near(got, wanted, 0.0, f"the column {title!r} of {name}")


def judge(problem: Problem, record: Record) -> bool:
    """Raise `Wrong` with a sentence, or return whether all of the lesson could be judged."""
    if problem.box is not None:
        from oracle.box import judge_box

        return judge_box(problem, record)
    return Judge(problem, record).judge()
