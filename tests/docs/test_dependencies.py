"""docs/reference/dependencies.md has a row for all that the build looks for and all packages that commands install.

    test_dependencies.py SOURCE     reports in the format of cmocka"""
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import run_all  # noqa: E402

root = sys.argv[1]

# what the build looks for and finds in its own sources, or in every system
OWN = {"costate", "costate-petsc", "sh", "costate-model"}


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def table():
    """rows of docs/reference/dependencies.md that begin with a package: (package, names in meson.build, option)"""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in read("docs/reference/dependencies.md").splitlines() if line.startswith("| `")]
    assert all(len(row) == 7 and row[6] for row in rows), "a row without seven columns or without a licence"
    return [(row[0].strip("`"), re.findall(r"`([^`]+)`", row[4]), re.findall(r"`([^`]+)`", row[5])) for row in rows]


def packages_of_run():
    """Debian packages that run and .ci/run install, and those that debian/control builds with"""
    text = re.sub(r"\\\n", " ", read("run"))
    names = set()
    for words in re.findall(r"^    (?:need|prepare|build|welcome) (.*)$", text, re.M):
        for word in words.split():
            for name in word.split("=")[-1].split("/"):
                names.add(name)
    site = re.search(r'^SITE="(.*?)"$', read("run"), re.M | re.S).group(1)
    names.update(word.split("=")[-1] for word in site.split())
    names.update(re.findall(r"install_packages ([a-z][a-z0-9+-]*)", text))
    ci = re.sub(r"\\\n", " ", read(".ci/run"))
    names.update(name for words in re.findall(r"--no-install-recommends ([^\"\n>)]*)|packages=\(([^)]*)\)", ci)
                 for part in words for name in part.split())
    depends = re.search(r"^Build-Depends: (.*?)^\S", read("debian/control"), re.M | re.S).group(1)
    names.update(re.split(r"[ (<]", part.strip())[0] for part in re.split(r"[,|]", depends) if part.strip())
    return {name for name in names if re.fullmatch(r"[a-z][a-z0-9.+-]+", name)} - {"debhelper-compat"}


def test_packages_have_rows():
    shown = {package for package, _, _ in table()}
    named = packages_of_run()
    assert len(named) > 30, sorted(named)
    assert not named - shown, "no row in docs/reference/dependencies.md: " + " ".join(sorted(named - shown))


def test_what_the_build_looks_for_has_rows():
    text = "".join(read(os.path.relpath(path, root)) for path in
                   glob.glob(os.path.join(root, "meson.build")) + glob.glob(os.path.join(root, "*", "meson.build")))
    wanted = set(re.findall(r"(?<!declare_)\bdependency\('([\w-]+)'", text))
    wanted.update(re.findall(r"\bfind_library\('(\w+)'(?!, dirs:)", text))
    for words in re.findall(r"\bfind_program\(((?:'[\w-]+'(?:, )?)+)", text):
        wanted.update(re.findall(r"'([\w-]+)'", words))
    wanted.update(re.findall(r"^  '\w+': \['(\w+)', '\w+\.h'", text, re.M))
    shown = {name for _, names, _ in table() for name in names}
    lost = {name for name in wanted - OWN - shown if not name.startswith("sundials")}
    assert {"openblas", "UMFPACK", "cmocka", "PETSc"} <= wanted, sorted(wanted)
    assert not lost, "no row in docs/reference/dependencies.md has: " + " ".join(sorted(lost))


def test_options_have_rows():
    """each option of the build that is about a dependency; peers are described below the table"""
    options = set(re.findall(r"^option\('(\w+)'", read("meson_options.txt"), re.M)) - {"peers", "more_methods"}
    shown = {name for _, _, options_of in table() for name in options_of}
    assert options == shown, sorted(options ^ shown)


run_all(globals())
