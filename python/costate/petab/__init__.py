"""Parameter estimation problems in the format PEtab, versions 1 and 2, with an SBML model.

load(path)      the Problem of a problem.yaml
PetabError      what is wrong in its files

It needs PyYAML."""
from costate.petab.problem import Problem
from costate.petab.tables import PetabError

__all__ = ["PetabError", "Problem", "load"]


def load(path, **options):
    """The Problem in a file problem.yaml.

    posterior   True: priors of the table of parameters count
    threads     for conditions; None: as many as there are cores
    rtol, atol  1e-8 and 1e-12; other options: as of costate.Problem; model: {...}, as of costate.Model"""
    return Problem(path, **options)
