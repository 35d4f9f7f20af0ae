"""Each family is named in each place of the checklist in docs/howto/add-a-family.md.

    test_families.py SOURCE     reports in the format of cmocka

A family is what has a row in src/solver/families.c, a folder of src with the table of a family, or a folder of methods:
whatever was added first.  tests/dropped/new_family adds one as the checklist says, and runs it."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from cases import run_all  # noqa: E402
import objects  # noqa: E402

source = sys.argv[1]
# Nothing is implemented for them: methods for boundary value problems take no steps, and those of composite methods
# are taken by their members.
WITHOUT_STEPS = {"collocation", "composite"}


def read(path):
    with open(os.path.join(source, path), encoding="utf-8") as file:
        return file.read()


def families():
    rows = [name.lower() for name in re.findall(r"\[COSTATE_(\w+)\] = &\w+_family", read("src/solver/families.c"))]
    folders = {x for x in os.listdir(os.path.join(source, "methods")) if "." not in x}
    return sorted((set(rows) | set(objects.families(source)) | folders) - WITHOUT_STEPS)


def places():
    section = read("docs/howto/add-a-family.md").split("## Checklist for a new family")[1].split("\n#")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.M)


def names(path, family):
    """whether the place is there for this family, and names it"""
    path = path.replace("<family>", family)
    full = os.path.join(source, path)
    if os.path.isdir(full):
        return any(x.endswith(".toml") for x in os.listdir(full))
    word = r"(?<![a-z])%s(?![a-z])" % family
    return os.path.isfile(full) and re.search(word, read(path), re.I) is not None


def test_there_are_families_and_places():
    assert len(families()) >= 5 and len(places()) >= 5, (families(), places())


def test_each_place_names_each_family():
    missing = ["%s: %s" % (p, f) for p in places() for f in families() if not names(p, f)]
    assert not missing, missing


def test_a_family_added_halfway_is_found():
    assert not any(names(p, "nofamily") for p in places())


if __name__ == "__main__":
    run_all(globals())
