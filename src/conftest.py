"""Doctests of nimt.torch need PyTorch; where it is not installed they are left out."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["nimt/torch/*"]
