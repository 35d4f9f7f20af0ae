"""The library as one file of C.

    python3 packaging/single DIR [METHOD...]    writes DIR/costate.c and copies the public headers to DIR/costate

costate.c is the library with linear algebra of its own and with all methods, or with those named and the members of
composite ones.  The sources are those that meson.build lists."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

sys.dont_write_bytecode = True
from join import Joined, Refused  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
BEGIN = Path(__file__).resolve().parent / "begin.c"


def listed(text, name):
    """The files of `name = files(...)` in meson.build."""
    found = re.search(rf"^{name} = files\(([^)]*)\)", text, re.M)
    if not found:
        raise Refused(f"meson.build has no list of files {name}")
    return re.findall(r"'([^']+)'", found[1])


def methods(names):
    """Coefficient files of the methods of these names, and of the members of composite ones; without names all."""
    every = {path.stem: path for path in sorted((ROOT / "methods").glob("*/*.toml"))}
    found, left = {}, list(names or every)
    while left:
        name = left.pop()
        if name not in every:
            raise Refused(f"there is no method {name}: see docs/reference/methods.md")
        if name not in found:
            found[name] = every[name]
            left += [x["method"] for x in tomllib.loads(every[name].read_text(encoding="utf-8")).get("member", [])]
    return found.values()


def descriptors(names):
    """methods.c, by codegen.  COSTATE_CHECKED: a folder where it keeps what it has derived"""
    with tempfile.TemporaryDirectory() as folder:
        for path in methods(names):
            place = Path(folder, "methods", path.parent.name)
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
        subprocess.run([sys.executable, "-m", "codegen", "emit", f"{folder}/methods.c", f"{folder}/methods"],
                       cwd=ROOT, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, check=True)
        return Path(folder, "methods.c").read_text(encoding="utf-8")


def single(names):
    """The text of costate.c."""
    meson = (ROOT / "meson.build").read_text(encoding="utf-8")
    paths = [*listed(meson, "sources"), "src/linsol/builtin.c"]
    files = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths}
    headers = {str(path.relative_to(ROOT / "src")): path.read_text(encoding="utf-8")
               for path in (ROOT / "src").glob("*/*.h")}
    version = re.search(r"version: '([^']+)'", meson)[1]
    begin = BEGIN.read_text(encoding="utf-8").replace("@VERSION@", version)
    begin = begin.replace("@METHODS@", ", ".join(names) if names else "all")
    files = {path.removeprefix("src/"): text for path, text in files.items()}
    return begin + Joined({**files, "methods.c": descriptors(names)}, headers).all()


def write(path, text):
    """Leaves a file alone that has this text, so that nothing is compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main(folder, names):
    text = single(names)
    (folder / "costate").mkdir(parents=True, exist_ok=True)
    for path in listed((ROOT / "meson.build").read_text(encoding="utf-8"), "headers"):
        # they find each other without an option -I
        header = re.sub(r"^#include <costate/([^>]+)>", r'#include "\1"', (ROOT / path).read_text(encoding="utf-8"),
                        flags=re.M)
        write(folder / "costate" / Path(path).name, header)
    write(folder / "costate.h", '/* costate.h - for programs beside costate.c */\n#include "costate/costate.h"\n')
    write(folder / "costate.c", text)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        main(Path(sys.argv[1]), sys.argv[2:])
    except (Refused, OSError) as fault:
        sys.exit(f"single: {fault}")
    except subprocess.CalledProcessError:
        sys.exit("single: codegen could not write the methods")
