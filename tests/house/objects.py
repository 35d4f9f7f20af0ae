"""What the files of src need of each other: by their include lines, and by the symbols of the library's object files.

Shared by tests/test_rooms.py, which says what they may need, and by measure, which counts circles."""
import glob
import os
import re
import subprocess

LIBRARY = "libcostate-inside.a.p"               # Meson's folder with all objects; older commits: of the shared library


class Library:
    """The sources below SOURCE/src and the objects in BUILD; files are named by their paths in src, with slashes."""

    def __init__(self, source, build):
        older = glob.glob(os.path.join(build, "libcostate.so*.p", "*.o"))
        self.src, self.folder = os.path.join(source, "src"), os.path.join(build, LIBRARY)
        if older and not os.path.isdir(self.folder):
            self.folder = os.path.dirname(older[0])

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
        name_of = {"src_" + path.replace("/", "_") + ".o": path for path in self.files()}
        found = {}
        for name in sorted(os.listdir(self.folder)):
            stale = name.startswith("src_") and name not in name_of             # of a file that has gone
            if name.endswith(".o") and not stale:
                path = name_of.get(name, name.split(".._")[-1][:-2])            # meson-generated_.._methods.c.o
                found[path] = defined_and_wanted(os.path.join(self.folder, name))
        return found

    def needs(self):
        """{file: the files whose symbols its object asks for}"""
        parts = self.symbols()
        owner = {symbol: path for path, (defined, _) in parts.items() for symbol in defined}
        return {path: {owner[s] for s in wanted if s in owner} - {path} for path, (_, wanted) in parts.items()}


def defined_and_wanted(path):
    defined, wanted = set(), set()
    for line in subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout.splitlines():
        kind, symbol = line.split()[-2:]
        if kind in "Uw":
            wanted.add(symbol)
        elif kind.isupper():
            defined.add(symbol)
    return defined, wanted


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
