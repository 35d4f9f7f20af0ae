"""function NAME(ARGUMENT {UNIT}, ...) {UNIT} from "FILE" as WORD derivatives ORDERS: a function that is written in C.

The file is beside the equation file, and is included by the generated C.  Without one the function is a part of the
program.  WORD is the name of the function in C, if that is another one."""
from pathlib import Path

from .calls import MOST_ORDERS, Function
from .declare import C_WORDS
from .scope import InC
from .syntax import Fault, Source

MOST_ARGUMENTS = 16                          # k^3 third derivatives are an array on the stack


def located(text, path):
    """The text of an equation file with absolute names of files in C"""
    source = Source(path, text)
    try:
        tokens, out, at = source.tokens(), [], 0
    except Fault as fault:
        raise source.refusal(fault) from None
    declares = False
    for k, (kind, word, place) in enumerate(tokens):
        starts = not k or tokens[k - 1][0] == "\n"
        declares = word == "function" and tokens[k + 1][0] == "name" if starts else declares
        if declares and kind == "text":
            out += [text[at:place], f'"{Path(path).resolve().parent / word[1:-1]}"']
            at = place + len(word)
    return "".join(out) + text[at:]


class Declared:
    """Part of a Reader."""

    def read_function(self, place):
        name, at = self.tokens.take("name", "the name of a function")[1:]
        arguments, units = self.arguments_in_c(name, at)
        unit = self.unit_of()
        file, path, word = self.file_in_c(name)
        orders = self.orders_of_derivatives()
        function = Function(name, arguments, orders, word, file, path, at)
        self.declare(name, at, InC(at, function, units, unit))
        self.model.graph.functions[name] = function

    def unit_of(self):
        return self.tokens.next()[1][1:-1].strip() if self.tokens.peek()[0] == "unit" else ""

    def arguments_in_c(self, name, place):
        """Their names and units"""
        self.tokens.take("(", f"'(' and the arguments of {name}")
        found = self.tokens.commas(lambda: (self.tokens.take("name", "an argument")[1], self.unit_of()))
        self.tokens.take(")")
        names = [argument for argument, _ in found]
        if len(set(names)) < len(names):
            raise Fault(place, f"two arguments of {name} have the same name")
        if len(names) > MOST_ARGUMENTS:
            raise Fault(place, f"{name} has {len(names)} arguments; a function in C has at most {MOST_ARGUMENTS}")
        return names, [unit for _, unit in found]

    def file_in_c(self, name):
        """(the file as it is written, its path, the name in C); without a file None, None, name"""
        if not self.tokens.word("from"):
            return None, None, name
        text, place = self.tokens.take("text", "the name of a file in C in double quotes")[1:]
        word, at = name, place
        if self.tokens.word("as"):
            word, at = self.tokens.take("name", "the name of the function in that file")[1:]
        path = Path(self.source.path).parent / text[1:-1]
        if not path.is_file():
            raise Fault(place, f"{path} cannot be read: there is no such file")
        if word in C_WORDS:
            raise Fault(at, f"{word} is a word of C, not a function")
        return text[1:-1], path, word

    def orders_of_derivatives(self):
        """0, 1, 2 or 3"""
        wanted = "derivatives and up to which order the function computes them: 0, 1, 2 or 3"
        if not self.tokens.word("derivatives"):
            raise Fault(self.tokens.place, f"expected {wanted}, found {self.tokens.found()}")
        text, place = self.tokens.take("number", wanted)[1:]
        if text not in map(str, range(MOST_ORDERS + 1)):
            raise Fault(place, f"expected {wanted}, found {text}")
        return int(text)
