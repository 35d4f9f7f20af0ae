"""Small SBML files for tests: lists of elements, with formulas written as Python's expressions."""
import ast

LEVELS = {2: ("http://www.sbml.org/sbml/level2/version4", 2, 4),
          3: ("http://www.sbml.org/sbml/level3/version2/core", 3, 2)}
OPERATORS = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.Div: "divide", ast.Pow: "power", ast.Lt: "lt",
             ast.LtE: "leq", ast.Gt: "gt", ast.GtE: "geq", ast.Eq: "eq", ast.NotEq: "neq", ast.And: "and", ast.Or: "or",
             ast.Not: "not", ast.USub: "minus"}
SYMBOLS = "http://www.sbml.org/sbml/symbols/"
MATH = '<math xmlns="http://www.w3.org/1998/Math/MathML">'


def model(*parts, level=3, attributes="", packages=""):
    """The text of a file; parts: (list, elements), as ("Parameters", parameters(k=1))"""
    space, number, version = LEVELS[level]
    lists = "\n".join(f"<listOf{name}>\n{elements}\n</listOf{name}>" for name, elements in parts)
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<sbml xmlns="{space}" level="{number}" version="{version}" '
            f'{packages}>\n<model id="small" {attributes}>\n{lists}\n</model>\n</sbml>\n')


def element(tag, inside="", **attributes):
    text = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return f"<{tag} {text}>{inside}</{tag}>" if inside else f"<{tag} {text}/>"


def parameters(constant="true", **values):
    return "\n".join(element("parameter", id=name, value=value, constant=constant) for name, value in values.items())


def compartment(name="C", size=1, constant="true", **more):
    return element("compartment", id=name, size=size, constant=constant, spatialDimensions=3, **more)


def species(name, compartment="C", only="false", boundary="false", constant="false", **more):
    return element("species", id=name, compartment=compartment, hasOnlySubstanceUnits=only, boundaryCondition=boundary,
                   constant=constant, **more)


def reaction(name, left, right, law, local="", more=""):
    """left, right: {species: stoichiometry, or a speciesReference}"""
    def side(tag, of):
        return f"<listOf{tag}>" + "".join(
            x if isinstance(x, str) else element("speciesReference", species=s, stoichiometry=x, constant="true")
            for s, x in of.items()) + f"</listOf{tag}>" if of else ""
    return element("reaction", side("Reactants", left) + side("Products", right) +
                   f"<kineticLaw>{math(law)}{local}</kineticLaw>" + more, id=name, reversible="false")


def rule(kind, variable, formula):
    """kind: assignment, rate; or algebraic, whose variable is None"""
    named = {"variable": variable} if variable else {}
    return element(kind + "Rule", math(formula), **named)


def initial(symbol, formula):
    return element("initialAssignment", math(formula), symbol=symbol)


def function(name, arguments, formula):
    bound = "".join(f"<bvar><ci>{a}</ci></bvar>" for a in arguments)
    return element("functionDefinition", f"{MATH}<lambda>{bound}{content(formula)}</lambda></math>", id=name)


def event(name, trigger, begins="true", persistent="true", at_trigger="true", priority=None, delay=None, **assignments):
    inside = element("trigger", math(trigger), initialValue=begins, persistent=persistent)
    inside += "".join(f"<{tag}>{math(x)}</{tag}>" for tag, x in (("priority", priority), ("delay", delay)) if x)
    inside += "<listOfEventAssignments>" + "".join(
        element("eventAssignment", math(x), variable=v) for v, x in assignments.items()) + "</listOfEventAssignments>"
    return element("event", inside, id=name, useValuesFromTriggerTime=at_trigger)


def math(formula):
    return f"{MATH}{content(formula)}</math>"


def content(formula):
    """Python's expression as MathML; piecewise(value, condition, ..., otherwise); root(degree, x)"""
    return tree(ast.parse(formula, mode="eval").body)


def tree(e):
    if isinstance(e, ast.Constant):
        return f"<{str(e.value).lower()}/>" if isinstance(e.value, bool) else f"<cn>{e.value}</cn>"
    if isinstance(e, ast.Name):
        if e.id in ("pi", "exponentiale", "infinity", "notanumber"):
            return f"<{e.id}/>"
        return symbol(e.id) if e.id in ("time", "avogadro") else f"<ci>{e.id}</ci>"
    if isinstance(e, ast.Compare):
        return f"<apply><{OPERATORS[type(e.ops[0])]}/>{tree(e.left)}{''.join(map(tree, e.comparators))}</apply>"
    if isinstance(e, ast.Call):
        return call(e.func.id, e.args)
    inside = {ast.BinOp: lambda: (e.left, e.right), ast.UnaryOp: lambda: (e.operand,), ast.BoolOp: lambda: e.values}
    return f"<apply><{OPERATORS[type(e.op)]}/>{''.join(map(tree, inside[type(e)]()))}</apply>"


def symbol(name):
    return f'<csymbol encoding="text" definitionURL="{SYMBOLS}{name}">{name}</csymbol>'


def call(name, arguments):
    a = list(map(tree, arguments))
    if name == "piecewise":
        pieces = "".join(f"<piece>{v}{c}</piece>" for v, c in zip(a[0::2], a[1::2]))
        return f"<piecewise>{pieces}" + (f"<otherwise>{a[-1]}</otherwise>" if len(a) % 2 else "") + "</piecewise>"
    if name in ("rateOf", "delay"):
        return f"<apply>{symbol(name)}{''.join(a)}</apply>"
    if name in ("root", "log") and len(a) == 2:
        tag = "degree" if name == "root" else "logbase"
        return f"<apply><{name}/><{tag}>{a[0]}</{tag}>{a[1]}</apply>"
    head = f"<{name}/>" if name not in USER else f"<ci>{name}</ci>"
    return f"<apply>{head}{''.join(a)}</apply>"


USER = {"f", "g", "h"}                       # names of function definitions
