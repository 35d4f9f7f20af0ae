"""Models that run at once: byte code for the interpreter of the library, made in this process.

A Program offers what a compiled object offers (_compile.Compiled); results have the same bits."""
import json
import sys
from pathlib import Path

from costate import _library as library
from costate._costate import ffi, lib
from costate._generator import OLDEST, module
from costate._library import ModelError


class Program:
    """code: bytes that codegen's byte_code.write made of a model; about: what they have, codegen/equations/about.py"""

    path = None                     # of a file that is loaded

    def __init__(self, code, about):
        self.code, self.about = bytes(code), about
        self._program = ffi.gc(lib.costate_program_new(self.code, len(self.code)), lib.costate_program_free)
        if lib.costate_program_status(self._program):
            raise ModelError(library.text(lib.costate_program_message(self._program)))
        self.problem = lib.costate_program_problem(self._program)
        self.ctx, self.start_map = self.problem.ctx, lib.costate_program_start(self._program)
        self.output_map = lib.costate_program_outputs(self._program, ffi.NULL) or None
        self.backend = lib.costate_program_backend(self._program) or None

    def defaults(self):
        """the values of the parameters, copied"""
        return library.taken(lib.costate_program_defaults(self._program), self.problem.np)

    @classmethod
    def of_model(cls, model, origin):
        """the program of a codegen Model; origin: what messages call it.  Raises codegen's Refused"""
        code = generator("equations.byte_code")
        return cls(code.write(model, origin), json.loads(code.says(model, origin)))


def generator(name):
    """codegen.NAME"""
    if sys.version_info < OLDEST:
        raise ModelError("equation files need Python 3.11 or newer; this is Python {}.{}".format(*sys.version_info))
    return module(name)


def program(text, file):
    """(Program of an equation file, None), or (None, why byte code does not serve its model).

    file: its name in messages; its stem names a model that has no name in its text"""
    refused = generator("real").Refused
    try:
        model = generator("equations.read").parse(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"),
                                                  file)
        reason = generator("equations.byte_code").not_served(model)
        return (None, reason) if reason else (Program.of_model(model, Path(file).name), None)
    except refused as fault:
        raise ModelError(str(fault)) from None
