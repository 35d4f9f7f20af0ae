"""Pages of files that a text links to, as they are, and of directories: what is in them."""
import html

from page import Page


def source_pages(root, links):
    """A directory may ask for more of them."""
    pages, done = [], 0
    while done < len(links.shown):
        name = links.shown[done]
        path = root / name
        body = listing(links, path) if path.is_dir() else text_of(path)
        pages.append(Page(links.source(name), name, f"<h1>{html.escape(name)}</h1>\n" + body))
        done += 1
    return pages


def listing(links, path):
    lines = [f'<li><a href="{links.of_file(links.relative(file))}">{html.escape(file.name)}</a></li>'
             for file in sorted(path.iterdir()) if not file.name.startswith((".", "__"))]
    return "<ul>" + "\n".join(lines) + "</ul>"


def text_of(path):
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return f"<p>{path.stat().st_size} bytes that are no text.</p>"
    return f'<pre class="code source">{html.escape(text.rstrip(), quote=False)}</pre>'
