"""Where things are: which page a file of the source has, and which anchor a name has.

A page is named after its file: docs/manual.md is manual.html, include/costate/bvp.h is bvp-h.html, a coefficient file
is method-NAME.html, the page of its method.  Any other file that a text links to gets a page that shows it."""
import html
import os
import re

from header import parse

NAME = re.compile(r"\b(?:costate|COSTATE)(?:_\w+)?\b")
NAMES = {"README.md": "readme", "methods/README.md": "coefficient-files", "CHANGELOG.md": "changes",
         "CONVENTIONS.md": "conventions", "bench/RESULTS.md": "results"}


def headers(root):
    """costate.h is what all others include"""
    return sorted(root.glob("include/costate/*.h"), key=lambda path: (path.stem != "costate", path.stem))


def manuals(root):
    return [root / "README.md", *sorted(root.glob("docs/*.md"), key=lambda path: (path.stem != "manual", path.stem)),
            root / "methods/README.md", root / "bench/RESULTS.md", root / "CHANGELOG.md", root / "CONVENTIONS.md"]


class Links:
    def __init__(self, root):
        self.root = root
        self.page = {}                   # of a file, by its path from the root
        self.shown = []                  # files that are shown as they are, in the order in which they were asked for
        for path in manuals(root):
            name = self.relative(path)
            self.page[name] = NAMES.get(name, path.stem) + ".html"
        for path in headers(root):
            self.page[self.relative(path)] = path.stem + "-h.html"
        for path in root.glob("fortran/*.f90"):
            self.page[self.relative(path)] = path.stem + "-f90.html"
        self.methods = {path.stem: f"method-{path.stem}.html" for path in sorted(root.glob("methods/*/*.toml"))}
        self.page["methods"] = "gallery.html"
        self.page |= {self.relative(path): self.methods[path.stem] for path in root.glob("methods/*/*.toml")}
        self.pictures = {}               # that texts show: the name of the file beside the pages, and its text
        self.names = {}                  # public name: its address
        for path in headers(root):
            for name in parse(path.read_text(encoding="utf-8")).names():
                self.names.setdefault(name, f"{path.stem}-h.html#{name}")

    def relative(self, path):
        return path.relative_to(self.root).as_posix()

    def source(self, name):
        """The page that shows a file or lists a directory."""
        if name not in self.shown:
            self.shown.append(name)
        return "source-" + name.replace("/", "-") + ".html"

    def picture(self, name):
        """The file beside the pages that shows it."""
        beside = "picture-" + os.path.basename(name)
        self.pictures[beside] = (self.root / name).read_text(encoding="utf-8")
        return beside

    def of_file(self, name):
        return self.page.get(name) or self.source(name)

    def target(self, document, address):
        """What a link of a document leads to on these pages."""
        if re.match(r"[a-z]+:|#", address):
            return address
        name, _, anchor = address.partition("#")
        name = os.path.normpath(os.path.join(os.path.dirname(document), name))
        if not (self.root / name).exists():
            return address
        if name.endswith(".svg"):
            return self.picture(name)
        return self.of_file(name) + ("#" + anchor if anchor else "")

    def linked(self, text, own=()):
        """text as HTML, public names in it links; but those of `own`, which stand where they are explained"""
        def link(found):
            name = found.group()
            address = self.names.get(name)
            return f'<a href="{address}">{name}</a>' if address and name not in own and name != "costate" else name
        return NAME.sub(link, html.escape(text, quote=False))
