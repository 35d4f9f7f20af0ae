"""Models of the Systems Biology Markup Language (SBML), levels 2 and 3, as equation files.

xml_file.py     elements with their lines; mathml.py, formula.py: formulas as terms (terms.py)
document.py     what a file declares; read.py reads it
derived.py      what each identifier is: a state, a parameter, a rule; its initial value and its rate
algebraic.py    which unknowns the algebraic rules determine; events.py: events; equations.py: the equation file

The sources are the specifications: Hucka et al., SBML Level 3 Version 2 Core, J. Integr. Bioinform. 16 (2019), and
for level 2 its Version 5, J. Integr. Bioinform. 12 (2015)."""
from .equations import Equations, Meaning, write
from .formula import parse as formula
from .read import read

__all__ = ["Equations", "Meaning", "formula", "read", "write"]
