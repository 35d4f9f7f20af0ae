"""SymPy expressions as the text of an equation file."""
import math
import re

import sympy
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import And, BooleanTrue, Not, Or
from sympy.printing.str import StrPrinter

FUNCTIONS = {sympy.Abs: "abs", sympy.Max: "max", sympy.Min: "min", sympy.ceiling: "ceil", **{
    getattr(sympy, name): name for name in (
        "exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf floor atan2").split()}}
RELATIONS = {sympy.Lt: "<", sympy.Le: "<=", sympy.Gt: ">", sympy.Ge: ">=", sympy.Eq: "==", sympy.Ne: "!="}
OTHERS = (sympy.Add, sympy.Mul, sympy.Pow, sympy.Integer, sympy.Rational, sympy.Float, sympy.NumberSymbol,
          sympy.Piecewise, ExprCondPair, And, Or, Not, BooleanTrue)
KNOWN = " ".join(sorted(cls.__name__ for cls in [*FUNCTIONS, sympy.Piecewise])) + " sqrt"
LONGEST = 100           # characters of an expression that a message shows


def shown(expression):
    text = str(expression)
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def word(symbol):
    """the name of a Symbol or function of t in the equation file"""
    name = symbol.func.__name__ if isinstance(symbol, AppliedUndef) else symbol.name
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.A):
        raise ValueError(f"{name!r} cannot be a name in an equation file: rename the symbol with letters, digits and _")
    return name


class Printer(StrPrinter):
    """Prints expressions whose parts are all known."""

    def __init__(self, names):
        super().__init__()
        self.names = names

    def printed(self, expression, what):
        expression = sympy.sympify(expression)
        self.refuse_others(expression, what)
        return self.doprint(expression)

    def refuse_others(self, expression, what):
        if expression in self.names:
            return
        if isinstance(expression, (sympy.Symbol, AppliedUndef)):
            raise ValueError(f"{expression} occurs in {what}, but is neither a state nor a parameter")
        if not isinstance(expression, (*OTHERS, *FUNCTIONS, *RELATIONS)) or not finite(expression):
            raise ValueError(f"{what} has {shown(expression)}, which equation files cannot express; they have {KNOWN}")
        if isinstance(expression, sympy.Piecewise) and expression.args[-1].cond != sympy.true:
            raise ValueError(f"{what} has {shown(expression)}, which has no value where no condition holds: add a last "
                             "pair (expression, True)")
        for part in expression.args:
            self.refuse_others(part, what)

    def _print_Symbol(self, e):
        return self.names[e]

    def _print_Float(self, e):
        return repr(float(e))

    def _print_NumberSymbol(self, e):
        return repr(float(e))

    def _print_Function(self, e):
        if e in self.names:
            return self.names[e]
        return f"{FUNCTIONS[type(e)]}({', '.join(map(self._print, e.args))})"

    _print_Abs = _print_Max = _print_Min = _print_Function

    def _print_Exp1(self, e):
        return repr(math.e)

    _print_Pi = _print_NumberSymbol

    def _print_Piecewise(self, e):
        *branches, last = e.args
        text = self._print(last.expr)
        for branch in reversed(branches):
            text = f"if({self._print(branch.cond)}, {self._print(branch.expr)}, {text})"
        return text

    def _print_Relational(self, e):
        return f"{self._print(e.lhs)} {RELATIONS[type(e)]} {self._print(e.rhs)}"

    def joined(self, e, by):
        return by.join(f"({self._print(part)})" for part in e.args)

    def _print_And(self, e):
        return self.joined(e, " and ")

    def _print_Or(self, e):
        return self.joined(e, " or ")

    def _print_Not(self, e):
        return f"not ({self._print(e.args[0])})"


def finite(expression):
    return not isinstance(expression, sympy.Number) or math.isfinite(float(expression))


def pairs(values, keys, what):
    """(key, value) from a dictionary, or from one value for each key"""
    if hasattr(values, "items"):
        unknown = [key for key in values if key not in keys]
        if unknown:
            raise ValueError(f"{what} has a value for {unknown[0]}, which is no state")
        return dict(values)
    values = list(values)
    if len(values) != len(keys):
        raise ValueError(f"{what} has {len(values)} values for {len(keys)} states")
    return dict(zip(keys, values))


def time(t, expressions, declared):
    """the symbol of the time"""
    if t is not None:
        return t
    free = set().union(*(sympy.sympify(e).free_symbols for e in expressions))
    return next((s for s in free if s.name == "t" and s not in declared), sympy.Symbol("t"))


def equations(rhs, states, parameters, t, costs, initial, name):
    """the text"""
    states, rhs, costs = list(states), list(rhs), dict(costs or {})
    if len(rhs) != len(states):
        raise ValueError(f"there are {len(rhs)} right-hand sides for {len(states)} states")
    defaults = dict(parameters) if hasattr(parameters, "items") else dict.fromkeys(parameters, 0)
    initial = pairs(initial, states, "initial") if initial is not None else {}
    names = {symbol: word(symbol) for symbol in [*states, *defaults]}
    names[time(t, [*rhs, *costs.values(), *initial.values()], names)] = "t"
    printer = Printer(names)
    lines = [f"model {name}"]
    lines += [f"parameter {names[k]} = {printer.printed(e, f'the default of {k}')}" for k, e in defaults.items()]
    for state in states:
        value = printer.printed(initial[state], f"the initial value of {state}") if state in initial else None
        lines.append(f"state {names[state]}" + (f" = {value}" if value else ""))
    lines += [f"{names[state]}' = {printer.printed(e, f'the derivative of {state}')}" for state, e in zip(states, rhs)]
    lines += [f"cost {key}' = {printer.printed(e, f'the cost {key}')}" for key, e in costs.items()]
    return "\n".join(lines) + "\n"
