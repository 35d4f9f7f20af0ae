"""Functions in Python that an equation file declares: functions in C of the compiled model, which call them."""
import ctypes
import os
import tempfile

import numpy as np

from costate._compile import Compiled, pointer_to, temporary
from costate._costate import ffi
from costate._library import ModelError
from costate.maps import Owner

ORDERS = ("value", "gradient", "hessian", "third")
SIGNATURE = "void(*)(const double *, double *, double *, double *, double *)"


class Functions(Owner):
    """needs: what _compile.Compiled.about says of functions that the program provides; given: {name: (value, gradient,
    ...)} or {name: value}, callables of the arguments.

    Where one of them raises an exception, its results are NaN; raise_what_was_raised raises it at the end of the call
    of the library."""

    def __init__(self, needs, given, model):
        super().__init__()
        needed = {need["name"]: need for need in needs}
        for name in given:
            if name not in needed:
                known = f": {', '.join(needed)}" if needed else ""
                raise ModelError(f"{model} declares no function {name} without a file in C{known}")
        for name, need in needed.items():
            if name not in given:
                wanted = ", ".join(ORDERS[:1 + need["derivatives"]])
                raise ModelError(f"{model} declares the function {name} without a file in C: give "
                                 f"functions={{\"{name}\": ({wanted})}}")
        self.called = {name: self.callback(name, need, given[name]) for name, need in needed.items()}

    def callback(self, name, need, given):
        """a function in C; it lives as long as this object"""
        parts, k = tuple(given) if isinstance(given, (tuple, list)) else (given,), len(need["arguments"])
        if len(parts) != 1 + need["derivatives"] or not all(map(callable, parts)):
            wanted = ", ".join(ORDERS[:1 + need["derivatives"]])
            raise ModelError(f"functions: {name} is declared with derivatives {need['derivatives']}: give the "
                             f"callables ({wanted}) of {', '.join(need['arguments'])}")

        def call(x, *results):
            wanted = [(order, results[order]) for order in range(len(parts)) if results[order] != ffi.NULL]
            arrays = [np.frombuffer(ffi.buffer(out, 8*k**order)) for order, out in wanted]
            try:
                at = [x[i] for i in range(k)]
                for (order, _), array in zip(wanted, arrays):
                    array[:] = shaped(parts[order](*at), (k,)*order, f"{ORDERS[order]} of {name}")
            except BaseException as error:          # KeyboardInterrupt and SystemExit, too: raised again by the call
                self.failed(error)
                for array in arrays:
                    array[:] = np.nan
        return ffi.callback(SIGNATURE, call)

    def bound(self, compiled):
        """a copy of a Compiled, loaded for itself, with these functions: models with other functions keep theirs"""
        place = compiled.path.parent if os.access(compiled.path.parent, os.W_OK) else temporary().name
        with tempfile.NamedTemporaryFile(dir=place, prefix=".own-", suffix=".so") as copy:
            copy.write(compiled.path.read_bytes())
            copy.flush()
            own = Compiled(copy.name, compiled.about)
        for name, function in self.called.items():
            place = ctypes.c_void_p.in_dll(own.library, pointer_to(compiled.about["name"], name))
            place.value = int(ffi.cast("intptr_t", function))
        return own


def shaped(value, shape, what):
    """a flat array, or TypeError or ValueError"""
    array = np.asarray(value, dtype=float)
    if array.shape != shape:
        raise ValueError(f"{what} has shape {array.shape}; expected {shape}")
    return array.ravel()
