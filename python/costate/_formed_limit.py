"""Limits whose y0 or p is not a vector, and what runs of such a problem share with them."""


class OfForm:
    """A run or a limit of vectors, with states in the shape of y0, and what is by p in the form of p."""

    def __init__(self, form, flat):
        self.form, self.flat = form, flat

    def __getattr__(self, name):
        if name in ("form", "flat"):            # of a copy that is being made
            raise AttributeError(name)
        return getattr(self.flat, name)

    def __repr__(self):
        return repr(self.flat)

    @property
    def y(self):
        """the state, in the shape of y0"""
        return self.form.y.of(self.flat.y)


class FormedSteadyState(OfForm):
    def tangent(self, dy0=None, dp=None):
        """as that of SteadyState: dy0 in the shape of y0, dp in the form of p"""
        return self.form.y.of(self.flat.tangent(*self.form.directions(dy0, dp)))

    def adjoint(self, w):
        """as that of SteadyState: w in the shape of y0; the gradients have the shape of y0 and the form of p"""
        return self._parts(self.flat.adjoint(self.form.y.flat(w, "w")))

    def hessp(self, w, vy0=None, vp=None):
        """as that of SteadyState"""
        return self._parts(self.flat.hessp(self.form.y.flat(w, "w"), *self.form.directions(vy0, vp)))

    def _parts(self, found):
        return self.form.y.of(found[0]), self.form.p.of(found[1])


class FormedPeriodicOrbit(OfForm):
    def __call__(self, t):
        """the state at t, or at several times"""
        return self.form.y.of(self.flat(t))

    def tangent(self, dp):
        """as that of PeriodicOrbit: dp in the form of p"""
        found = self.flat.tangent(self.form.directions(None, dp)[1])
        return found._replace(y=self.form.y.of(found.y))

    def adjoint(self, y=None, period=0.0, q=None):
        """as that of PeriodicOrbit: in the form of p"""
        return self.form.p.of(self.flat.adjoint(self._weights(y), period, q))

    def hessp(self, vp, y=None, period=0.0, q=None):
        """as that of PeriodicOrbit: vp and the result in the form of p"""
        return self.form.p.of(self.flat.hessp(self.form.directions(None, vp)[1], self._weights(y), period, q))

    def multiplier_gradient(self, k=0):
        """as that of PeriodicOrbit: complex, in the form of p"""
        return self.form.p.of(self.flat.multiplier_gradient(k))

    def _weights(self, y):
        return None if y is None else self.form.y.flat(y, "y")
