"""Sphinx extension: the tree of all pages beside each page.

Sphinx copies the contents of all pages to make it, for each page again, which took a quarter of the time of the
whole site.  Here it is made of the titles of the pages, which are typeset once."""


def setup(app):
    app.connect("html-page-context", share, priority=100)          # before the theme asks for the tree
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def share(app, page, template, context, doctree):
    if app.builder.format != "html" or "toctree" not in context:
        return
    by_sphinx = context["toctree"]

    def toctree(**options):
        if not hasattr(app, "costate_titles"):
            app.costate_titles = {}
            by_sphinx(**options)           # warns of circles and of pages without a title
        return tree(app, page)
    context["toctree"] = toctree


def tree(app, page):
    """HTML: lists of titles in lists; the page and those above it are marked."""
    above = {below: name for name, inside in app.env.toctree_includes.items() for below in inside}
    marked = [page]
    while above.get(marked[-1], page) not in marked:
        marked.append(above[marked[-1]])
    return listing(app, [app.config.root_doc], page, marked)


def listing(app, trail, page, marked):
    """of what is below the last page of a trail from the root"""
    inside = [name for name in app.env.toctree_includes.get(trail[-1], []) if name not in trail]
    if not inside:
        return ""
    rows = "".join(entry(app, [*trail, name], page, marked) for name in inside)
    return ('<ul class="current">' if set(inside) & set(marked) else "<ul>") + "\n" + rows + "</ul>\n"


def entry(app, trail, page, marked):
    name = trail[-1]
    leads = "#" if name == page else app.builder.get_relative_uri(page, name)
    return (f'<li class="toctree-l{len(trail) - 1}{" current" if name in marked else ""}">'
            f'<a class="{"current " if name == page else ""}reference internal" href="{leads}">{title(app, name)}</a>'
            + listing(app, trail, page, marked) + "</li>\n")


def title(app, name):
    """of a page, as HTML"""
    if name not in app.costate_titles:
        app.costate_titles[name] = app.builder.render_partial(app.env.titles[name])["title"]
    return app.costate_titles[name]
