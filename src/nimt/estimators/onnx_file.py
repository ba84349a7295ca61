"""A fitted kernel model as an ONNX graph, which runs without nimt and without Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.errors import InvalidInput, MissingExtra

OPSET = 17
IR_VERSION = 8  # that of this operator set, so that older runtimes read the file


def make_onnx(model: Any) -> bytes:
    """Return a fitted estimator with the Gaussian kernel as the bytes of an ONNX file.

    The input is `X`, shape (n, d), float64. A regressor has the output `values`, (n,) or (n, q). A classifier has
    `label` (n,), `scores` (n,) or (n, k), and where it knows them `probabilities` (n, k).
    """
    try:
        import onnx
    except ImportError:
        raise MissingExtra("an .onnx file needs the package onnx: pip install onnx, or export to .npz") from None
    if not isinstance(model.kernel, str):
        raise InvalidInput(f"an .onnx file holds kernel='rbf' only, and this is {model.kernel_!r}: export to .npz")
    graph = _Graph(onnx)
    values = _write_values(graph, model)
    if hasattr(model, "classes_"):
        outputs = _write_classes(graph, model, values)
    else:
        outputs = [graph.write_output("values", values, model.coef_.shape[1:])]
    rows = onnx.helper.make_tensor_value_info("X", onnx.TensorProto.DOUBLE, [None, model.n_features_in_])
    made = onnx.helper.make_graph(graph.nodes, "nimt", [rows], outputs, initializer=graph.constants)
    whole = onnx.helper.make_model(
        made, producer_name="nimt", opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
    )
    onnx.checker.check_model(whole)
    return bytes(whole.SerializeToString())


class _Graph:
    """Nodes and constants, each with a name of its own."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def hold(self, array: Any) -> str:
        """Add a constant; text is kept as text."""
        name = f"constant_{len(self.constants)}"
        found = np.asarray(array)
        if found.dtype.kind in "OUS":
            words = [str(word).encode() for word in found.ravel()]
            made = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, found.shape, words)
        else:
            made = self.onnx.numpy_helper.from_array(np.ascontiguousarray(found), name)
        self.constants.append(made)
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, **how: Any) -> str:
        """Add a node, and return the name of its output."""
        name = f"{operator.lower()}_{len(self.nodes)}" if output is None else output
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **how))
        return name

    def write_output(self, name: str, found: str, shape: Sequence[int], kind: str = "DOUBLE") -> Any:
        """Name an output of shape (n, *shape)."""
        self.add("Reshape", found, self.hold(np.array([-1, *shape], dtype=np.int64)), output=name)
        return self.onnx.helper.make_tensor_value_info(
            name, getattr(self.onnx.TensorProto, kind), [None, *map(int, shape)]
        )


def _write_values(graph: _Graph, model: Any) -> str:
    """Add f at the rows, shape (n, q)."""
    coefficients = np.asarray(model.coef_).reshape(len(model.centers_), -1)
    intercept = graph.hold(np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64)))
    if not len(coefficients):
        nothing = graph.hold(np.zeros((model.n_features_in_, coefficients.shape[1])))
        return graph.add("Add", graph.add("MatMul", "X", nothing), intercept)
    kernel = _write_kernel(graph, model.centers_, float(model.kernel_.get_params()["width"]))
    return graph.add("Add", graph.add("MatMul", kernel, graph.hold(coefficients)), intercept)


def _write_kernel(graph: _Graph, centers: Array, width: float) -> str:
    """Add exp(-|x - c|^2 / width^2), shape (n, m)."""
    middle = centers.mean(axis=0)  # taken off, so that |x|^2 - 2 x c + |c|^2 loses few digits
    scaled = (centers - middle) / width
    rows = graph.add("Div", graph.add("Sub", "X", graph.hold(middle)), graph.hold(np.float64(width)))
    lengths = graph.add("ReduceSumSquare", rows, axes=[1], keepdims=1)
    products = graph.add("MatMul", rows, graph.hold(-2.0 * scaled.T))
    squares = graph.add("Add", graph.add("Add", products, lengths), graph.hold(np.sum(scaled**2, axis=1)))
    return graph.add("Exp", graph.add("Neg", graph.add("Max", squares, graph.hold(np.float64(0.0)))))


def _write_classes(graph: _Graph, model: Any, values: str) -> list[Any]:
    """Add what a classifier answers."""
    classes: NDArray[Any] = np.asarray(model.classes_)
    count = len(classes)
    scores = graph.add("Concat", graph.add("Neg", values), values, axis=1) if count == 2 else values
    best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    kind = "INT64" if classes.dtype.kind in "iu" else "DOUBLE" if classes.dtype.kind == "f" else "STRING"
    named = classes.astype({"INT64": np.int64, "DOUBLE": np.float64, "STRING": str}[kind])
    label = graph.add("Gather", graph.hold(named), best)
    outputs = [
        graph.write_output("label", label, (), kind),
        graph.write_output("scores", values, () if count == 2 else (count,)),
    ]
    if hasattr(model, "slope_"):
        if model.is_constant_:
            nothing = graph.add("MatMul", "X", graph.hold(np.zeros((model.n_features_in_, count))))
            shares = graph.add("Add", nothing, graph.hold(model.class_prior_))
        else:
            shares = graph.add("Softmax", graph.add("Mul", scores, graph.hold(np.float64(model.slope_))), axis=1)
        outputs.append(graph.write_output("probabilities", shares, (count,)))
    return outputs
