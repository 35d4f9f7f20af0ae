"""Nodes of the graph as MathML of SBML.  Relations are the conditions that they stand for."""
from ..equations.nodes import LEAVES
from ..real import Refused

MATH = '<math xmlns="http://www.w3.org/1998/Math/MathML">'
TIME = '<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time">time</csymbol>'
OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "divide", "neg": "minus", "pow": "power", "and": "and",
             "or": "or", "not": "not"}
RELATIONS = {"<": "lt", "<=": "leq", ">": "gt", ">=": "geq", "==": "eq", "!=": "neq"}
SIGNS = {(True, False): "gt", (True, True): "leq", (False, False): "lt", (False, True): "geq"}
FUNCTIONS = {"exp": "exp", "log": "ln", "fabs": "abs", "floor": "floor", "ceil": "ceiling", "sin": "sin", "cos": "cos",
             "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh",
             "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "log10": "log", "sqrt": "root"}
# formulas in {0}, an argument
WRITTEN_OUT = {"log2": "<apply><log/><logbase><cn>2</cn></logbase>{0}</apply>",
               "log1p": "<apply><ln/><apply><plus/><cn>1</cn>{0}</apply></apply>",
               "expm1": "<apply><minus/><apply><exp/>{0}</apply><cn>1</cn></apply>",
               "cbrt": "<piecewise><piece><apply><minus/><apply><root/><degree><cn>3</cn></degree><apply><minus/>{0}"
                       "</apply></apply></apply><apply><lt/>{0}<cn>0</cn></apply></piece><otherwise><apply><root/>"
                       "<degree><cn>3</cn></degree>{0}</apply></otherwise></piecewise>"}
HYPOT = ("<apply><root/><apply><plus/><apply><power/>{0}<cn>2</cn></apply><apply><power/>{1}<cn>2</cn></apply></apply>"
         "</apply>")


class Formulas:
    """names: {(space, index): identifier}; parts: {node: identifier} of what has a name of its own"""

    def __init__(self, model, names):
        self.model, self.g, self.names, self.parts = model, model.graph, names, {}

    def math(self, a):
        return f"{MATH}{self.text(a)}</math>"

    def text(self, a):
        return f"<ci>{self.parts[a]}</ci>" if a in self.parts else self.written(a)

    def written(self, a):
        key = self.g.nodes[a]
        kind = key[0]
        if kind == "c":
            return f"<cn>{key[1]!r}</cn>" if "e" not in repr(key[1]) else \
                '<cn type="e-notation">{}<sep/>{}</cn>'.format(*repr(key[1]).split("e"))
        if kind == "v":
            return self.variable(key)
        if self.is_relation(a):
            guard = self.model.relations[self.g.nodes[key[2]][2]].guard
            above, equal = self.g.const(key[3]) > 0, key[1] == "!="
            return f"<apply><{SIGNS[above, equal]}/>{self.text(guard)}<cn>0</cn></apply>"
        if kind == "call":
            raise Refused(f"{self.model.name}: SBML has no counterpart of {key[1][0]}, a function in C")
        inside = [self.text(b) for b in self.g.children(a)]
        if kind == "sel":
            condition, yes, no = inside
            return f"<piecewise><piece>{yes}{condition}</piece><otherwise>{no}</otherwise></piecewise>"
        if kind == "cmp":
            return f"<apply><{RELATIONS[key[1]]}/>{''.join(inside)}</apply>"
        if kind == "f" and key[1] in WRITTEN_OUT:
            return WRITTEN_OUT[key[1]].format(*inside)
        if kind == "g" and key[1] == "hypot":
            return HYPOT.format(*inside)
        if kind in ("f", "g"):
            if key[1] not in FUNCTIONS:
                raise Refused(f"{self.model.name}: SBML has no function {key[1]}")
            return f"<apply><{FUNCTIONS[key[1]]}/>{''.join(inside)}</apply>"
        return f"<apply><{OPERATORS[kind]}/>{''.join(inside)}</apply>"

    def variable(self, key):
        space, index = key[1:3]
        if space == "t":
            return TIME
        if space == "whole":
            return f"<apply><floor/>{self.text(self.model.relations[index].guard)}</apply>"
        if (space, index) not in self.names:
            raise Refused(f"{self.model.name}: SBML has no counterpart of {space}")
        return f"<ci>{self.names[space, index]}</ci>"

    def is_relation(self, a):
        """A comparison of the sign of a guard with 1 or -1"""
        key = self.g.nodes[a]
        return key[0] == "cmp" and self.g.nodes[key[2]][:2] == ("v", "relation")

    def children(self, a):
        """Also the guards of relations"""
        key = self.g.nodes[a]
        if key[0] == "v" and key[1] in ("relation", "whole"):
            return [self.model.relations[key[2]].guard]
        return [] if key[0] in LEAVES else list(self.g.children(a))

    def name_parts(self, roots, fresh):
        """Gives names to what several formulas share; [(name, node)] in an order in which they can be evaluated"""
        order, uses, seen, stack = [], {}, set(), [(a, False) for a in reversed(roots)]
        while stack:
            a, done = stack.pop()
            if done:
                order.append(a)
            elif a not in seen:
                seen.add(a)
                below = self.children(a)
                for b in below:
                    uses[b] = uses.get(b, 0) + 1
                stack += [(a, True), *((b, False) for b in below)]
        out = []
        for a in order:
            kind = self.g.nodes[a][0]
            if uses.get(a, 0) > 1 and kind not in (*LEAVES, "cmp", "and", "or", "not"):
                name = fresh()
                out.append((name, self.math(a)))
                self.parts[a] = name
        return out
