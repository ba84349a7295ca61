"""The machine and the versions that a benchmark ran on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

from threadpoolctl import threadpool_info

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def machine():
    """Return what a figure depends on: processor, memory, versions, BLAS, and the commit that was measured."""
    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "nimt": importlib.metadata.version("nimt"),
        **{name: importlib.metadata.version(name) for name in PACKAGES},
        "blas": ", ".join(
            sorted({f"{b['internal_api']} {b['version']}" for b in threadpool_info() if "blas" in str(b)})
        ),
        "commit": commit(),
    }


def cpu():
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor()
    lines = info.read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def commit():
    """Return the commit of this clone, with a plus if files were changed since; empty where there is no git."""
    here = Path(__file__).parent

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""
