"""Sphinx extension: public names and names of methods that a text shows as code lead to where they are documented."""
from docutils import nodes
from sphinx.util.nodes import make_refnode


def setup(app):
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def places(env):
    """{name: (page, anchor)}"""
    if not hasattr(env, "costate_places"):
        found = {}
        for name, _, _, page, anchor, _ in env.get_domain("c").get_objects():
            found.setdefault(name, (page, anchor))
        for page in env.found_docs:
            if page.startswith("reference/methods/") and not page.endswith("index"):
                found.setdefault(page.rpartition("/")[2], (page, ""))
        del found["costate"]             # in texts that is the project, not the type
        env.costate_places = found
    return env.costate_places


def link(app, doctree, docname):
    if app.builder.format != "html":
        return
    found = places(app.env)
    for node in list(doctree.findall(nodes.literal)):
        place = found.get(node.astext().removesuffix("()"))
        if place and place[0] != docname and not inside(node, (nodes.reference, nodes.title)):
            node.replace_self(make_refnode(app.builder, docname, *place, node.deepcopy()))


def inside(node, kinds):
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False
