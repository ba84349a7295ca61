"""Neural networks as learners, and teachers in training loops of one's own."""

import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import nimt
from nimt import schedules

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'nimt[torch]'")

pytestmark = pytest.mark.long

POINTS = np.linspace(-2, 2, 24)
TARGET = np.sin(2 * POINTS)


def network(outputs=1, seed=0, extra=()):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), *extra, torch.nn.Linear(16, outputs))


def learner(optimizer=lambda p: torch.optim.Adam(p, lr=0.02), **options):
    return nimt.torch.TorchLearner(network(**options), optimizer)


# ---------------------------------------------------------------- the learner


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_step_is_that_of_a_plain_loop(outputs):
    target = TARGET if outputs == 1 else np.stack([TARGET, POINTS, POINTS**2], axis=1)
    lesson = nimt.teach(learner(outputs=outputs), nimt.GreedyTeacher(k=3), POINTS, target, max_iterations=12, tol=None)
    module = network(outputs)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    x, y = torch.tensor(POINTS[:, None], dtype=torch.float32), torch.tensor(target, dtype=torch.float32)
    for step in range(12):
        with torch.no_grad():
            values = module(x).double().numpy().reshape(target.shape)
        sizes = np.abs(values - target) if outputs == 1 else np.linalg.norm(values - target, axis=1)
        pack = np.sort(np.argsort(-sizes, kind="stable")[:3])
        np.testing.assert_array_equal(lesson.indices[step], pack)
        optimizer.zero_grad()
        torch.mean((module(x[pack]) - y[pack].reshape(3, outputs)) ** 2).backward()
        optimizer.step()
    with torch.no_grad():
        np.testing.assert_array_equal(lesson.final, module(x).double().numpy().reshape(target.shape))


def test_the_callers_module_is_left_as_it_was():
    taught = learner()
    before = [parameter.detach().clone() for parameter in taught.module.parameters()]
    lesson = nimt.teach(taught, nimt.RandomTeacher(k=4), POINTS, TARGET, max_iterations=5, tol=None)
    assert all(torch.equal(a, b) for a, b in zip(before, taught.module.parameters(), strict=True))
    assert not torch.equal(before[0], next(lesson.learner.module.parameters()))


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.02, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW([{"params": list(p), "lr": 0.01}], weight_decay=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, centered=True),
}
DROPOUT = (torch.nn.Dropout(0.3), torch.nn.BatchNorm1d(16))


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("extra", [(), DROPOUT], ids=["plain", "dropout and batch norm"])
def test_a_lesson_resumes_bit_for_bit(name, extra, tmp_path):
    def made():
        return learner(OPTIMIZERS[name], extra=extra)

    rules = {"seed": 2, "record": "all"}
    whole = nimt.teach(
        made(), nimt.teachers.SoftTeacher(k=4), POINTS, TARGET, max_iterations=20, **{"tol": None} | rules
    )
    path = tmp_path / "checkpoint"
    nimt.teach(
        made(),
        nimt.teachers.SoftTeacher(k=4),
        POINTS,
        TARGET,
        max_iterations=9,
        checkpoint=path,
        **{"tol": None} | rules,
    )
    torch.manual_seed(99)  # what the program drew elsewhere does not matter
    torch.rand(7)
    resumed = nimt.resume(path, learner=learner(OPTIMIZERS[name], extra=extra, seed=5), max_iterations=20)
    np.testing.assert_array_equal(resumed.indices, whole.indices)
    np.testing.assert_array_equal(resumed.discrepancy, whole.discrepancy)
    np.testing.assert_array_equal(resumed.final, whole.final)


def test_the_random_numbers_of_the_program_are_left_alone():
    taught = learner(extra=DROPOUT)
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    taught.partial_fit(POINTS, TARGET)
    assert torch.equal(torch.rand(4), expected)


@pytest.mark.slow
def test_a_killed_lesson_resumes_bit_for_bit(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent("""
        import os, signal, sys
        import numpy as np, torch, nimt
        import nimt.store.checkpoint_file as kept
        import nimt.session.session as running

        kept.EVERY, kept.SHARE, running.INTERVAL = 0.0, 1.0, 0.0
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
        learner = nimt.torch.TorchLearner(module, torch.optim.Adam(module.parameters(), lr=0.02))
        x = np.linspace(-2, 2, 24)

        def kill(progress):
            if progress.step > 20:
                os.kill(os.getpid(), signal.SIGKILL)

        nimt.teach(learner, nimt.GreedyTeacher(k=3), x, np.sin(2 * x), max_iterations=60,
                   checkpoint=sys.argv[1], callback=kill)
        """)
    )
    path = tmp_path / "checkpoint"
    ended = subprocess.run([sys.executable, "-W", "ignore", script, path], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    resumed = nimt.resume(path, learner=learner(seed=3))
    whole = nimt.teach(learner(), nimt.GreedyTeacher(k=3), POINTS, TARGET, max_iterations=60, tol=None)
    assert len(resumed) == 60
    np.testing.assert_array_equal(resumed.final, whole.final)


def test_a_training_that_diverges_ends_with_a_sentence():
    wild = nimt.torch.TorchLearner(network(), lambda p: torch.optim.SGD(p, lr=1e6))
    lesson = nimt.teach(wild, nimt.RandomTeacher(k=4), POINTS, TARGET, max_iterations=50, tol=None)
    assert lesson.outcome is nimt.lesson.Outcome.DIVERGED
    module = network()
    packs = nimt.torch.teach((torch.zeros(4, 1), torch.zeros(4)), module, nimt.GreedyTeacher(), steps=3)
    next(packs)
    torch.nn.init.constant_(module[0].weight, np.nan)
    with pytest.raises(nimt.InvalidInput, match=r"predicts nan at example 0 \(step 1\).*lower the learning rate"):
        next(packs)
    packs = nimt.torch.teach((torch.zeros(4, 1), torch.zeros(4)), module, nimt.teachers.PlannedTeacher(k=2), steps=3)
    with pytest.raises(nimt.InvalidInput, match=r"predicts nan at example \d \(step 1\).*lower the learning rate"):
        module(torch.zeros(4, 1)[next(packs)])  # it hears what the training computes


def two_devices():
    module = network()
    module[2] = torch.nn.Linear(16, 1, device="meta")
    return module


class Wide(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(1, 4)

    def forward(self, x):
        return self.linear(x).reshape(-1, 2, 2)


def sgd(module):
    return torch.optim.SGD(module.parameters(), lr=0.1)


def taught_by(module, target=TARGET):
    return nimt.teach(
        nimt.torch.TorchLearner(module, sgd(module)), nimt.RandomTeacher(), POINTS, target, max_iterations=2, tol=None
    )


X = torch.zeros(6, 1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: nimt.torch.TorchLearner(two_devices(), sgd(network())), "on the devices cpu, meta"),
        (lambda: nimt.torch.TorchLearner(torch.nn.Linear(1, 1, device="meta"), None), "on the device 'meta'"),
        (lambda: nimt.torch.TorchLearner(3, None), "must be a torch.nn.Module, got 3"),
        (lambda: nimt.torch.TorchLearner(torch.nn.Tanh(), None), "has no parameters"),
        (lambda: nimt.torch.TorchLearner(network(), "adam"), "optimizer must be one of torch.optim"),
        (lambda: nimt.torch.TorchLearner(network(), sgd(network())), "parameters that are not of this Sequential"),
        (lambda: nimt.torch.TorchLearner(network(), sgd, loss="mse"), "loss must be callable"),
        (lambda: nimt.torch.TorchLearner(network(), torch.optim.LBFGS), "LBFGS evaluates the loss several times"),
        (lambda: taught_by(torch.nn.Linear(2, 1)), r"Linear cannot evaluate inputs of shape \(24, 1\) and type"),
        (lambda: taught_by(torch.nn.Embedding(3, 1)), "Embedding cannot evaluate inputs of shape"),
        (lambda: taught_by(Wide()), r"Wide returned shape \(24, 2, 2\) for 24 inputs"),
        (lambda: taught_by(network(outputs=2)), r"returned shape \(24, 2\) for 24 points"),
        (lambda: nimt.torch.TorchLearner(network(2), lambda p: torch.optim.SGD(p, 0.1))
            .partial_fit(POINTS, TARGET), r"shape \(24, 2\) and the labels have shape \(24,\)"),
        (lambda: nimt.torch.TorchLearner(network(), lambda p: torch.optim.SGD(p, 0.1), lambda f, y: f)
            .partial_fit(POINTS, TARGET), "the loss must return one number"),
        (lambda: nimt.torch.teach((X, X), network(), nimt.GreedyTeacher()), "epochs=, of n examples each, or steps="),
        (lambda: nimt.torch.teach((X, X), network(), nimt.GreedyTeacher(), epochs=-1), "epochs must be a positive"),
        (lambda: nimt.torch.teach((X, X[:3]), network(), nimt.GreedyTeacher(), steps=1), "of one length"),
        (lambda: nimt.torch.teach(iter([]), network(), nimt.GreedyTeacher(), steps=1), "must have len"),
        (lambda: nimt.torch.teach((X, X * np.nan), network(), nimt.GreedyTeacher(), steps=1), "NaN or infinity"),
        (lambda: nimt.torch.teach((X, X), network(), nimt.GreedyTeacher(k=7), steps=1), "from 1 to 6"),
        (lambda: nimt.torch.teach((X, X), network(), nimt.GreedyTeacher(pool=0.5), steps=1), "no pool="),
        (lambda: nimt.torch.teach((X, X), network(), "greedy", steps=1), "a teacher needs select"),
        (lambda: next(nimt.torch.teach((X, X), network(3), nimt.GreedyTeacher(), steps=1)), "give outputs="),
        (lambda: nimt.torch.NINTTeacher(None), "influence must be callable"),
        (lambda: nimt.torch.NINTTeacher(abs, kernel_share=0.5), "sum to at most 1"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_sentence(make, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        make()


def test_a_checkpoint_of_another_network_is_refused(tmp_path):
    path = tmp_path / "checkpoint"
    nimt.teach(learner(), nimt.RandomTeacher(), POINTS, TARGET, max_iterations=3, tol=None, checkpoint=path)
    wide = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    for module, sentence in [(wide, "has shape"), (torch.nn.Linear(1, 1), "in one of them only")]:
        with pytest.raises(nimt.errors.CorruptLesson, match=sentence):
            nimt.resume(path, learner=nimt.torch.TorchLearner(module, sgd(module)))
    with pytest.raises(nimt.errors.CorruptLesson, match="another optimizer: Adam, here it is SGD"):
        nimt.resume(path, learner=learner(lambda p: torch.optim.SGD(p, lr=0.1)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_a_saved_lesson_holds_the_state_and_is_given_the_module_again(dtype, tmp_path):
    def made(seed):
        module = network(seed=seed, extra=DROPOUT).to(dtype)
        return nimt.torch.TorchLearner(module, torch.optim.Adam(module.parameters(), lr=0.02))

    lesson = nimt.teach(made(0), nimt.RandomTeacher(k=6), POINTS, TARGET, max_iterations=10, tol=None)
    lesson.save(tmp_path / "lesson")
    handed = made(7)
    before = handed.predict(POINTS)
    kept = nimt.Lesson.load(tmp_path / "lesson", learner=handed).learner
    np.testing.assert_array_equal(kept.predict(POINTS), lesson.final)
    np.testing.assert_array_equal(handed.predict(POINTS), before)
    for one in (kept, lesson.learner):  # the optimizer and the dropout go on too
        one.partial_fit(POINTS[:9], TARGET[:9]).partial_fit(POINTS[9:], TARGET[9:])
    np.testing.assert_array_equal(kept.predict(POINTS), lesson.learner.predict(POINTS))


def test_a_saved_lesson_without_its_module_says_what_to_pass(tmp_path):
    path = tmp_path / "lesson"
    nimt.teach(learner(), nimt.RandomTeacher(k=6), POINTS, TARGET, max_iterations=3, tol=None).save(path)
    with pytest.warns(
        nimt.errors.StorageWarning, match="state of a TorchLearner and not its code: pass one like it, learner="
    ):
        loaded = nimt.Lesson.load(path)
    assert loaded.learner is None and "without its learner" in repr(loaded)
    small = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    with pytest.raises(
        nimt.errors.CorruptLesson, match=r"another module: '0.weight' has shape \(16, 1\), here it is \(8, 1\)"
    ):
        nimt.Lesson.load(path, learner=nimt.torch.TorchLearner(small, lambda p: torch.optim.Adam(p, lr=0.02)))
    with pytest.raises(nimt.InvalidInput, match="learner= is a KernelLearner and the file holds the state of a Torch"):
        nimt.Lesson.load(path, learner=nimt.KernelLearner(nimt.rbf(1.0)))


# ---------------------------------------------------------------- a training loop of one's own


class Named(torch.utils.data.Dataset):
    """Examples that carry their own index, so that a test can tell which were shown."""

    def __init__(self, n=40):
        rng = np.random.default_rng(0)
        self.order = rng.permutation(n)
        self.x = torch.linspace(-2, 2, n)[self.order, None]
        self.y = torch.sin(2 * self.x)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index], index


@pytest.mark.parametrize("teacher", [nimt.GreedyTeacher(k=5), nimt.GreedyTeacher(k=5, look=schedules.every(3))])
def test_the_packs_are_those_of_a_lesson(teacher):
    """The same teacher, network and optimizer by `teach` and in a loop: the same examples at every step."""
    dataset = Named()
    module = network()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
    shown = []
    for indices in nimt.torch.teach((dataset.x, dataset.y), module, teacher, steps=15):
        shown.append(indices.numpy())
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(module(dataset.x[indices]), dataset.y[indices]).backward()
        optimizer.step()
    same = nimt.torch.TorchLearner(network(), lambda p: torch.optim.SGD(p, lr=0.05))
    lesson = nimt.teach(same, teacher, dataset.x.numpy(), dataset.y[:, 0].numpy(), max_iterations=15, tol=None)
    np.testing.assert_array_equal(shown, lesson.indices)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_hold_the_examples_that_were_chosen_whatever_the_workers(workers):
    """Not the position in a batch but the index in the dataset says which example it is.

    The largest errors are shown, so a mistaken identity would show others: here half of the examples are learned.
    """
    dataset = Named()
    module = torch.nn.Linear(1, 1)
    torch.nn.init.zeros_(module.weight), torch.nn.init.zeros_(module.bias)
    expected = torch.argsort(-dataset.y[:, 0].abs(), stable=True)[:8].sort().values.tolist()
    sampler = nimt.torch.TeachingSampler(dataset, module, nimt.GreedyTeacher(k=8), steps=6)
    assert len(sampler) == 6
    loader = torch.utils.data.DataLoader(dataset, batch_sampler=sampler, num_workers=workers)
    for x, y, names in loader:
        assert names.tolist() == expected
        assert torch.equal(x, dataset.x[names]) and torch.equal(y, dataset.y[names])


@pytest.mark.parametrize("workers", [0, 2])
def test_errors_seen_in_training_are_kept_at_the_right_examples(workers):
    """With workers, batches are asked for ahead, and their outputs come later: still each at its own example."""
    dataset = Named()
    module = network()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    sampler = nimt.torch.TeachingSampler(dataset, module, nimt.teachers.PlannedTeacher(k=8), epochs=6)
    latest = np.full(40, np.nan)
    for x, y, names in torch.utils.data.DataLoader(dataset, batch_sampler=sampler, num_workers=workers):
        optimizer.zero_grad()
        output = module(x)
        latest[names] = output.detach().double().numpy()[:, 0]
        np.testing.assert_array_equal(sampler.packs.predictions, latest)
        torch.nn.functional.mse_loss(output, y).backward()
        optimizer.step()
        module.eval()
        module(dataset.x)  # a validation in between is not mistaken for training
        module.train()
    assert sampler.packs.looked == [] and not np.isnan(latest).any()
    assert not module._forward_hooks


def test_a_pack_that_was_not_passed_through_the_module_is_evaluated():
    dataset, module = Named(), network()
    packs = nimt.torch.teach((dataset.x, dataset.y), module, nimt.teachers.PlannedTeacher(k=10), epochs=1)
    shown = [next(packs), next(packs)]
    with torch.no_grad():
        values = module(dataset.x).double().numpy()[:, 0]
    np.testing.assert_allclose(packs.predictions[shown[0]], values[shown[0]], rtol=1e-6, atol=1e-6)
    assert np.isnan(packs.predictions[shown[1]]).all()


def test_random_packs_never_evaluate_the_module_and_looks_are_recorded():
    dataset = Named()
    calls = []
    module = network()
    module.register_forward_hook(lambda *seen: calls.append(1))
    packs = nimt.torch.teach((dataset.x, dataset.y), module, nimt.RandomTeacher(k=0.25), epochs=3)
    assert sum(len(indices) for indices in packs) == 120 and packs.looked == [] and not calls
    packs = nimt.torch.teach(
        (dataset.x, dataset.y), module, nimt.teachers.SoftTeacher(k=4, look=schedules.every(4)), steps=10
    )
    assert len(list(packs)) == 10 and packs.looked == [0, 4, 8] and len(calls) == 3


def test_a_schedule_without_a_length_runs_over_the_epochs():
    dataset = Named()
    packs = nimt.torch.teach(
        (dataset.x, dataset.y), network(), nimt.RandomTeacher(k=schedules.linear(0.1, 1.0)), epochs=5
    )
    sizes = [len(indices) for indices in packs]
    assert sizes[0] == 4 and sizes[-1] >= 32 and sizes == sorted(sizes)
    assert 200 <= sum(sizes) < 240


def test_the_length_of_a_schedule_is_found_without_trying_far_longer_ones(monkeypatch):
    tried, count = [], nimt.torch.TeachingLoop._examples
    monkeypatch.setattr(
        nimt.torch.TeachingLoop, "_examples", lambda loop, k, steps: tried.append(steps) or count(loop, k, steps)
    )
    x = torch.linspace(-1, 1, 400)[:, None]
    teacher = nimt.RandomTeacher(k=schedules.geometric(0.05, 1.0))
    packs = nimt.torch.teach((x, x), network(), teacher, epochs=50)
    steps = len(list(packs))
    assert max(tried) <= 2 * steps
    k = schedules.geometric(0.05, 1.0)
    assert count(packs, k.fix_length(steps - 1), steps - 1) < 50 * 400 <= count(packs, k.fix_length(steps), steps)


def test_the_choices_resume_bit_for_bit():
    def packs(module):
        dataset = Named()
        return nimt.torch.teach((dataset.x, dataset.y), module, nimt.teachers.PlannedTeacher(k=7), steps=20, seed=5)

    module = network()
    whole = [pack.tolist() for pack in packs(module)]
    first = packs(module)
    begun = [next(first).tolist() for _ in range(8)]
    second = packs(module)
    second.load_state_dict(first.state_dict())
    assert begun + [pack.tolist() for pack in second] == whole


def test_classes_are_compared_after_what_outputs_makes_of_them():
    x, y = torch.randn(30, 4), torch.arange(30) % 3
    module = torch.nn.Linear(4, 3)
    options = {"outputs": lambda logits: logits.softmax(1), "targets": torch.nn.functional.one_hot(y, 3)}
    indices = next(nimt.torch.teach((x, y), module, nimt.GreedyTeacher(k=6), steps=1, **options))
    chances = module(x).softmax(1).detach().double().numpy()
    sizes = [sum((chances[i, c] - int(y[i] == c)) ** 2 for c in range(3)) for i in range(30)]
    assert indices.tolist() == sorted(sorted(range(30), key=lambda i: -sizes[i])[:6])


# ---------------------------------------------------------------- NINT


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_influence_is_the_tangent_kernel_times_the_residual(outputs):
    module = network(outputs).double()
    x = torch.linspace(-1, 1, 7, dtype=torch.float64)[:, None]
    rows = []
    for i in range(7):
        for c in range(outputs):
            module.zero_grad()
            module(x)[i, c].backward()
            rows.append(np.concatenate([parameter.grad.numpy().ravel() for parameter in module.parameters()]))
    kernel = np.array(rows) @ np.array(rows).T
    residual = np.random.default_rng(0).normal(size=(7, outputs))
    expected = (kernel @ residual.ravel()).reshape(7, outputs)
    influence = nimt.torch.ntk_influence(module, x)
    np.testing.assert_allclose(influence(residual), expected, rtol=1e-10)
    if outputs == 1:
        np.testing.assert_allclose(influence(residual[:, 0]), expected[:, 0], rtol=1e-10)


def test_nint_fills_its_packs_as_the_published_code_does():
    """Looks 1, 10, 20: by the kernel anew, its share 0.3 exp(floor(-2 c / 10)); from look 30 on it is next to 0."""
    rng = np.random.default_rng(4)
    n, k = 400, 200
    kernel = rng.normal(size=(n, n))
    teacher = nimt.torch.NINTTeacher(lambda residual: kernel @ residual, k=k)
    draws, memory, kept = np.random.default_rng(8), None, []
    stream = np.random.default_rng(8)
    share = 0.0
    for step in range(32):
        predictions, target = rng.normal(size=n), np.zeros(n)
        view = nimt.teachers.View(step, nimt.Grid(np.arange(n)), predictions, target, draws, memory, np.arange(n))
        selection = teacher.select(view)
        memory = selection.memory
        looks = step + 1
        if looks == 1 or looks % 10 == 0:
            share = 0.3 * np.exp(-2.0 * looks // 10)
            if share >= 1e-3:
                kept = np.argsort(-np.abs(kernel @ predictions), kind="stable")[: int(k * share)].tolist()
        first = kept[: int(k * share)]
        left = [i for i in range(n) if i not in first]
        second = sorted(sorted(left, key=lambda i: -abs(predictions[i]))[: int(k * (1 - share - 0.7) + 1e-9)])
        left = [i for i in left if i not in second]
        third = stream.permutation(left)[: k - len(first) - len(second)].tolist()
        assert selection.indices.tolist() == first + second + third
        assert len(set(selection.indices.tolist())) == k
    assert len(first) == 0 and share < 1e-3


def test_nint_in_a_loop_uses_the_module_as_it_is_now():
    dataset, module = Named(), network()
    teacher = nimt.torch.NINTTeacher(nimt.torch.ntk_influence(module, dataset.x), k=0.5, look=schedules.every(2))
    packs = nimt.torch.teach((dataset.x, dataset.y), module, teacher, steps=6)
    shown = [indices.tolist() for indices in packs]
    assert shown[0] == shown[1] != shown[2] and packs.looked == [0, 2, 4]


# ---------------------------------------------------------------- a reference


def noisy_signs(n=120):
    draw = torch.Generator().manual_seed(3)
    x = torch.randn(n, 3, generator=draw)
    truth = (x[:, 0] + x[:, 1] > 0).long()
    wrong = torch.arange(n) % 10 == 0
    return x, truth, torch.where(wrong, 1 - truth, truth), wrong


class AskedOnce(torch.nn.Module):
    """Logits of the truth; counts how many rows it was asked for."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(5.0))
        self.rows = 0

    def forward(self, x):
        self.rows += len(x)
        lead = self.scale * (x[:, 0] + x[:, 1])
        return torch.stack([-lead, lead], dim=1)


def train(x, given, teacher):
    torch.manual_seed(0)
    module = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    targets = torch.nn.functional.one_hot(given, 2).double().numpy()
    packs = []
    for indices in nimt.torch.teach((x, given), module, teacher, steps=40, targets=targets):
        loss = torch.nn.functional.cross_entropy(module(x[indices]), given[indices])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        packs.append(indices.numpy())
    return np.array(packs)


def test_a_surrogate_teacher_asks_its_module_once_and_shows_no_wrong_label():
    x, _, given, wrong = noisy_signs()
    reference = AskedOnce()
    packs = train(x, given, nimt.SurrogateTeacher(reference, "crossentropy", k=4, difficulty=False))
    assert reference.rows == len(x)
    assert wrong.numpy()[packs].sum() == 0
    greedy = train(x, given, nimt.GreedyTeacher(score="loss", loss="crossentropy", k=4))
    assert wrong.numpy()[greedy].mean() > 0.2  # one label in ten is wrong
    logits = AskedOnce()(x).detach()
    for same in (logits, logits.numpy()):
        again = train(x, given, nimt.SurrogateTeacher(same, "crossentropy", k=4, difficulty=False))
        np.testing.assert_array_equal(again, packs)


def test_the_packs_of_a_surrogate_teacher_are_those_of_its_rule():
    x, _, given, _ = noisy_signs()
    reference = AskedOnce()
    module = torch.nn.Linear(3, 2)
    targets = torch.nn.functional.one_hot(given, 2).double().numpy()
    teacher = nimt.SurrogateTeacher(reference, "crossentropy", k=4, difficulty=False)
    pack = next(nimt.torch.teach((x, given), module, teacher, steps=1, targets=targets))
    lost = [torch.nn.functional.cross_entropy(one(x).detach(), given, reduction="none") for one in (module, reference)]
    assert pack.tolist() == sorted(torch.argsort(lost[1] - lost[0])[:4].tolist())


def test_a_greedy_teacher_of_a_loop_skips_labels_that_disagree():
    x, truth, given, wrong = noisy_signs()
    teacher = nimt.GreedyTeacher(k=4, score="loss", loss="crossentropy", reference=truth, where="agrees")
    assert wrong.numpy()[train(x, given, teacher)].sum() == 0


def test_a_reference_of_a_loop_that_does_not_fit_gets_a_sentence():
    x, _, given, _ = noisy_signs()
    with pytest.raises(nimt.InvalidInput, match=r"the reference has shape \(5,\) and the pool 120 points"):
        train(x, given, nimt.SurrogateTeacher(np.zeros(5), "crossentropy"))
    with pytest.raises(nimt.InvalidInput, match="the module returns values of shape"):
        train(x, given, nimt.SurrogateTeacher(torch.nn.Linear(3, 5), "crossentropy"))


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_the_weights_of_a_teacher_multiply_the_losses(outputs, reduction):
    target = TARGET if outputs == 1 else np.stack([TARGET, POINTS, POINTS**2], axis=1)

    def make(parameters):
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)

    module = network(outputs=outputs).double()
    taught = nimt.torch.TorchLearner(module, make, torch.nn.MSELoss(reduction=reduction))
    teacher = nimt.teachers.ImportanceTeacher(k=5)
    lesson = nimt.teach(taught, teacher, POINTS, target, max_iterations=12, tol=None)
    assert np.ptp(lesson.weights) > 0.5
    optimizer = make(module.parameters())
    for pack, weights in zip(lesson.indices, lesson.weights, strict=True):
        x, y = torch.tensor(POINTS[pack])[:, None], torch.tensor(target[pack]).reshape(5, outputs)
        terms = torch.tensor(weights)[:, None] * (module(x) - y) ** 2
        optimizer.zero_grad()
        (terms.mean() if reduction == "mean" else terms.sum()).backward()
        optimizer.step()
    expected = module(torch.tensor(POINTS)[:, None]).detach().numpy().reshape(lesson.final.shape)
    np.testing.assert_allclose(lesson.final, expected, rtol=0, atol=1e-12)


def test_a_lesson_with_weights_resumes_bit_for_bit(tmp_path):
    teacher = nimt.teachers.PruningTeacher(k=6, over=30)
    rules = {"tol": None}
    nimt.teach(learner(), teacher, POINTS, TARGET, max_iterations=13, checkpoint=tmp_path / "half", **rules)
    resumed = nimt.resume(tmp_path / "half", learner=learner(), max_iterations=30)
    at_once = nimt.teach(learner(), teacher, POINTS, TARGET, max_iterations=30, **rules)
    assert at_once.weights.max() > 1.4
    assert np.array_equal(resumed.final, at_once.final) and np.array_equal(resumed.weights, at_once.weights)


def train_by_weights(module, packs, steps=None):
    inputs, labels = packs.inputs, torch.tensor(packs.target, dtype=torch.float32)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
    shown = []
    for indices in packs:
        weights = packs.weights
        shown.append((indices.tolist(), weights.tolist()))
        loss = (weights * (module(inputs[indices])[:, 0] - labels[indices]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if steps is not None and len(shown) == steps:
            break
    return shown


def loop_of(module, teacher, **length):
    inputs = torch.tensor(POINTS, dtype=torch.float32)[:, None]
    return nimt.torch.teach((inputs, torch.tensor(TARGET)), module, teacher, **length)


def test_a_loop_prunes_by_what_the_training_computed_and_resumes():
    teacher = nimt.teachers.PruningTeacher(k=8)
    module = network()
    packs = loop_of(module, teacher, steps=24)
    first = train_by_weights(module, packs, 10)
    assert packs.looked == []
    assert sorted(np.concatenate([pack for pack, _ in first[:3]])) == list(range(24))
    assert max(max(weights) for _, weights in first[3:]) > 1.4
    kept = packs.state_dict(), {name: part.clone() for name, part in module.state_dict().items()}
    rest = train_by_weights(module, packs)
    assert len(rest) == 14 and all(set(weights) == {1.0} for _, weights in rest[-1:])
    again = network()
    again.load_state_dict(kept[1])
    resumed = loop_of(again, teacher, steps=24)
    resumed.load_state_dict(kept[0])
    assert train_by_weights(again, resumed) == rest


def test_weights_are_never_left_out_silently():
    teacher, module = nimt.teachers.ImportanceTeacher(k=5), network()
    packs = loop_of(module, teacher, steps=3)
    next(packs)
    with pytest.raises(nimt.InvalidInput, match=r"weighs its examples.* multiply packs.weights into the loss"):
        next(packs)
    dataset = torch.utils.data.TensorDataset(torch.tensor(POINTS)[:, None].float(), torch.tensor(TARGET))
    with pytest.raises(nimt.InvalidInput, match=r"batches of a DataLoader have no weights: use nimt.torch.teach"):
        next(iter(nimt.torch.TeachingSampler(dataset, module, teacher, steps=3)))
    plain = loop_of(module, nimt.RandomTeacher(k=5), steps=3)
    assert len(list(plain)) == 3 and plain.weights.tolist() == [1.0] * 5
    with pytest.raises(nimt.InvalidInput, match=r"sample_weight must have shape \(2,\), got \(3,\)"):
        learner().partial_fit([[0.0], [1.0]], [0.0, 1.0], [1.0, 1.0, 1.0])


@pytest.mark.parametrize("kind", [nimt.GreedyTeacher, nimt.RandomTeacher])
def test_a_loop_ends_when_every_example_was_shown(kind):
    packs = loop_of(network(), kind(k=7, never_twice=True), steps=100)
    shown = [indices.tolist() for indices in packs]
    assert [len(pack) for pack in shown] == [7, 7, 7, 3]
    assert sorted(np.concatenate(shown)) == list(range(24))
