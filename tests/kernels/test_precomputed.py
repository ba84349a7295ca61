"""Kernels given as a matrix, the pools of names that they are used on, and kernels of graphs."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.sparse import csr_array

import nimt
from nimt.kernels import diffusion, graph_matern
from nimt.pools import Named, same_points

PATH = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
TARGET = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])


def teach(kernel, pool, **rules):
    learner = nimt.KernelLearner(kernel, learning_rate=0.3)
    return nimt.teach(learner, nimt.GreedyTeacher(), pool, TARGET, max_iterations=40, tol=None, **rules)


def teach_words(target):
    kernel = nimt.Precomputed(np.eye(2), names=["cat", "dog"])
    return nimt.teach(nimt.KernelLearner(kernel), nimt.GreedyTeacher(), kernel.pool, target, max_iterations=1)


def test_a_matrix_teaches_what_the_kernel_itself_teaches():
    points = np.random.default_rng(1).normal(size=(6, 2))
    by_points = teach(nimt.rbf(1.0), points)
    kernel = nimt.Precomputed(nimt.rbf(1.0)(points))
    for engine in ("auto", "reference"):
        by_matrix = teach(kernel, kernel.pool, engine=engine)
        assert np.array_equal(by_matrix.indices, by_points.indices)
        assert np.allclose(by_matrix.final, by_points.final, atol=1e-12)


def test_diffusion_is_the_exponential_of_the_laplacian():
    laplacian = np.diag(PATH.sum(axis=1)) - PATH
    expected = expm(-0.7 * laplacian)
    assert np.allclose(diffusion(PATH, 0.7).gram, expected / np.diagonal(expected).mean())
    expected = np.linalg.matrix_power(np.linalg.inv(2 * 2.0 / 1.5**2 * np.eye(6) + laplacian), 2)
    assert np.allclose(graph_matern(csr_array(PATH), nu=2.0, width=1.5).gram, expected / np.diagonal(expected).mean())


def test_a_graph_of_networkx_brings_its_names_and_edges():
    class Graph:  # what is asked of a graph of networkx
        nodes = ("a", "b", "c")

        def adjacency(self): ...

        def is_directed(self):
            return False

        def edges(self, data, default):
            return [("a", "c", 2.0), ("c", "b", default)]

    kernel = diffusion(Graph())
    assert kernel.pool.names == ("a", "b", "c")
    assert kernel.pool.edges.tolist() == [[0, 2], [1, 2]]
    assert np.allclose(kernel.gram, diffusion([[0, 0, 2], [0, 0, 1], [2, 1, 0]]).gram)


def test_names_are_in_the_record_and_come_back_from_a_file(tmp_path):
    kernel = nimt.Precomputed(diffusion(PATH).gram, names=list("abcdef"), edges=[[0, 1]])
    lesson = teach(kernel, kernel.pool)
    assert lesson.examples()["name"].iloc[0] == "abcdef"[lesson.indices[0, 0]]
    lesson.save(tmp_path / "lesson.npz")
    loaded = nimt.Lesson.load(tmp_path / "lesson.npz")
    assert loaded.pool.names == kernel.names and loaded.pool.view == "graph"
    assert loaded.learner.kernel == kernel
    assert np.array_equal(loaded.learner.predict(kernel.pool.points), lesson.learner.predict(kernel.pool.points))


def test_pools_of_other_names_hold_other_points():
    assert same_points(Named(["a"]), Named(["a"]))
    assert not same_points(Named(["a"]), Named(["b"]))


@pytest.mark.long
def test_a_graph_is_drawn_with_its_edges():
    kernel = diffusion(PATH)
    figure = nimt.plots.panels(teach(kernel, kernel.pool), steps=[0])
    (edges,) = [part for part in figure.axes[0].collections if hasattr(part, "get_segments")]
    assert len(edges.get_segments()) == 5
    assert np.allclose(edges.get_segments()[0], kernel.pool.positions[[0, 1]])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: nimt.Precomputed(np.ones((2, 3))), "square"),
        (lambda: nimt.Precomputed([[1.0, np.nan], [np.nan, 1.0]]), "nan"),
        (lambda: nimt.Precomputed([[1.0, 2.0], [0.0, 1.0]]), "not symmetric: 2 at row 0"),
        (lambda: nimt.Precomputed([[1.0, 2.0], [2.0, 1.0]]), "an eigenvalue is -1"),
        (lambda: nimt.Precomputed(np.eye(2), names=["a", "a"]), "'a' is there twice"),
        (lambda: nimt.Precomputed(np.eye(2), names=["a"]), "1 words for the 2 rows"),
        (lambda: nimt.Precomputed(np.eye(2), names="ab"), "the one word 'ab'"),
        (lambda: Named([]), "at least one word"),
        (lambda: Named([3]), "must be words, got 3"),
        (lambda: Named(["a"], edges=[[0, 1]]), "1 is no number of a name"),
        (lambda: Named(["a"], positions=[[0.0]]), r"shape \(1, 2\)"),
        (lambda: Named(["a"]).numbers(["b"]), "'b' is not a name"),
        (lambda: teach_words(["cat", "dog"]), r"the target must hold .* pool\.numbers\(names\)"),
        (lambda: teach_words([1, 0]).learner.predict(["cat"]), r"X must hold .* pool\.numbers\(names\)"),
        (lambda: diffusion(PATH, time=0.0), "time"),
        (lambda: diffusion([[0, -1], [-1, 0]]), "weight -1"),
        (lambda: diffusion([[0, 1], [0, 0]]), "directed"),
        (lambda: diffusion([[0.0]]), "two nodes"),
        (lambda: teach(diffusion(PATH), np.arange(6.0) + 1), "no thing 6"),
        (lambda: teach(diffusion(PATH), np.ones((6, 2))), "teach on kernel.pool"),
        (lambda: teach(diffusion(PATH), Named(list("abcdef"))), "different names"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(make, said):
    with pytest.raises(nimt.InvalidInput, match=said):
        make()


def test_graphs_of_networkx_are_their_adjacency_matrices():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge("a", "b", weight=2.0)
    graph.add_edge("b", "c")
    kernel = diffusion(graph, time=0.3)
    expected = diffusion(networkx.to_scipy_sparse_array(graph), time=0.3)
    np.testing.assert_allclose(kernel.gram, expected.gram, rtol=1e-12)
    assert kernel.names == ("a", "b", "c")


def test_parallel_edges_of_networkx_add_up_and_directed_ones_are_refused():
    networkx = pytest.importorskip("networkx")
    several = networkx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")])
    np.testing.assert_allclose(diffusion(several).gram, diffusion([[0, 2, 0], [2, 0, 1], [0, 1, 0]]).gram)
    with pytest.raises(nimt.InvalidInput, match=r"is directed: give graph\.to_undirected"):
        diffusion(networkx.DiGraph([("a", "b")]))
    several["a"]["b"][0]["weight"] = "heavy"
    with pytest.raises(nimt.InvalidInput, match="an edge of weight 'heavy'"):
        diffusion(several)
