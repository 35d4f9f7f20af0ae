"""Which version of PEtab a problem.yaml is of."""
from pathlib import Path

from costate.petab import version1, version2
from costate.petab.tables import PetabError, read_yaml

VERSIONS = {"1": version1.Files, "2": version2.Files}


def read(path):
    """The Files of a problem.yaml"""
    path = Path(path)
    given = read_yaml(path)
    version = str(given.get("format_version", 1))
    if version.split(".")[0] not in VERSIONS:
        raise PetabError(f"{path}: format_version is {version}; versions {' and '.join(VERSIONS)} are read")
    return VERSIONS[version.split(".")[0]](path, given)
