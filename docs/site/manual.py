"""Pages of Markdown files: made by cmark-gfm, with anchors, links to other pages, names that lead to the headers."""
import html
import re
import subprocess

from api import begun
from applications import placed
from formulas import put_back, taken_out
from links import manuals
from page import Page, fresh_slug

CMARK = ("cmark-gfm", "--extension", "table", "--extension", "autolink")
FIRST = ("manual.html", "choosing.html", "recipes.html", "applications.html", "coming-from.html", "mathematics.html")


def manual_pages(root, links, drawn):
    """drawn: figures by the captions that they belong to"""
    return [manual_page(root, links, path, drawn) for path in manuals(root)]


def manual_page(root, links, path, drawn):
    name = links.relative(path)
    text, formulas = taken_out(path.read_text(encoding="utf-8"))
    body = converted(text)
    title = re.search(r"<h1[^>]*>(.*?)</h1>", body).group(1)
    return Page(links.page[name], html.unescape(re.sub("<[^>]*>", "", title)),
                put_back(placed(mended(body, name, links), drawn), formulas), formulas=bool(formulas))


def converted(text):
    return subprocess.run(CMARK, input=text, capture_output=True, text=True, encoding="utf-8", check=True).stdout


def mended(body, document, links):
    """anchors for headings, addresses of these pages, names and methods in code as links, tables that may scroll"""
    used = set()

    def heading(found):
        text = html.unescape(re.sub("<[^>]*>", "", found.group(2)))
        return f'<h{found.group(1)} id="{fresh_slug(text, used)}">{found.group(2)}</h{found.group(1)}>'

    body = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.S)
    body = re.sub(r'(href|src)="([^"]*)"',
                  lambda m: f'{m.group(1)}="{html.escape(links.target(document, html.unescape(m.group(2))))}"', body)
    body = named(body, links)
    return body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def named(body, links):
    """<code>name</code> and cells that are the name of a method, outside of links and of blocks of code"""
    def link(found):
        before, word, behind = found.groups()
        address = links.names.get(word) or links.methods.get(word)
        return f'{before}<a href="{address}">{word}</a>{behind}' if address else found.group()

    parts = re.split(r"(<a .*?</a>|<pre>.*?</pre>|<h\d.*?</h\d>)", body, flags=re.S)
    parts[::2] = [re.sub(r"(<code>)(\w+)(</code>)", link, part) for part in parts[::2]]
    return re.sub(r"(<td>)(\w+)(</td>)", lambda m: link(m) if m.group(2) in links.methods else m.group(),
                  "".join(parts))


def first_paragraph(root, links):
    text = (root / "README.md").read_text(encoding="utf-8").split("\n\n")[1]
    return mended(converted(text), "README.md", links)


def start_page(root, links):
    """What README.md begins with, and where all is."""
    pages = [(links.page[links.relative(path)], path) for path in manuals(root)]
    listed = sorted(pages, key=lambda p: (p[0] not in FIRST, FIRST.index(p[0]) if p[0] in FIRST else 0))
    lines = [entry(address, *told(path)) for address, path in listed]
    lines.insert(1, entry("gallery.html", "Gallery of methods", "Each with its coefficients, stability and errors."))
    interface = [entry(links.page[links.relative(path)], *of_header(path))
                 for path in sorted(root.glob("include/costate/*.h"), key=lambda p: (p.stem != "costate", p.stem))]
    interface += [entry(links.page[links.relative(path)], path.name, of_module(path))
                  for path in sorted(root.glob("fortran/*.f90"))]
    return Page("index.html", "costate", "<h1>costate</h1>\n" + first_paragraph(root, links)
                + '<h2 id="pages">To read</h2>\n<dl class="cards">' + "".join(lines)
                + '</dl>\n<h2 id="interface">Interface</h2>\n<dl class="cards">' + "".join(interface) + "</dl>", False)


def entry(address, title, text):
    return f'<div><dt><a href="{address}">{html.escape(title)}</a></dt><dd>{html.escape(begun(text))}</dd></div>\n'


def told(path):
    """(title, what it has) of a text: its headings of the second level, or what it begins with."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    title = re.search(r"^# (.*)", text, re.M).group(1).replace("`", "")
    parts = [part.replace("`", "") for part in re.findall(r"^## (.*)", text, re.M)]
    shown = ", ".join(parts[:6]) + (", ..." if len(parts) > 6 else "")
    shown = shown or first_sentence(text)
    return ("README" if path.name == "README.md" and title == "costate" else title), shown


def first_sentence(text):
    """of the first paragraph that is no heading, table or block of code"""
    found = re.search(r"^(?![#|\s-])(?:.+\n)+", text, re.M)
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", " ".join(found.group().split())) if found else ""
    return re.split(r"(?<=[.:;]) ", plain)[0].rstrip(":;")


def of_header(path):
    title = re.match(r"/\* (\S+) - (.*?\.)\n", path.read_text(encoding="utf-8"))
    return f"<costate/{title.group(1)}>", title.group(2)


def of_module(path):
    return re.match(r"! \S+ - (.*?\.)\n", path.read_text(encoding="utf-8")).group(1)
