"""Configuration of the documentation site (``make docs``)."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import eigenscape  # noqa: E402

project = "eigenscape"
author = "The eigenscape developers"
copyright = "the eigenscape developers"  # noqa: A001
release = eigenscape.__version__
version = ".".join(release.split(".")[:2])

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "reference_pages",
    "figures",
    "topics",
    "root_files",
    "code_lines",
]
exclude_patterns = ["_ext", "_templates", "**/README.rst.txt", "auto_examples/**.ipynb"]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
root_doc = "index"
suppress_warnings = ["config.cache", "myst.header"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True, "member-order": "alphabetical"}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_use_plots = False

# Links to other projects are resolved only if asked for: the build needs no network.
if os.environ.get("EIGENSCAPE_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"plot_.*\.py",
    "plot_gallery": os.environ.get("EIGENSCAPE_GALLERY", "1") != "0",
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 20,
    "download_all_examples": False,
    "thumbnail_size": (320, 224),
    "image_srcset": [],
    "doc_module": ("eigenscape",),
    "reference_url": {"eigenscape": None},
    "backreferences_dir": "reference/backreferences",
    "inspect_global_variables": True,
    "show_signature": False,
    "write_computation_times": False,
    "reset_modules": ("matplotlib", "gallery_style.reset"),
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = f"eigenscape {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "eigenscape"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
}
html_sidebars = {"index": [], "search": [], "theory": [], "tutorials": []}
