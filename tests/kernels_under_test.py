"""Every kind of kernel the contracts run over."""

import nimt
from nimt.kernels import ConstantKernel, ExpSineSquared, Matern, RationalQuadratic

KERNELS = {
    "rbf": nimt.rbf(0.7),
    "anisotropic rbf": nimt.rbf([0.5, 2.0]),
    "matern 1/2": Matern(0.8, nu=0.5),
    "matern 1.1": Matern(0.8, nu=1.1),
    "matern 5/2": Matern(0.8, nu=2.5),
    "rational quadratic": RationalQuadratic(0.9, alpha=0.6),
    "product": ConstantKernel(2.0) * nimt.rbf(0.5),
    "sum": nimt.rbf(0.5) + Matern(1.0, nu=1.5),
    "power": nimt.rbf(1.0) ** 2,
    "nested": 0.5 * (RationalQuadratic() + nimt.linear()) * nimt.rbf(2.0),
    "periodic times rbf": ExpSineSquared(1.0, 3.0) * nimt.rbf(1.5),
    "linear": nimt.linear(),
    "linear without constant": nimt.linear(0.0),
    "wendland 0": nimt.Wendland(1.2, dimension=2, smoothness=0),
    "wendland 1": nimt.Wendland(1.2, dimension=2, smoothness=1),
    "wendland 2": nimt.Wendland(1.2, dimension=3, smoothness=2),
    "wendland sum": nimt.Wendland(0.9, dimension=2) + nimt.rbf(0.4),
    "wendland product": 3.0 * nimt.Wendland(1.5, dimension=2) * Matern(1.0),
}
