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

    def __init__(self, bound):
        self.bound, self.made = bound, {}

    def once(self, make, count):
        """an array that depends on this number only"""
        if (make, count) not in self.made:
            self.made[make, count] = make(count)
        return self.made[make, count]

    def all(self, part, at):
        """the derivatives along each component"""
        return self.of(part, at, self.once(np.eye, len(at[part])))

    def of(self, part, at, directions):
        """the derivatives along the columns of an array of directions"""
        if directions.shape[1] < LEAST:
            return self.one_by_one(part, at, directions)
        key, known = (self.bound.name, part), self.bound.trust.vectorised
        if key not in known:
            J = self.one_by_one(part, at, directions)
            known[key] = self.is_vectorised(part, at, directions, J)
            return J
        if not known[key]:
            return self.one_by_one(part, at, directions)
        J = self.at_once(part, at, directions)
        if J is None or not self.agree_along_one(part, at, directions, J):
            known[key] = False
            raise Mistrusted(f"{self.bound.name} does not compute the columns of arrays as it computes vectors")
        return J

    def one_by_one(self, part, at, directions):
        J = np.empty((self.bound.rows, directions.shape[1]))
        for k, d in enumerate(directions.T):
            J[:, k] = self.along(part, at, d)
        return J

    def along(self, part, at, d):
        return self.bound.complex_value((*at[:part], at[part] + 1j * STEP * d, *at[part + 1:]), part) / STEP

    def at_once(self, part, at, directions):
        """by a call for as many columns as MOST_NUMBERS allows; None: the function does not understand them"""
        count, found = max(LEAST, MOST_NUMBERS // len(at[part])), []
        for begin in range(0, directions.shape[1], count):
            found.append(self.block(part, at, directions[:, begin:begin + count]))
            if found[-1] is None:
                return None
        return found[0] if len(found) == 1 else np.hstack(found)

    def block(self, part, at, directions):
        count = directions.shape[1] + 1
        moved = [a if k == 0 else np.repeat(a[:, None], count, axis=1) for k, a in enumerate(at)]
        moved[part] = moved[part] + 0j
        moved[part].imag[:, :-1] = STEP * directions
        try:
            value = np.asarray(self.bound.of.value(*moved))
        except Exception:
            return None
        if value.shape == (count,) and self.bound.rows == 1:
            value = value[None]
        if value.shape != (self.bound.rows, count) or value.dtype.kind not in "fc":
            return None
        J = value.imag / STEP
        still = np.abs(J[:, -1]) <= SAME * np.abs(J).sum(axis=1)
        return J[:, :-1] if np.all(still | ~np.isfinite(J).all(axis=1)) else None

    def is_vectorised(self, part, at, directions, J):
        """At the first point: by few columns, so that a function that forms products of its arguments needs no more
        memory than it should; then by all."""
        for count in (LEAST, directions.shape[1]):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error")          # an array of rows of different lengths, for example
                found = self.at_once(part, at, directions[:, :count])
                if found is None or not np.all(np.abs(found - J[:, :count]) <= SAME * np.abs(J).sum(axis=1)[:, None]):
                    return False
        return True

    def agree_along_one(self, part, at, directions, J):
        weights = self.once(some_weights, directions.shape[1])
        one = self.along(part, at, directions @ weights)
        with np.errstate(all="ignore"):
            gap, size = np.abs(J @ weights - one), np.abs(J) @ weights
            return bool(np.all((gap <= SAME * size) | ~np.isfinite(size)))


def some_weights(count):
    return np.random.default_rng(2).uniform(0.5, 1.0, count)
