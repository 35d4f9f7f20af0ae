"""The page of the package for Python: classes and functions with their docstrings, by Sphinx's autodoc."""
import sys

from rst import escaped, literal

NAMES = ("solve_ivp", "Problem", "Run", "fit", "Measurements", "Condition", "Unknown", "Fit", "Profile", "Misfit",
         "Functional", "Event", "Relation", "Residual", "Transition", "AfterStep",
         "Bounds", "Projection", "Relaxation", "BoundaryProblem", "Model", "from_sympy", "from_cfunc", "from_numba",
         "Map", "Result", "CostateError", "ModelError", "DerivativeWarning", "NotTraced", "methods", "load_method",
         "option_names", "version")


def python_pages(sources, package):
    """Adds the docstrings to the page; package: the directory that has the built package costate, or None."""
    page = sources.out / "reference" / "python-api.md"
    text = page.read_text(encoding="utf-8")
    if package is None:
        text += "\nThis copy of the site was built without the package, so that they are not shown.\n"
    else:
        sys.path.insert(0, str(package))
        import costate
        text += "\n```{eval-rst}\n"
        for name in NAMES:
            of = getattr(costate, name)
            kind = "exception" if isinstance(of, type) and issubclass(of, Exception) else \
                "class" if isinstance(of, type) else "function"
            text += f".. auto{kind}:: costate.{name}\n" + ("   :members:\n" if kind == "class" else "") + "\n"
        text += "```\n"
    page.write_text(text, encoding="utf-8")


def setup(app):
    """As an extension: docstrings are plain text, their first paragraph prose and the rest shown as it is."""
    app.connect("autodoc-process-docstring", plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def plain(app, what, name, of, options, lines):
    text = "\n".join(lines).strip("\n")
    first, _, rest = text.partition("\n\n")
    lines[:] = [escaped(line) for line in first.splitlines()]
    if rest.strip():
        lines += ["", *literal(rest.splitlines())]
