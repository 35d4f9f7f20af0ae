"""One condition of a fit: its run, and J = -log(likelihood) of its measurements with derivatives with respect to the
unknowns u.

The vector z of a condition holds y0, where that is given, and p; each entry is a number or one of the unknowns.  With
S = dz/du, the derivatives with respect to u are S^T times those with respect to z, and tangents start with S du."""
import numpy as np

from costate._costate import ffi
from costate.fitting.data import NOISES
from costate.fitting.likelihood import CENSORED, NOISE, SCALES, Likelihood, swept
from costate.fitting.unknowns import Places

BACK = 2.0              # what a functional of a sweep back costs, in tangents


class Names:
    """Names of states and of parameters, and of initial values: y0[NAME]"""

    def __init__(self, states, parameters):
        self.states, self.parameters = list(states), list(parameters)
        self.initial = [name if name.startswith("y0[") else f"y0[{name}]" for name in self.states]
        self.all = [*self.initial, *self.parameters]

    def of(self, given, names, what, condition):
        """{name: number or name of an unknown} of an array or a dictionary"""
        if given is None:
            return {}
        if isinstance(given, dict):
            for name in given:
                if name not in names:
                    raise ValueError(f"{condition}: {what} names {name!r}; it has {', '.join(map(str, names))}")
            return given
        array = np.asarray(given, dtype=float)
        if array.shape != (len(names),):
            raise ValueError(f"{condition}: {what} has shape {array.shape}; expected ({len(names)},)")
        return dict(zip(names, array))


class Experiment:
    """number: of the condition; t: times of observation, increasing; rows: (index of the data, row, column) of each
    value, in the order of the Likelihood; count: their number"""

    def __init__(self, name, problem, observed, names, unknowns, data, base, given, t0):
        """base: y0 or None, and p, as numbers or NaN where an unknown must be; given: {slot: number or name}"""
        self.name, self.problem, self.observed, self.names = name, problem, observed, names
        self.data, self.t0, self.unknowns = data, t0, unknowns
        self.places(base, given)
        self.collect()
        self.known, self.likelihood = None, None                 # known: (u, run) of the last run
        self.unmeasured = None

    def __str__(self):
        return f"condition {self.name!r}"

    def places(self, base, given):
        y0, p = base
        words = [*(self.names.initial if y0 is not None else []), *self.names.parameters]
        self.first = 0 if y0 is None else len(y0)
        z = Places(np.concatenate([[] if y0 is None else y0, p]))
        for k, word in enumerate(words):
            value = given.get(word, word if word in self.unknowns.place else z.values[k])
            if isinstance(value, str):
                if value not in self.unknowns.place:
                    raise ValueError(f"{self}: {word} is {value!r}, which is neither a number nor one of the "
                                     f"unknowns {', '.join(self.unknowns.names)}")
                z.source[k] = self.unknowns.place[value]
            else:
                z.values[k] = value
        lacking = (z.source < 0) & ~np.isfinite(z.values)
        unset = [word for word, missing in zip(words, lacking) if missing]
        if unset:
            raise ValueError(f"{self}: {', '.join(unset)} has no value: give it as an unknown, in p or in y0")
        self.z = z

    def collect(self):
        """times, and the list of the Likelihood"""
        times = [d.times[np.any(np.isfinite(d.values), axis=1)] for d in self.data]
        self.t = np.unique(np.concatenate(times))
        if self.t[0] < self.t0 or self.t[-1] <= self.t0:
            raise ValueError(f"{self}: values were measured from t = {self.t[0]:g} to {self.t[-1]:g}, but the run "
                             f"begins at t0 = {self.t0:g}: set t0 to a time before all measurements")
        self.rows = sorted((int(np.searchsorted(self.t, d.times[i])), k, i, j) for k, d in enumerate(self.data)
                           for i, j in zip(*np.nonzero(np.isfinite(d.values))))
        self.rows = [(k, i, j) for _, k, i, j in self.rows]
        self.count = len(self.rows)

    def listed(self):
        """the members of costate_measured of each value"""
        out = []
        for k, i, j in self.rows:
            d = self.data[k]
            sigma = d.sigma[j]
            fixed = sigma is None or isinstance(sigma, np.ndarray)
            scale, noise = NOISES[d.noise[j]]
            out.append((int(np.searchsorted(self.t, d.times[i])), self.observed.place(d.of[j]),
                        -1 if fixed else self.observed.place(sigma),
                        1.0 if sigma is None or not fixed else float(sigma[i]), float(d.values[i, j]), SCALES[scale],
                        NOISE[noise] + CENSORED[int(d.censored[i, j])], 0, 0))
        return out

    def gathered(self, of):
        """an array with of(data, row, column) of each value"""
        return np.array([of(self.data[k], i, j) for k, i, j in self.rows])

    # ---- the run

    def split(self, u):
        z = self.z.parameters(u)
        return (z[:self.first] if self.first else None), z[self.first:]

    def run(self, u):
        """the recorded run, which is kept for further derivatives at u"""
        if self.known is None or not np.array_equal(self.known[0], u):
            y0, p = self.split(u)
            self.known = None
            run = self.problem.integrate((self.t0, self.t[-1]), y0, p)
            if run.t < self.t[-1]:
                raise ArithmeticError(f"{self}: an event ended the run at t = {run.t:g}, before the last "
                                      "measurement")
            self.known = np.array(u), run
        run = self.known[1]
        if self.likelihood is None:
            y0 = run.y if self.first == 0 else self.split(u)[0]
            P, outputs = self.observed.of_misfit(self.t0, y0, run._p)
            self.likelihood, self.struct = Likelihood(P, self.t, self.listed(), outputs), P
        return run

    def value(self, u):
        """(J, residuals, outputs).  States are those of the sweeps: at the time of an event, those after it"""
        run = self.run(u)
        states = np.ascontiguousarray(run(self.t).T)
        J = sum(self.likelihood.term(k, y, run._p, False)[0] for k, y in enumerate(states))
        return (J, *self.likelihood.found())

    # ---- derivatives

    def along(self, run, du):
        """V (m, N) and Vp (m, np): the directions of the start and of p, of those of u, the rows of du"""
        dz = self.z.directions(du)
        V, Vp = np.zeros((len(dz), run._b.N)), np.ascontiguousarray(dz[:, self.first:])
        V[:, :min(self.first, run._b.n)] = dz[:, :min(self.first, run._b.n)]
        if self.first > run._b.n:
            V[:, run._b.N - run._b.nm:] = dz[:, run._b.n:self.first]
        for k in range(len(dz) if run._start is not None else 0):
            V[k] += run._start.jvp(run.t0, run._p, Vp[k])
        return V, Vp

    def chained(self, run, lam, mu, through_start=True):
        """the gradient with respect to u of one with respect to all initial values and to p"""
        lam, mu, b = lam.copy(), mu.copy(), run._b
        if run._start is not None and through_start:
            run._start.through(run.t0, run._p, lam[None], mu[None])
        start = np.concatenate([lam[:b.n], lam[b.N - b.nm:]])[:self.first]
        out = np.zeros(len(self.unknowns.names))
        self.z.add_to(out, np.concatenate([start, mu]))
        return out

    def gradient(self, u):
        """(J, gradient)"""
        run = self.run(u)
        J, lam, mu = self.likelihood.gradient(run, run._p)
        return J, self.chained(run, lam, mu)

    def moving(self, du):
        """which rows of du move anything here: unknowns of other conditions do not"""
        return np.any(self.z.directions(du) != 0, axis=1)

    def jacobian(self, u, du):
        """derivatives of the residuals along the rows of du: (count, m)"""
        run, rows, out = self.run(u), self.moving(du), np.zeros((self.count, len(du)))
        if self.takes_adjoints(np.count_nonzero(rows)):
            return self.by_adjoints(u) @ du.T
        if np.any(rows):
            out[:, rows] = self.likelihood.jacobian(run, run._p, *self.along(run, du[rows]))
        return out

    def takes_adjoints(self, directions):
        """do adjoints of all residuals cost less than tangents along so many directions?"""
        fixed = all(sigma is None or isinstance(sigma, np.ndarray) for d in self.data for sigma in d.sigma)
        return fixed and BACK * self.count < directions

    def by_adjoints(self, u):
        """The Jacobian of the residuals with respect to u, from one sweep back with a functional for each.  dr/dy is
        the gradient of a likelihood r^2/2 whose values are such that r = 1"""
        run, b = self.run(u), self.run(u)._b
        _, _, outputs = self.value(u)
        y, at = np.ascontiguousarray(run(self.t).T), np.array([item[0] for item in self.listed()])
        items = []
        for i, (_, output, noise, sigma, _, scale, _, *rest) in enumerate(self.listed()):
            value = outputs[i] - sigma if scale == SCALES["lin"] else outputs[i] * np.exp(-sigma)
            items.append((i, output, noise, sigma, value, scale, NOISE["normal"], *rest))
        unit = Likelihood(self.struct, self.t[at], items, self.likelihood._outputs)
        seeds, lam = np.zeros((len(self.t), self.count, b.n)), np.zeros((self.count, b.N))
        mu = np.zeros((self.count, b.np))
        for i, k in enumerate(at):
            _, seeds[k, i], mu[i] = unit.term(i, y[k], run._p)
        swept(run, lambda b: self.sweep_back(run, seeds, lam, mu))
        return np.stack([self.chained(run, *rows, through_start=False) for rows in zip(lam, mu)])

    def sweep_back(self, run, seeds, lam, mu):
        seen, keep = run._observing(self.t, len(lam))
        run._b.owner.seeds = seeds
        run._sweep(lam, mu, ffi.NULL, seen)             # through the start, too

    def second(self, u, du, gauss_newton=False):
        """(J, gradient, products (m, K)): the Hessian, or that of Gauss and Newton, times the rows of du"""
        run, rows, products = self.run(u), self.moving(du), np.zeros((len(du), len(self.unknowns.names)))
        if not np.any(rows):
            return (*self.gradient(u), products)
        V, Vp = self.along(run, du[rows])
        J, lam, mu, lam2, mu2 = self.likelihood.second(run, run._p, V, Vp, gauss_newton)
        for k, row in enumerate(np.flatnonzero(rows)):
            products[row] = self.chained(run, lam2[k], mu2[k])
            if run._start is not None and not gauss_newton:
                by_p = self.curved_start(run, lam, Vp[k])
                self.z.add_to(products[row], np.append(np.zeros(self.first), by_p))
        return J, self.chained(run, lam, mu), products

    @staticmethod
    def curved_start(run, lam, dp):
        """what second derivatives of initial values that depend on p add"""
        by_p = run._start.hvp(run.t0, run._p, lam, dp)
        return by_p[0] if isinstance(by_p, tuple) else by_p

    def accuracy(self, u):
        """the estimated error of the gradient"""
        run = self.run(u)
        _, (_, lam, mu) = self.likelihood.accuracy(run)
        return self.chained(run, lam, mu)
