"""Pages of the headers: declarations, the comments that stand by them, members in tables; an anchor a name."""
import html
import re
import textwrap

from header import Text, parse
from links import headers
from page import Page, fresh_slug


def api_pages(root, links):
    return [api_page(links.relative(path), parse(path.read_text(encoding="utf-8")), links) for path in headers(root)]


def api_page(name, header, links):
    used, seen = set(header.names()), set()
    body = [f"<h1>&lt;costate/{header.name}&gt;</h1>", f"<p class=lead>{links.linked(begun(header.title))}</p>",
            prose(header.text, links), f'<p class="note"><a href="{links.source(name)}">The header as it is</a></p>']
    for part in header.parts:
        if part.title:
            body.append(f'<h2 id="{fresh_slug(part.title, used)}">{html.escape(begun(part.title))}</h2>')
        body += [prose(item.text, links, item.apart) if isinstance(item, Text) else shown(item, links, seen)
                 for item in part.items]
    return Page(links.page[name], f"<costate/{header.name}>", "\n".join(body))


def begun(text):
    """with a capital, but for a name"""
    return text if re.match(r"costate|\w+\.\w", text) else text[:1].upper() + text[1:]


def prose(text, links, apart=False):
    """A comment: its paragraphs; those indented deeper as they are where they are formulas or a table."""
    out = []
    for block in re.split(r"\n\n+", text):
        plain = textwrap.dedent(block).strip("\n")
        if not plain:
            continue
        if plain == block.strip("\n"):
            out += mixed(plain, links)
        elif re.search(r"\||\S   |^(?! )\S.*\n +", plain):
            out.append(f"<pre>{links.linked(plain)}</pre>")
        else:
            out.append(f"<blockquote><p>{links.linked(plain)}</p></blockquote>")
    return f'<div class="{"text apart" if apart else "text"}">' + "\n".join(out) + "</div>"


def mixed(block, links):
    """Lines of a paragraph; runs of lines indented deeper in it are shown as they are."""
    for deep, lines in runs(block.split("\n")):
        text = "\n".join(lines)
        yield f"<pre>{links.linked(textwrap.dedent(text))}</pre>" if deep else f"<p>{links.linked(text)}</p>"


def runs(lines):
    found = []
    for line in lines:
        deep = line.startswith("    ")
        if found and found[-1][0] == deep:
            found[-1][1].append(line)
        else:
            found.append((deep, [line]))
    return found


def shown(item, links, seen):
    """A declaration in a box; its anchor is its name, but where a macro has that of a function."""
    anchors = [name for name in item.names if name not in seen]
    seen.update(anchors)
    own = set(item.names)
    first = f' id="{item.name}"' if item.name in anchors else ""
    spans = "".join(f'<span id="{name}"></span>' for name in anchors if name != item.name and not item.members)
    code = item.code or item.head.rstrip() + " ... " + item.tail
    about = f"<p>{links.linked(item.text, own)}</p>" if item.text else ""
    return (f'<div class="item"{first}>{spans}<pre class="code">{links.linked(code, own)}</pre>{about}'
            f"{table(item, links) if item.members else ''}</div>")


def table(item, links):
    rows = []
    for member in item.members:
        if not member.code:
            rows.append(f'<tr><td colspan="2" class="between">{links.linked(member.text)}</td></tr>')
            continue
        anchors = "".join(f'<span id="{name if name in item.own else item.name + "." + name}"></span>'
                          for name in member.names)
        code = links.linked(member.code, set(item.own))
        rows.append(f"<tr><td>{anchors}<code>{code}</code></td><td>{links.linked(member.text)}</td></tr>")
    return '<table class="members">' + "\n".join(rows) + "</table>"
