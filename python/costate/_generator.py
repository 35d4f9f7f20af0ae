"""The package codegen of costate: its graph of expressions, its models, its printers of C and byte code."""
import functools
import importlib
import importlib.util
import sys
from pathlib import Path

from costate import _places as places

NAME = "costate._codegen"                      # a name of its own: users may have a package codegen
OLDEST = (3, 11)


def why_not():
    """why there is no codegen here; None: there is"""
    if sys.version_info < OLDEST:
        return "tracing needs Python {}.{} or newer".format(*OLDEST)
    if not Path(places.CODEGEN, "codegen", "equations", "graph.py").is_file():
        return f"codegen, which prints C, is not in {places.CODEGEN}"
    return None


@functools.lru_cache(maxsize=None)
def module(name):
    """codegen.NAME"""
    if NAME not in sys.modules:
        folder = Path(places.CODEGEN, "codegen")
        spec = importlib.util.spec_from_file_location(NAME, folder / "__init__.py",
                                                      submodule_search_locations=[str(folder)])
        package = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = package
        spec.loader.exec_module(package)
    return importlib.import_module(f"{NAME}.{name}")


def equations(name):
    """codegen.equations.NAME"""
    return module(f"equations.{name}")
