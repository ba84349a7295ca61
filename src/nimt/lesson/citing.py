"""What to cite for a lesson: the papers of the methods it used, and the software."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from nimt._version import __version__

TAG = re.compile(r"\[([A-Z][a-z]+\d\d[a-z]?)[],]")  # as docstrings cite
ALWAYS = "Zhang23"
PAPERS = {
    "Zhang23": """@inproceedings{Zhang23,
  title = {Nonparametric Iterative Machine Teaching},
  author = {Zhang, Chen and Cao, Xiaofeng and Liu, Weiyang and Tsang, Ivor W. and Kwok, James T.},
  booktitle = {Proceedings of the 40th International Conference on Machine Learning},
  year = {2023}
}""",
    "Zhang23b": """@inproceedings{Zhang23b,
  title = {Nonparametric Teaching for Multiple Learners},
  author = {Zhang, Chen and Cao, Xiaofeng and Liu, Weiyang and Tsang, Ivor W. and Kwok, James T.},
  booktitle = {Advances in Neural Information Processing Systems},
  year = {2023}
}""",
    "Liu17": """@inproceedings{Liu17,
  title = {Iterative Machine Teaching},
  author = {Liu, Weiyang and Dai, Bo and Humayun, Ahmad and Tay, Charlene and Yu, Chen and Smith, Linda B.
            and Rehg, James M. and Song, Le},
  booktitle = {Proceedings of the 34th International Conference on Machine Learning},
  year = {2017}
}""",
    "Zhang24": """@inproceedings{Zhang24,
  title = {Nonparametric Teaching of Implicit Neural Representations},
  author = {Zhang, Chen and Luo, Steven Tin Sui and Li, Jason Chun Lok and Wu, Yik-Chung and Wong, Ngai},
  booktitle = {Proceedings of the 41st International Conference on Machine Learning},
  year = {2024}
}""",
    "Wenzel23": """@article{Wenzel23,
  title = {Analysis of Target Data-Dependent Greedy Kernel Algorithms: Convergence Rates for f-, f.P- and f/P-Greedy},
  author = {Wenzel, Tizian and Santin, Gabriele and Haasdonk, Bernard},
  journal = {Constructive Approximation},
  year = {2023}
}""",
}
SOFTWARE = """@software{{nimt,
  title = {{nimt: nonparametric iterative machine teaching}},
  author = {{{{The nimt authors}}}},
  version = {{{version}}}
}}"""


def cite(settings: dict[str, Any]) -> str:
    """Return the BibTeX entries of a lesson with these settings: the paper first, the software last.

    Examples
    --------
    >>> found = cite({"teacher": {"type": "OmniscientTeacher"}, "learner": {"type": "KernelLearner"}})
    >>> [line for line in found.splitlines() if line.startswith("@")]
    ['@inproceedings{Zhang23,', '@inproceedings{Liu17,', '@software{nimt,']
    """
    tags = [ALWAYS]
    for name in _named_classes([settings.get("teacher"), settings.get("learner")]):
        kind = getattr(importlib.import_module("nimt"), name, None)
        if kind is not None:
            said = f"{kind.__doc__} {importlib.import_module(kind.__module__).__doc__}"
            tags += [tag for tag in TAG.findall(said) if tag in PAPERS]
    version = settings.get("nimt", __version__)
    return "\n\n".join([*(PAPERS[tag] for tag in dict.fromkeys(tags)), SOFTWARE.format(version=version)])


def _named_classes(described: Any) -> Iterator[str]:
    """Yield the names of the classes in a description, those inside others too."""
    if isinstance(described, dict):
        if isinstance(described.get("type"), str):
            yield described["type"]
        yield from _named_classes(list(described.values()))
    elif isinstance(described, list | tuple):
        for part in described:
            yield from _named_classes(part)
