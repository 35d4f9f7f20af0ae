"""A costate_misfit of a list of measured values: J = -log(likelihood), and its derivatives along recorded runs."""
import numpy as np

from costate._costate import ffi, lib
from costate._library import CostateError, pointer, status_name, text
from costate.maps import raise_what_was_raised
from costate.problem import derived

SCALES = {"lin": lib.COSTATE_SCALE_LINEAR, "log": lib.COSTATE_SCALE_LOG, "log10": lib.COSTATE_SCALE_LOG10}
NOISE = {"normal": lib.COSTATE_NOISE_NORMAL, "laplace": lib.COSTATE_NOISE_LAPLACE}
CENSORED = {0: 0, -1: lib.COSTATE_BELOW, 1: lib.COSTATE_ABOVE}


@derived
def swept(run, call):
    """call(run._b), once complex steps of the run's functions have been looked over"""
    return call(run._b)


class Likelihood:
    """times: of observation, in the order of the run; listed: tuples with the members of costate_measured; replaced:
    those of costate_replaced; outputs: (number of outputs, costate_map, ctx, ...), or an array of components of y"""

    def __init__(self, P, times, listed, outputs, replaced=()):
        self.times, self.count = times, len(listed)
        self._t = np.where(np.isfinite(times), times, 0.0)
        self._list, self._replaced = ffi.new("costate_measured[]", listed), ffi.new("costate_replaced[]",
                                                                                    list(replaced) or 1)
        data = ffi.new("costate_measurements *")
        data.times, data.t = len(times), pointer(self._t)
        if isinstance(outputs, tuple):
            data.outputs, data.output, data.ctx = outputs[:3]           # behind them is what must live as long
        else:
            self._component = ffi.new("int[]", [int(i) for i in outputs])
            data.outputs, data.component = len(outputs), self._component
        data.count, data.list, data.replaced, data.nreplaced = self.count, self._list, self._replaced, len(replaced)
        self._data, self._P, self._outputs = data, P, outputs
        self.misfit = ffi.gc(lib.costate_misfit_new(P, data), lib.costate_misfit_free)
        self.check(lib.costate_misfit_status(self.misfit))
        self.functional = ffi.new("costate_functional *")
        self.check(lib.costate_misfit_functional(self.misfit, self.functional))

    def check(self, status, b=None):
        if status != lib.COSTATE_OK:
            if b is not None:
                raise_what_was_raised([b.owner, *b.others])
            raise CostateError(status_name(status), text(lib.costate_misfit_message(self.misfit)))

    def term(self, k, y, p, gradient=True):
        """J at time k of the state y, and its gradients with respect to y and, directly, p"""
        value, w, mu = np.zeros(1), np.zeros(len(y)), np.zeros(len(p))
        F = self.functional
        if F.at_time_p(k, self._t[k], pointer(y), pointer(p) if len(p) else ffi.NULL, 1, pointer(value),
                       pointer(w) if gradient else ffi.NULL, pointer(mu) if gradient and len(p) else ffi.NULL, F.ctx):
            raise ArithmeticError(text(lib.costate_misfit_message(self.misfit)))
        return value[0], w, mu

    def found(self):
        """(residuals, outputs) of the last evaluation, a number for each of the list"""
        return tuple(np.array(ffi.unpack(of(self.misfit), self.count))
                     for of in (lib.costate_misfit_residuals, lib.costate_misfit_outputs))

    def gradient(self, run, p):
        """J and its gradients (N, np)"""
        def call(b):
            lam, mu = np.zeros(b.N), np.zeros(len(p))
            self.check(lib.costate_misfit_gradient(self.misfit, b.solver, run._taped(), pointer(p), pointer(lam),
                                                   pointer(mu)), b)
            return lib.costate_misfit_sum(self.misfit), lam, mu
        return swept(run, call)

    def jacobian(self, run, p, V, Vp):
        """(number of values, m): derivatives of the residuals along the rows of V (m, N) and Vp (m, np)"""
        def call(b):
            R, moved = np.zeros((len(V), self.count)), V.copy()
            self.check(lib.costate_misfit_jacobian(self.misfit, b.solver, run._taped(), pointer(p), len(V),
                                                   pointer(moved), pointer(Vp), pointer(R)), b)
            return R.T
        return swept(run, call)

    def second(self, run, p, V, Vp, gauss_newton=False):
        """(J, lambda, mu, lambda2, mu2): J, its gradients (0 of Gauss-Newton products), and their derivatives along the
        rows of V and Vp"""
        def call(b):
            s, moved, along = ffi.new("costate_second *"), V.copy(), Vp.copy()
            lam, mu, lam2, mu2 = np.zeros(b.N), np.zeros(len(p)), np.zeros(V.shape), np.zeros(Vp.shape)
            s.m, s.V, s.Vp, s.lambda2, s.mu2 = len(V), *map(pointer, (moved, along, lam2, mu2))
            if not gauss_newton:
                s.mu = pointer(mu)
                setattr(s, "lambda", pointer(lam))
            product = lib.costate_misfit_gauss_newton if gauss_newton else lib.costate_misfit_hessian
            self.check(product(self.misfit, b.solver, run._taped(), pointer(p), s), b)
            return lib.costate_misfit_sum(self.misfit), lam, mu, lam2, mu2
        return swept(run, call)

    def accuracy(self, run):
        """(value, by y0, by p) of the run, and their estimated errors"""
        def call(b):
            e, out = ffi.new("costate_estimate *"), []
            for of in (e.run, e.error):
                arrays = np.zeros(1), np.zeros(b.N), np.zeros(b.np)
                of.value, of.y0, of.p = (pointer(a) if a.size else ffi.NULL for a in arrays)
                out.append(arrays)
            b.check(lib.costate_accuracy(b.solver, run._taped(), self.functional, e))
            return [(value[0], by_y0, by_p) for value, by_y0, by_p in out]
        return swept(run, call)
