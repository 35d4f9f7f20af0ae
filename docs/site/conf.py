"""Configuration of Sphinx, for __main__.py: it makes the sources, a copy of docs/, and finds the extensions."""
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "costate"
author = copyright = "the authors of costate"
version = release = re.search(r"version: *'([^']*)'", (ROOT / "meson.build").read_text(encoding="utf-8"))[1]
language = "en"

extensions = ["myst_parser", "breathe", "sphinx_copybutton", "formulas", "gallery", "names", "navigation", "theme",
              "sphinx.ext.autodoc", "python_pages"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["pictures"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

breathe_projects = {}                             # __main__.py says where Doxygen wrote about each header
breathe_domain_by_extension = {"h": "c"}
breathe_default_members = ("members", "undoc-members")

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"

owner = tomllib.loads((ROOT / "owner.toml").read_text(encoding="utf-8"))
html_theme = "furo"
html_baseurl = owner["documentation"]
if owner["repository"]:
    html_theme_options = {"footer_icons": [{"name": "Source code", "url": owner["repository"], "html": "Source code",
                                            "class": ""}]}
html_math_renderer = "katex"                      # formulas.py
html_title = f"costate {release}"
html_static_path = ["static"]
html_css_files = ["katex.css", "costate.css"]
html_js_files = ["sortable.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "native"
