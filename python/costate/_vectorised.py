"""Columns of Jacobians by complex steps: in one call where the function computes several points at once."""
import warnings

import numpy as np

from costate._derivatives import STEP, Mistrusted

# A call for all columns and one that checks it take less time than this many calls for a column each.
LEAST = 4
SAME = 1e-11            # of the sum of the magnitudes in a row: columns by one call and by several differ by less
MOST_NUMBERS = 1 << 16  # in an array of complex arguments: intermediate results stay in the cache


class Columns:
    """The derivatives of a Bound along several directions in one part of its arguments.

    A function that consists of operations on single components computes k points at once if it receives arrays of shape
    (n, k) and (np, k) in place of y and p: its values have the shape (rows, k).  A function may also return an array of
    that shape which is wrong, for example if it uses the number of elements of y, or their sum.  So at the first point
    all columns are compared with those of single calls, and at every point

    - a column that does not move, behind the others, must have no derivative,
    - the derivative along one more direction, by a call for one point, must be that of the columns.

    Where this is not so, the function is called for each column from then on, and what used the columns is repeated."""

    def __init__(self):
        self.made = {}

    def once(self, make, *of):
        """what depends on these numbers only"""
        if (make, *of) not in self.made:
            self.made[(make, *of)] = make(*of)
        return self.made[(make, *of)]

    def all(self, bound, part, at):
        """the derivatives along each component"""
        return self.of(bound, part, at, self.once(np.eye, len(at[part])))

    def of(self, bound, part, at, directions):
        """the derivatives along the columns of an array of directions"""
        if directions.shape[1] < LEAST:
            return self.one_by_one(bound, part, at, directions)
        key, known = (bound.name, part), bound.trust.vectorised
        if key not in known:
            J = self.one_by_one(bound, part, at, directions)
            known[key] = self.is_vectorised(bound, part, at, directions, J)
            return J
        if not known[key]:
            return self.one_by_one(bound, part, at, directions)
        found = self.at_once(bound, part, at, directions)
        if found is None or not self.agree_along_one(bound, part, at, directions, *found):
            known[key] = False
            raise Mistrusted(f"{bound.name} does not compute the columns of arrays as it computes vectors")
        return found[0]

    def one_by_one(self, bound, part, at, directions):
        J = np.empty((bound.rows, directions.shape[1]))
        for k, d in enumerate(directions.T):
            J[:, k] = self.along(bound, part, at, d)
        return J

    def along(self, bound, part, at, d):
        return bound.complex_value((*at[:part], at[part] + 1j * STEP * d, *at[part + 1:]), part) / STEP

    def at_once(self, bound, part, at, directions):
        """(the columns, what columns that do not move have) by calls for as many as MOST_NUMBERS allows; None: the
        function does not understand them"""
        most, count = max(LEAST, MOST_NUMBERS // len(at[part])), directions.shape[1]
        blocks = [self.block(bound, part, at, directions[:, k:k + most]) for k in range(0, count, most)]
        if any(block is None for block in blocks):
            return None
        if len(blocks) == 1:
            return blocks[0]
        return np.hstack([J for J, _ in blocks]), np.max([still for _, still in blocks], axis=0)

    def block(self, bound, part, at, directions):
        count = directions.shape[1] + 1
        ones = self.once(np.ones, (1, count))
        moved = [at[0], *(a[:, None] * ones for a in at[1:])]
        moved[part] = moved[part] + 0j
        moved[part].imag[:, :-1] = STEP * directions
        try:
            value = np.asarray(bound.of.value(*moved))
        except Exception:
            return None
        if value.shape == (count,) and bound.rows == 1:
            value = value[None]
        if value.shape != (bound.rows, count) or value.dtype.kind not in "fc":
            return None
        J = value.imag / STEP
        return J[:, :-1], np.abs(J[:, -1])

    def is_vectorised(self, bound, part, at, directions, J):
        """At the first point: by few columns, so that a function that forms products of its arguments needs no more
        memory than it should; then by all."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")              # an array of rows of different lengths, for example
            size = SAME * np.abs(J).sum(axis=1)
            for count in (LEAST, directions.shape[1]):
                found = self.at_once(bound, part, at, directions[:, :count])
                if found is None or not np.all(np.abs(found[0] - J[:, :count]) <= size[:, None]):
                    return False
                if not np.all(found[1] <= size):
                    return False
        return True

    def agree_along_one(self, bound, part, at, directions, J, still):
        """Nothing is said where values are not finite: the run will not use them."""
        weights = self.once(some_weights, directions.shape[1])
        one = self.along(bound, part, at, directions @ weights)
        if not np.isfinite(one).all():
            return True
        size = SAME * (np.abs(J) @ weights)
        return bool((np.maximum(np.abs(J @ weights - one), still) <= size).all())


def some_weights(count):
    return np.random.default_rng(2).uniform(0.5, 1.0, count)
