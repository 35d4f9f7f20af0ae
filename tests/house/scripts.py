"""script(name): a script of this folder, which has no .py at its end, as a module."""
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def script(name):
    if HERE not in sys.path:
        sys.path.insert(0, HERE)                # where it looks for what it imports
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
