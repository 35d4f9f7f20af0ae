"""The page of the package for Python: classes and functions with their docstrings, by Sphinx's autodoc."""
import sys

NAMES = ("solve_ivp", "Problem", "Run", "Functional", "Event", "BoundaryProblem", "Model", "from_sympy", "from_cfunc",
         "from_numba", "Map", "Result", "CostateError", "ModelError", "methods", "option_names", "version")
HEAD = """Python: classes and functions
=============================

The :doc:`guide </reference/python>` shows how they are used.

"""


def python_pages(sources, package):
    """package: the directory that has the built package costate; None: there is none."""
    text = HEAD
    if package is None:
        text += "This copy of the site was built without the package.\n"
    else:
        sys.path.insert(0, str(package))
        import costate
        for name in NAMES:
            of = getattr(costate, name)
            kind = "exception" if isinstance(of, type) and issubclass(of, Exception) else \
                "class" if isinstance(of, type) else "function"
            text += f".. auto{kind}:: costate.{name}\n" + ("   :members:\n" if kind == "class" else "") + "\n"
    sources.write("reference/python-api.rst", text)


def setup(app):
    """As an extension: docstrings are plain text, their first paragraph prose and the rest shown as it is."""
    app.connect("autodoc-process-docstring", plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def plain(app, what, name, of, options, lines):
    text = "\n".join(lines).strip("\n")
    first, _, rest = text.partition("\n\n")
    lines[:] = [line.replace("*", r"\*").replace("`", r"\`").replace("_", r"\_").replace("|", r"\|")
                for line in first.splitlines()]
    if rest.strip():
        lines += ["", "::", "", *("    " + line for line in rest.splitlines()), ""]
