"""A method derived from its table: everything the C descriptor holds, and what the report says of it."""
from dataclasses import dataclass, field

from .real import ZERO


@dataclass
class Method:
    """Names as in method.h; matrices are lists of rows, absent ones None."""
    table: object                    # what the file states; what follows is derived
    coefficients: object             # those of all stages: Tableau of rungekutta.py, Forms of rosenbrock.py
    tol: object                      # what they satisfy
    s: int = 0
    conditions: object = None        # order conditions over all stages, the explicit first one included
    weights: list = None             # b over all stages
    embedded_weights: list = None    # bhat over all stages; firk: over (t, y) and the stages
    embedded_conditions: object = None
    P: list = None                   # R(z) = P(z)/Q(z)
    Q: list = None
    embedded: int = 0
    embedded2: int = 0
    dense: int = 0
    degree: int = 0
    properties: set = field(default_factory=set)
    r_infinity: object = None        # None: unbounded
    gamma: object = ZERO
    A: list = None
    b: list = None
    c: list = None
    d: list = None
    e: list = None                   # that of the embedded solution less that of the solution: bhat - b, ros: mhat - m
    e2: list = None
    D: list = None                   # s rows of degree coefficients
    B: list = None                   # continuous weights over all stages: B[k-1][j] of theta^k
    W: list = None
    g: list = None
    b0: object = ZERO
    est0: object = ZERO
    at: object = ZERO
    estx: object = ZERO
    ex: list = None
    block: int = 0
    real: list = field(default_factory=list)
    pairs: list = field(default_factory=list)
    T: list = None
    Ti: list = None
    theta: list = None
    theta0: object = ZERO
    C: list = None
    gi: list = None
    newf: list = None
    dae_order: int = 0               # ros: order for index-1 problems,
    w_order: int = 0                 # and with any matrix for the Jacobian,
    embedded_w_order: int = 0        # that of the embedded solution

    @property
    def name(self):
        return self.table.name
