"""How the documentation site is built: `make docs` writes it to out/site, offline, and a warning fails the build."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "site"))  # the extensions of this site

import nimt  # noqa: E402

root_doc = "index"
project = "nimt"
author = "The nimt authors"
copyright = "the nimt authors"
release = version = nimt.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "accessible",
    "docstrings",
    "formulas",
    "landing",
    "project_pages",
    "reference",
    "shown",
]
exclude_patterns = ["site", "gallery", "built/gallery/*.py", "built/gallery/*.ipynb"]
html_theme = "furo"
html_title = "nimt"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_copy_source = False

# -- Markdown pages: the headings of a page can be linked to, as on a forge
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]
html_math_renderer = "mathml"

# -- docstrings: numpydoc sections, and a name in backticks is a link where there is such a name
default_role = "py:obj"
autodoc_mock_imports = ["torch"]  # the pages of nimt.torch are built without it
autodoc_typehints = "none"  # the parameters of a docstring say it in words
autodoc_member_order = "bysource"
autodoc_default_options = {
    # what scikit-learn adds to every estimator refers to pages of its own
    "exclude-members": "get_metadata_routing, set_fit_request, set_partial_fit_request, set_predict_request, "
    "set_score_request",
}
numpydoc_show_class_members = False
nitpicky = True
suppress_warnings = ["ref.python"]  # two classes have a property of one name, and backticks do not say which
nitpick_ignore_regex = [(r"py:obj", r".*"), (r"py:class", r".*")]  # words in backticks that are not names of nimt's

# -- gallery: every script is run while the site is built
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "built/gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("shown",),
    "ignore_repr_types": r"matplotlib.*",
    "capture_repr": ("_repr_html_",),
    "plot_gallery": True,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "min_reported_time": 1e9,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
