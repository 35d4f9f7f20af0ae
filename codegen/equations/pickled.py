"""python -m codegen.equations.pickled ORIGIN: model.pickle, a Model that another process has built, becomes model.c,
model.h and model.json, in the current directory."""
import pickle
import sys
from pathlib import Path

from . import c_file

PACKAGE = c_file.__name__.removesuffix(".c_file")


class Reader(pickle.Unpickler):
    """Finds classes of this package, by whatever name the other process had loaded it, and no others"""

    def find_class(self, module, name):
        _, found, rest = module.partition("codegen.equations.")
        if not found:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a model")
        return super().find_class(f"{PACKAGE}.{rest}", name)


def main(origin):
    with open("model.pickle", "rb") as file:
        model = Reader(file).load()
    for name, text in zip(("model.c", "model.h", "model.json"), c_file.write(model, origin, "model")):
        Path(name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
