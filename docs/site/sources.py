"""The sources of the site: a copy of docs/, of other texts of the project, and pages of the files that they link to.

Links lead from one text to another, to the page of a header or method, or to a page that shows the file."""
import os
import re
import shutil

from rst import titled

LINK = re.compile(r"(\]\()([^()\s]+(?:\([^()]*\))?)(\))")
CODE = re.compile(r"(^ *```.*?^ *```|`[^`\n]*`)", re.S | re.M)
# texts of the project that are not in docs/
NAMES = {"methods/README.md": "reference/coefficient-files.md", "CHANGELOG.md": "project/changes.md",
         "CONVENTIONS.md": "project/conventions.md", "CONTRIBUTING.md": "project/contributing.md",
         "SECURITY.md": "project/security.md", "bench/RESULTS.md": "explanation/results.md"}
ELSEWHERE = {"README.md": "index.md", "docs/pictures": "index.md", "methods": "reference/methods/index.rst"}
MEASURED = "bench/parts/work_precision.c"               # to which the gallery links
FENCE = re.compile(r"^( *```)([\w+]+)$", re.M)          # others: output of programs, equation files
LEXERS = {"c", "c++", "cpp", "python", "fortran", "text", "toml", "sh", "cmake", "meson", "json"}
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".f90": "fortran", ".toml": "toml",
             ".sh": "sh", ".build": "meson"}


class Sources:
    """root: of the project; out: where the copy is written"""

    def __init__(self, root, out):
        self.root, self.out = root, out
        self.shown = [MEASURED]

    def page_of(self, name):
        """The page of a file or directory of the project; name: relative to the root."""
        place = NAMES.get(name) or ELSEWHERE.get(name)
        if place:
            return place
        stem, suffix = os.path.splitext(name)
        if name.startswith("docs/") and suffix == ".md":
            return name.removeprefix("docs/")
        if name.startswith("include/costate/") and suffix == ".h":
            return "reference/headers/" + os.path.basename(stem) + ".rst"
        if name.startswith("methods/") and suffix == ".toml":
            return "reference/methods/" + os.path.basename(stem) + ".rst"
        if name not in self.shown:
            self.shown.append(name)
        return file_page(name) + ".rst"

    def copy(self):
        """All texts, then the files that they link to."""
        shutil.copytree(self.root / "docs" / "pictures", self.out / "pictures", dirs_exist_ok=True)
        for path in sorted(self.root.glob("docs/**/*.md")):
            self.text(path.relative_to(self.root).as_posix())
        for name in NAMES:
            self.text(name)
        for name in self.shown:
            self.write(file_page(name) + ".rst", self.file(name))

    def text(self, name):
        """A copy with links for the site.  What an index links to is in its table of contents."""
        text = (self.root / name).read_text(encoding="utf-8")
        parts = CODE.split(text)
        parts[::2] = [LINK.sub(lambda m: m[1] + self.target(name, m[2]) + m[3], part) for part in parts[::2]]
        text = FENCE.sub(lambda m: m[1] + (m[2] if m[2] in LEXERS else "text"), "".join(parts))
        page = self.page_of(name)
        self.write(page, text + contents(page, text) if page.endswith("index.md") else text)

    def target(self, document, address):
        """What a link of a document leads to in the copy."""
        if re.match(r"[a-z]+:|#", address):
            return address
        name, _, anchor = address.partition("#")
        name = os.path.normpath(os.path.join(os.path.dirname(document), name))
        here = os.path.dirname(self.page_of(document))
        if name.endswith((".svg", ".png")):
            return os.path.relpath(name.removeprefix("docs/"), here or ".")
        return os.path.relpath(self.page_of(name), here or ".") + ("#" + anchor if anchor else "")

    def file(self, name):
        """The page that shows a file, or lists a directory."""
        path = self.root / name
        title = [":orphan:", ":nosearch:", "", *titled(name)]
        if path.is_dir():
            inside = sorted(x.name for x in path.iterdir() if not x.name.startswith((".", "__")))
            return "\n".join(title + ["* ``" + x + "``" for x in inside]) + "\n"
        language = LANGUAGES.get(path.suffix, "text")
        return "\n".join(title + [f".. literalinclude:: {from_sources(path, self.out)}",
                                  f"   :language: {language}", ""])

    def write(self, name, text):
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def file_page(name):
    """The page that shows a file of the project, without its suffix."""
    return "files/" + name.replace("/", "-").replace(".", "-")


def from_sources(path, out):
    """The path of a file for directives: those that begin with / are relative to the sources."""
    return "/" + os.path.relpath(path, out)


def contents(page, text):
    """A table of contents of the pages that an index links to, in its order."""
    found = dict.fromkeys(m[2].partition("#")[0] for m in LINK.finditer(text))
    pages = [name for name in found if name.endswith((".md", ".rst")) and "files/" not in name]
    if page == "index.md":
        pages = [name for name in pages if name.startswith(("start/", "project/")) or name.endswith("/index.md")]
    else:
        pages = [name for name in pages if not name.startswith("..")]
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(os.path.splitext(name)[0] for name in pages) + "\n```\n"
