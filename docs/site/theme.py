"""Sphinx extension: what Debian's package of the theme furo lacks, which is not bundled as furo's own releases are.

Its script imports another one, which a page that loads it as a plain script does not execute: no switch of colours, no
place in the table of contents.  Its style sheet follows the switch, but not a browser that prefers dark colours; or it
says "not print and (prefers-color-scheme: dark)", in which `not` negates all of it, so that every screen that is light
has dark pages."""
import re
from pathlib import Path

IMPORT = re.compile(r'^import (\* as )?Gumshoe from "\./gumshoe-patched\.js";\n')        # Debian 12; 13
DARK = re.compile(r'body\[data-theme="dark"\] \{(\s*--[^}]*)\}')
WANTED = "screen and (prefers-color-scheme: dark)"
MERGED = re.compile(r"not print and \(prefers-color-scheme: ?dark\)")       # as sassc merges two nested conditions


def setup(app):
    app.connect("builder-inited", load_spy)
    app.connect("build-finished", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def load_spy(app):
    """gumshoe-patched.js defines Gumshoe when it is loaded as a plain script."""
    import furo
    theme = Path(furo.__file__).parent / "theme" / "furo" / "static" / "scripts"
    if (theme / "gumshoe-patched.js").exists():
        app.add_js_file("scripts/gumshoe-patched.js", priority=100)


def mend(app, exception):
    if exception or app.builder.name != "html":
        return
    script = Path(app.outdir) / "_static" / "scripts" / "furo.js"
    text = script.read_text(encoding="utf-8")
    if IMPORT.match(text):
        script.write_text(IMPORT.sub("", text), encoding="utf-8")
    sheet = script.parents[1] / "styles" / "furo.css"
    text = sheet.read_text(encoding="utf-8")
    if "prefers-color-scheme" not in text:
        colours = "".join(f'  body:not([data-theme="light"]) {{{block}}}\n' for block in DARK.findall(text))
        sheet.write_text(f"{text}\n@media {WANTED} {{\n{colours}}}\n", encoding="utf-8")
    for sheet in script.parents[1].rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        if MERGED.search(text):
            sheet.write_text(MERGED.sub(WANTED, text), encoding="utf-8")
