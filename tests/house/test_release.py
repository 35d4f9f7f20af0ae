"""What a release states of itself agrees: its version, in all files that name it, how it is cited, and what its owner
says of it in owner.toml.

    test_release.py SOURCE     reports in the format of cmocka"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import Skipped, run_all  # noqa: E402

root = sys.argv[1]


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def found(pattern, name):
    match = re.search(pattern, read(name), re.M)
    assert match, "%s: nothing like %s" % (name, pattern)
    return match.group(1)


def test_versions_agree():
    """build, header, changes, citation, packages, symbols and soname"""
    version = found(r"^  version: '(.*)'", "meson.build")
    stated = {
        "include/costate/costate.h": found(r'#define COSTATE_VERSION "([^"]*)"', "include/costate/costate.h"),
        "CHANGELOG.md": found(r"^## (\d\S*)", "CHANGELOG.md"),
        "CITATION.cff": found(r"^version: (\S+)", "CITATION.cff"),
        "docs/index.md": found(r"^\*\*Version (\S+)\*\*", "docs/index.md"),
        "docs/howto/cite.md": found(r"^ *version = \{(.*)\}", "docs/howto/cite.md"),
        "debian/changelog": found(r"^costate \((.*?)\)", "debian/changelog")}
    wrong = ["%s: %s" % item for item in stated.items() if item[1] != version]
    assert not wrong, "the version is %s in meson.build; %s" % (version, "; ".join(wrong))
    major = version.split(".")[0]
    assert found(r"^COSTATE_(\d+) ", "packaging/costate.map") == major
    assert found(r"^Package: libcostate(\d+)$", "debian/control") == major
    assert found(r"^libcostate\.so\.(\d+) ", "debian/libcostate%s.symbols" % major) == major


def test_citation_is_valid():
    """YAML with what cff-version 1.2.0 requires, once the lines of the owner are comments"""
    try:
        import yaml
    except ImportError:
        raise Skipped("no module yaml (Debian: python3-yaml)") from None
    cited = yaml.safe_load(read("CITATION.cff"))
    missing = {"cff-version", "message", "title", "authors"} - cited.keys()
    assert not missing and cited["cff-version"] == "1.2.0" and cited["authors"], missing
    assert isinstance(cited["version"], str), "the version is no text"
    assert "{%s}" % cited["title"] in read("docs/howto/cite.md"), "docs/howto/cite.md has another title"



FILES = ("owner.toml", "meson.build", "README.md", "CITATION.cff", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md",
         "docs/howto/cite.md", "pyproject.toml", "debian/control", "debian/copyright", "debian/changelog")
# what an owner would fill in, and the files that state it
SAID = {"repository": "https://code.example/costate", "issues": "https://code.example/costate/issues",
        "documentation": "https://costate.example", "downloads": "https://code.example/releases",
        "security": "private@costate.example", "answered": "9 days",
        "maintainer": "Ada Example <ada@costate.example>", "released": "2031-02-03", "doi": "10.5281/zenodo.1"}
STATED = {"README.md": ("repository", "issues"), "CONTRIBUTING.md": ("issues",), "CHANGELOG.md": ("released",),
          "SECURITY.md": ("security", "answered"), "CITATION.cff": ("repository", "documentation", "released", "doi"),
          "docs/howto/cite.md": ("documentation", "doi"),
          "pyproject.toml": ("repository", "issues", "documentation"), "debian/changelog": ("maintainer",),
          "debian/control": ("maintainer", "repository", "documentation"), "debian/copyright": ("repository",)}
AUTHORS = '{family-names = "Example", given-names = "Ada", orcid = "https://orcid.org/0000-0001-2345-6789"}'


def owner(*words):
    """(how packaging/owner ended, what it said)"""
    done = subprocess.run([sys.executable, os.path.join(root, "packaging/owner"), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def filled(folder, **said):
    """copies of all files in a folder, and owner.toml with these values"""
    text = read("owner.toml")
    for name, value in said.items():
        text = re.sub(rf"^{name} = \S+", lambda _: f"{name} = {value}", text, flags=re.M)
    for name in FILES:
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        shutil.copy(os.path.join(root, name), os.path.join(folder, name))
    with open(os.path.join(folder, "owner.toml"), "w", encoding="utf-8") as file:
        file.write(text)


def quoted(said):
    return {name: f'"{value}"' for name, value in said.items()}


def test_files_agree_with_the_owner():
    status, text = owner()
    said = tomllib.loads(read("owner.toml"))
    assert status == (0 if all(said[name] for name in said if name != "doi") else 1), text
    assert all(name in text for name, value in said.items() if not value and name != "doi"), text


def test_what_an_owner_says_reaches_all_files():
    """and leaves them when it is taken back"""
    with tempfile.TemporaryDirectory() as folder:
        filled(folder, **quoted(SAID), authors=f"[{AUTHORS}]")
        status, text = owner(folder)
        assert status == 2 and all(name in text for name in STATED), text
        assert owner("--write", folder)[0] == 0 and owner(folder) == (0, "")
        for name, values in STATED.items():
            text = read(os.path.join(folder, name))
            assert all(SAID[value] in text for value in values), "%s lacks one of %s" % (name, values)
        project = tomllib.loads(read(os.path.join(folder, "pyproject.toml")))["project"]
        assert project["authors"] == [{"name": "Ada Example"}] and project["urls"]["Issues"] == SAID["issues"]
        assert "family-names: \"Example\"" in read(os.path.join(folder, "CITATION.cff"))
        entry = read(os.path.join(folder, "docs/howto/cite.md"))
        assert "author  = {Example, Ada}," in entry and "year    = {2031}," in entry, entry
        entry = read(os.path.join(folder, "debian/changelog")).split("\n\ncostate")[0]
        assert re.search(r"^costate \(\S+\) unstable;", entry), entry
        assert entry.endswith(" -- %s  Mon, 03 Feb 2031 12:00:00 +0000" % SAID["maintainer"]), entry
        shutil.copy(os.path.join(root, "owner.toml"), folder)
        owner("--write", folder)
        assert [name for name in FILES if read(name) != read(os.path.join(folder, name))] == []


def test_values_that_cannot_be_are_refused():
    for name, value in {"repository": "code.example", "security": "somebody", "maintainer": "Ada Example",
                        "released": "3.2.2031", "doi": "zenodo.1", "answered": "soon"}.items():
        with tempfile.TemporaryDirectory() as folder:
            filled(folder, **quoted({name: value}))
            status, text = owner("--write", folder)
            assert status == 2 and value in text, text
    for name, value in {"released": '"2031-02-30"', "authors": '[{name = "Ada"}]'}.items():
        with tempfile.TemporaryDirectory() as folder:
            filled(folder, **{name: value})
            assert owner("--write", folder)[0] == 2



def recipes():
    """{name: text} of packaging/recipes"""
    place = os.path.join(root, "packaging/recipes")
    return {name: read(os.path.join(top, name)) for top, _, names in os.walk(place) for name in names}


def test_recipes_name_what_there_is():
    """options of the build, what ./run release fills in, and that none was run"""
    found = recipes()
    assert {"README.md", "meta.yaml", "vcpkg.json", "portfile.cmake", "package.py", "costate.rb"} == set(found), found
    known = set(re.findall(r"^option\('(\w+)'", read("meson_options.txt"), re.M)) | {"default_library"}
    filled_in = set(re.findall(r"@([A-Z0-9]+)@", read("packaging/release")))
    for name, text in found.items():
        assert set(re.findall(r"-D(\w+)=", text)) <= known, name
        assert set(re.findall(r"@([A-Z0-9]+)@", text)) <= filled_in, name
        assert name == "README.md" or "Not run" in text, name
    assert json.loads(found["vcpkg.json"])["name"] == "costate"
    compile(found["package.py"], "package.py", "exec")


run_all(globals())
