"""What the files of src need of each other: by their include lines, and by the symbols of the library's object files.

Shared by tests/house/test_rooms.py, which says what they may need, and by measure, which counts circles.  Both, and
test_families.py, also learn from here which folders hold families."""
import glob
import os
import re
import subprocess

LIBRARY = "libcostate-inside.a.p"               # Meson's folder with all objects; older commits: of the shared library
LANES = "libcostate-lanes-2.a.p"                # of code that is compiled for several widths of registers, the first
PETSC = "libcostate-petsc-inside.a.p"           # the same of libcostate_petsc, if it was built


def families(source):
    """the folders of src with the table of a family in family.c"""
    found = []
    for path in glob.glob(os.path.join(source, "src", "*", "family.c")):
        name = os.path.basename(os.path.dirname(path))
        with open(path, encoding="utf-8") as file:
            found += [name] if re.search(r"^const family %s_family\b" % name, file.read(), re.M) else []
    return sorted(found)


class Library:
    """The sources below SOURCE/src and the objects in BUILD; files are named by their paths in src, with slashes."""

    def __init__(self, source, build):
        older = glob.glob(os.path.join(build, "libcostate.so*.p", "*.o"))
        self.src, self.folder = os.path.join(source, "src"), os.path.join(build, LIBRARY)
        if older and not os.path.isdir(self.folder):
            self.folder = os.path.dirname(older[0])
        self.folders = [x for x in (self.folder, os.path.join(build, LANES), os.path.join(build, PETSC))
                        if os.path.isdir(x)]
        self.seen = None

    def files(self):
        found = []
        for top, _, names in os.walk(self.src):
            found += [os.path.relpath(os.path.join(top, x), self.src) for x in names if x.endswith((".c", ".h"))]
        return sorted(path.replace(os.sep, "/") for path in found)

    def includes(self):
        """({file: the files of src that it includes}, [(file, what it includes in quotes and nobody finds)])"""
        known, found, lost = set(self.files()), {}, []
        for path in known:
            with open(os.path.join(self.src, path), encoding="utf-8") as file:
                lines = re.findall(r'^\s*#\s*include\s*(["<])([^">]+)[">]', file.read(), re.M)
            found[path] = set()
            for quote, name in lines:
                near = [os.path.normpath(os.path.join(place, name)).replace(os.sep, "/")
                        for place in (os.path.dirname(path), "")]
                target = next((x for x in near if x in known), None)
                if target:
                    found[path].add(target)
                elif quote == '"' and not name.startswith("costate/"):          # public headers: below include
                    lost.append((path, name))
        return found, lost

    def symbols(self):
        """{file: (symbols that it defines for others, symbols that it asks for)}; made files by their own names"""
        if self.seen is None:
            name_of = {"src_" + path.replace("/", "_") + ".o": path for path in self.files()}
            self.seen = {name_of.get(name, name.split(".._")[-1][:-2]): both    # meson-generated_.._methods.c.o
                         for folder in self.folders for name, both in defined_and_wanted(folder).items()
                         if name in name_of or not name.startswith("src_")}     # not those of a file that has gone
        return self.seen

    def needs(self):
        """{file: the files whose symbols its object asks for}"""
        parts = self.symbols()
        owner = {symbol: path for path, (defined, _) in parts.items() for symbol in defined}
        return {path: {owner[s] for s in wanted if s in owner} - {path} for path, (_, wanted) in parts.items()}


def defined_and_wanted(folder):
    """{object file: (symbols that it defines for others, symbols that it asks for)}"""
    found = {name: (set(), set()) for name in sorted(os.listdir(folder)) if name.endswith(".o")}
    said = subprocess.run(["nm", "-A", *found], check=True, capture_output=True, text=True, cwd=folder).stdout
    for line in said.splitlines():
        name, rest = line.split(":", 1)
        kind, symbol = rest.split()[-2:]
        if kind in "Uw":
            found[name][1].add(symbol)
        elif kind.isupper():
            found[name][0].add(symbol)
    return found


def circles(graph):
    """Files that need each other: strongly connected components of more than one member (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(graph.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(part) > 1:
                found.append(sorted(part))

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found
