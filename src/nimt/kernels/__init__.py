"""What K(x, y) is: kernels as light values, one file for each family; those of scikit-learn through one adapter."""

from nimt.kernels.dot_product import linear
from nimt.kernels.expressions import parse_kernel
from nimt.kernels.graphs import diffusion, graph_matern
from nimt.kernels.kernel import (
    CUT,
    ConstantKernel,
    Kernel,
    KernelLike,
    as_kernel,
    as_rows,
    diagonal,
    height,
    profile,
    reach,
)
from nimt.kernels.matern import Matern
from nimt.kernels.periodic import ExpSineSquared
from nimt.kernels.precomputed import Precomputed
from nimt.kernels.radial import Radial, rbf
from nimt.kernels.rational_quadratic import RationalQuadratic
from nimt.kernels.wendland import Wendland

__all__ = [
    "CUT", "ConstantKernel", "ExpSineSquared", "Kernel", "KernelLike", "Matern", "Precomputed", "Radial",
    "RationalQuadratic", "Wendland", "as_kernel", "as_rows", "diagonal", "diffusion", "graph_matern",
    "height", "linear", "parse_kernel", "profile", "rbf", "reach",
]  # fmt: skip
