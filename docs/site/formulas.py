"""Sphinx extension: formulas typeset by KaTeX (Debian: katex) while the pages are built; numbers that lead to them.

Pages need no script for it.  A formula that KaTeX rejects is a warning.  Without KaTeX a page shows the LaTeX."""
import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

DEBIAN = Path("/usr/share/nodejs")               # where its packages for Node.js are, whichever node is on PATH
TAG = re.compile(r"\s*\\tag\{([^}]*)\}")
NUMBER = re.compile(r"\((\d+\.\d+)\)")
log = logging.getLogger(__name__)


def setup(app):
    app.add_html_math_renderer("katex", inline_renderers=(shown, None), block_renderers=(shown, None))
    app.connect("doctree-read", number)
    app.connect("doctree-resolved", typeset)
    app.connect("config-inited", styles)
    app.connect("build-finished", stop)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def engine():
    """The command that runs formulas.js; None: there is no KaTeX."""
    node = shutil.which("node") or shutil.which("nodejs")
    return node if node and (DEBIAN / "katex").is_dir() else None


def styles(app, config):
    """KaTeX's style sheet and fonts, beside the pages."""
    if not engine():
        config.html_css_files = [name for name in config.html_css_files if name != "katex.css"]
        return
    place = Path(app.outdir) / "_static"
    (place / "fonts").mkdir(parents=True, exist_ok=True)
    shutil.copy(DEBIAN / "katex/dist/katex.min.css", place / "katex.css")
    for font in (DEBIAN / "katex/dist/fonts").glob("*.woff2"):
        shutil.copy(font, place / "fonts")


def number(app, doctree):
    """Anchors eq-3.2 of numbered formulas; (3.2) in the text of the same page leads there."""
    tags = set()
    for node in doctree.findall(nodes.math_block):
        found = TAG.search(node.astext())
        if found:
            tags.add(found[1])
            node["ids"].append("eq-" + found[1])
            node["tag"] = found[1]
    if not tags:
        return
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, (nodes.math, nodes.math_block, nodes.literal, nodes.literal_block,
                                        nodes.reference, nodes.title)):
            parts = NUMBER.split(text.astext())
            if any(part in tags for part in parts[1::2]):
                text.parent.replace(text, list(linked(parts, tags)))


def linked(parts, tags):
    """nodes for text, number, text, ..."""
    for k, part in enumerate(parts):
        if k % 2 == 0:
            yield nodes.Text(part)
        elif part in tags:
            yield nodes.reference("", f"({part})", internal=True, refuri="#eq-" + part)
        else:
            yield nodes.Text(f"({part})")


def typeset(app, doctree, docname):
    """HTML of all formulas of a page."""
    found = list(doctree.findall(lambda node: isinstance(node, (nodes.math, nodes.math_block))))
    if not found or not engine():
        return
    made = answer(app, [[TAG.sub("", x.astext()), isinstance(x, nodes.math_block)] for x in found])
    for formula, done in zip(found, made, strict=True):
        if "error" in done:
            log.warning("KaTeX rejects %s: %s", formula.astext(), done["error"], location=docname)
        formula["html"] = done.get("html")


def answer(app, formulas):
    """of formulas.js, which runs until all pages are resolved: starting it takes longer than most pages"""
    if not hasattr(app, "costate_katex"):
        app.costate_katex = subprocess.Popen([engine(), Path(__file__).with_name("formulas.js")], text=True,
                                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
                                             env=dict(os.environ, NODE_PATH=str(DEBIAN)))
    app.costate_katex.stdin.write(json.dumps(formulas) + "\n")
    app.costate_katex.stdin.flush()
    return json.loads(app.costate_katex.stdout.readline())


def stop(app, exception):
    if hasattr(app, "costate_katex"):
        app.costate_katex.communicate()


def shown(translator, node):
    """The visitor of both kinds of formulas."""
    text = node.get("html") or f"<code>{html.escape(TAG.sub('', node.astext()))}</code>"
    if isinstance(node, nodes.math_block):
        anchor = f' id="eq-{node["tag"]}"' if node.get("tag") else ""
        label = f'<span class="number">({node["tag"]})</span>' if node.get("tag") else ""
        text = f'<div class="equation"{anchor}><div>{text}</div>{label}</div>\n'
    translator.body.append(text)
    raise nodes.SkipNode
