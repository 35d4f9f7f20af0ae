"""Pages of the Fortran modules: their text in its parts, an anchor a type, function and subroutine."""
import html
import re

from api import begun
from page import Page, fresh_slug

PART = re.compile(r"^ *! -{4,} (.*?) -{4,}\n", re.M)
NAMED = re.compile(r"^( *(?:type, bind\(c\) ::|(?:[\w()]+ )?function|subroutine) )(\w+)", re.M)


def fortran_pages(root, links):
    return [page(links, path) for path in sorted(root.glob("fortran/*.f90"))]


def page(links, path):
    about, rest = re.match(r"((?:![^\n]*\n)+)(.*)", path.read_text(encoding="utf-8"), re.S).groups()
    about = "\n".join(line[2:] for line in about.splitlines())
    pieces, used, seen = PART.split(rest), set(), set()
    first, _, text = about.partition("\n")
    body = [f"<h1>{path.name}</h1>", f"<p class=lead>{links.linked(begun(first.split(' - ', 1)[1]))}</p>",
            f'<pre class="about">{links.linked(text.strip())}</pre>', block(pieces[0], seen)]
    for title, text in zip(pieces[1::2], pieces[2::2]):
        body += [f'<h2 id="{fresh_slug(title, used)}">{html.escape(begun(title))}</h2>',
                 block(text, seen)]
    return Page(links.page[links.relative(path)], path.name, "\n".join(body))


def block(text, seen):
    def anchor(found):
        before, name = found.groups()
        if name in seen:
            return found.group()
        seen.add(name)
        return f'{before}<span id="{name}"></span><b>{name}</b>'
    return f'<pre class="code">{NAMED.sub(anchor, html.escape(text.strip(chr(10)), quote=False))}</pre>'
