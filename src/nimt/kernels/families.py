"""The kernels that text and files can name, and how scikit-learn spells them."""

from __future__ import annotations

from collections.abc import Callable

from nimt.kernels.dot_product import Linear
from nimt.kernels.kernel import ConstantKernel, Kernel, KernelPower, KernelProduct, KernelSum
from nimt.kernels.matern import Matern
from nimt.kernels.periodic import ExpSineSquared
from nimt.kernels.precomputed import Precomputed
from nimt.kernels.radial import Gaussian
from nimt.kernels.rational_quadratic import RationalQuadratic
from nimt.kernels.wendland import Wendland

BY_MATRIX: tuple[type[Kernel], ...] = (Precomputed,)
COMBINED: tuple[type[Kernel], ...] = (KernelSum, KernelProduct, KernelPower)
SINGLE: tuple[type[Kernel], ...] = (
    Gaussian, Linear, Wendland, Matern, RationalQuadratic, ExpSineSquared, ConstantKernel,
)  # fmt: skip
FAMILIES: dict[str, type[Kernel]] = {kind.word or kind.__name__: kind for kind in (*SINGLE, *COMBINED, *BY_MATRIX)}

BY_SKLEARN: dict[str, Callable[..., Kernel]] = {
    "RBF": Gaussian.of_length_scale,
    "DotProduct": Linear.of_sigma,
    **{kind.__name__: kind for kind in (Matern, RationalQuadratic, ExpSineSquared, ConstantKernel)},
}
