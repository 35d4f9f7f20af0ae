"""What cannot be traced: an exception with the line of the user's program and the cure."""
import linecache
import os
import sys
import sysconfig

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
OURS = (os.path.dirname(os.path.dirname(HERE)) + os.sep, os.path.dirname(os.path.abspath(np.__file__)) + os.sep,
        "<__array_function__")
OF_PACKAGES = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
FOLDERS = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

WHERE = "write np.where(condition, a, b), which is traced, in place of the branch"
CURES = {
    "bool": f"a branch depends on a value: {WHERE}; min() and max() are np.minimum and np.maximum",
    "float": "a value is made a plain float, which has no derivative: leave out float() or dtype=float; use functions "
             "of NumPy in place of those of math and SciPy; make arrays with np.zeros_like(y) or np.array([...])",
    "int": "a value is made an integer: use np.floor for a number, and np.where or np.interp in place of an index",
    "complex": "complex numbers are not traced: use real and imaginary parts as two states",
    "index": "an index depends on a value: use np.where to choose between entries",
    "hash": "a value is looked up in a dictionary, a set or a cache: compute it at each call",
    "text": "a value is printed or made a text: leave it out, or print in on_step",
    "buffer": "the memory of an array is read by another library: write the function with NumPy",
}


class NotTraced(UserWarning):
    """A function is called by the library as before, because it cannot be traced; the text says where and why."""


class Untraceable(TypeError):
    """Raised in a function that is traced, where its values would be lost."""


def users(files):
    """the number of the last of these files, outermost first, that is no package's; or of the last that is not ours"""
    own = [k for k, file in enumerate(files) if not file.startswith(OURS)]
    best = [k for k in own if not file_of_package(files[k])]
    return (best or own or [None])[-1]


def file_of_package(file):
    return file.startswith(OF_PACKAGES) or any(folder in file for folder in FOLDERS)


def user_line(frame):
    """(file, line, its text) of the innermost frame of the user's program in the function that is traced"""
    frames = []
    while frame is not None and frame.f_code.co_filename != HERE + "trace.py":
        frames.insert(0, frame)
        frame = frame.f_back
    k = users([f.f_code.co_filename for f in frames])
    return ("", 0, "") if k is None else place(frames[k].f_code.co_filename, frames[k].f_lineno)


def place(file, line):
    return file, line, linecache.getline(file, line).strip()


def line_of(error):
    """the same of an exception, by its traceback"""
    at, found = error.__traceback__, []
    while at is not None:
        found.append((at.tb_frame.f_code.co_filename, at.tb_lineno))
        at = at.tb_next
    k = users([file for file, _ in found])
    return ("", 0, "") if k is None else place(*found[k])


def sentence(where, cure):
    file, line, text = where
    at = f"{file}:{line}" if file else "the function"
    return f"{at}: `{text}`: {cure}" if text else f"{at}: {cure}"


def refuse(tracer, cure):
    """records and raises: a function that catches the exception is refused as well"""
    where = user_line(sys._getframe(1))
    error = Untraceable(sentence(where, with_twin(where[2], CURES.get(cure, cure), cure)))
    if tracer is not None and tracer.refusal is None:
        tracer.refusal = error
    raise error


def with_twin(text, words, kind):
    """names NumPy's function for one of math that the line calls"""
    if kind != "float" or "math." not in text:
        return words
    name = text.split("math.", 1)[1].split("(")[0]
    twin = TWINS.get(name, name)
    if not hasattr(np, twin):
        return f"math.{name} takes plain numbers only, and NumPy has no such function: write it with functions of NumPy"
    return f"math.{name} takes plain numbers only: write np.{twin}"


TWINS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
         "acosh": "arccosh", "atanh": "arctanh", "pow": "power", "fsum": "sum", "fabs": "abs"}
