"""What a release states of itself agrees: its version, in all files that name it, and how it is cited.

    test_release.py SOURCE     reports in the format of cmocka"""
import os
import re
import sys

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


run_all(globals())
