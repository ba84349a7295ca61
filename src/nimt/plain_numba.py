"""Whether compiled code is made by numba's public functions alone: the variable NIMT_PLAIN_NUMBA says so.

Nothing is then kept on disk and lessons are slower, but nothing depends on the version of numba.
"""

from __future__ import annotations

import os

PLAIN_NUMBA = os.environ.get("NIMT_PLAIN_NUMBA", "") not in ("", "0")
