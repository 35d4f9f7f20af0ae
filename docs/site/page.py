"""A page: its frame of HTML, its table of contents, writing it."""
import html
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from formulas import styles

MENU = (("index.html", "costate"), ("manual.html", "Manual"), ("choosing.html", "Choosing"),
        ("recipes.html", "Recipes"), ("applications.html", "Applications"), ("mathematics.html", "Mathematics"),
        ("costate-h.html", "Interface"), ("gallery.html", "Methods"))
HEADING = re.compile(r'<h([23]) id="([^"]*)">(.*?)</h\1>', re.S)

FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{styles}<link rel="stylesheet" href="style.css">
</head>
<body>
<header><nav>{menu}</nav></header>
<div class="{layout}">
{contents}<main>
{body}
</main>
</div>
</body>
</html>
"""


@dataclass
class Page:
    name: str                        # of its file
    title: str
    body: str
    contents: bool = True            # with a table of contents, where there is more than one heading
    formulas: bool = False           # has some


def menu(page):
    return "".join(f'<a href="{address}"{" class=here" if address == page.name else ""}>{title}</a>'
                   for address, title in MENU)


def contents(page):
    """Headings of the second level, those of the third below them."""
    found = HEADING.findall(page.body)
    if not page.contents or len(found) < 2:
        return ""
    lines = [f'<li class="h{level}"><a href="#{anchor}">{re.sub("<[^>]*>", "", text)}</a></li>'
             for level, anchor, text in found]
    return ('<aside><details open><summary>Contents</summary><ul>\n' + "\n".join(lines) + "\n</ul></details></aside>\n")


def text_of(page):
    aside = contents(page)
    title = page.title if page.title == "costate" else page.title + " - costate"
    sheet = '<link rel="stylesheet" href="katex.css">\n' if page.formulas and styles() else ""
    return FRAME.format(title=html.escape(title), menu=menu(page), contents=aside, body=page.body.strip(),
                        styles=sheet, layout="two" if aside else "one")


def write_pages(out, pages, figures):
    """figures: name of a file: its text"""
    out.mkdir(parents=True, exist_ok=True)
    for page in pages:
        (out / page.name).write_text(text_of(page), encoding="utf-8")
    for name, text in figures.items():
        (out / name).write_text(text, encoding="utf-8")
    shutil.copy(Path(__file__).with_name("style.css"), out / "style.css")
    for name, source in styles().items():
        if source.is_dir():
            shutil.copytree(source, out / name, ignore=shutil.ignore_patterns("*.ttf", "*.woff"), dirs_exist_ok=True)
        else:
            shutil.copy(source, out / name)


def slug(text):
    """The anchor of a heading, as those who show Markdown elsewhere make it."""
    return re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", text.strip().lower()))


def fresh_slug(text, used):
    base = name = slug(text)
    count = 0
    while name in used:
        count += 1
        name = f"{base}-{count}"
    used.add(name)
    return name
