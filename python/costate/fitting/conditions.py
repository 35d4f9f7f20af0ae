"""One condition of a fit: its run, and J = -log(likelihood) of its measurements with derivatives with respect to the
unknowns u.

The vector z of a condition holds y0, where that is given, and p; each entry is a number or one of the unknowns.  With
S = dz/du, the derivatives with respect to u are S^T times those with respect to z, and tangents start with S du."""
import numpy as np

from costate.fitting.data import NOISES
from costate.fitting.likelihood import CENSORED, NOISE, SCALES, Likelihood
from costate.fitting.unknowns import Places


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

    def chained(self, run, lam, mu):
        """the gradient with respect to u of one with respect to all initial values and to p"""
        lam, mu, b = lam.copy(), mu.copy(), run._b
        if run._start is not None:
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

    def jacobian(self, u, du):
        """derivatives of the residuals along the rows of du: (count, m)"""
        run = self.run(u)
        return self.likelihood.jacobian(run, run._p, *self.along(run, du))

    def second(self, u, du, gauss_newton=False):
        """(J, gradient, products (m, K)): the Hessian, or that of Gauss and Newton, times the rows of du"""
        run = self.run(u)
        V, Vp = self.along(run, du)
        J, lam, mu, lam2, mu2 = self.likelihood.second(run, run._p, V, Vp, gauss_newton)
        products = np.stack([self.chained(run, a, b) for a, b in zip(lam2, mu2)])
        if run._start is not None and not gauss_newton:
            for k, dp in enumerate(Vp):
                by_p = run._start.hvp(run.t0, run._p, lam, dp)
                self.z.add_to(products[k], np.concatenate([np.zeros(self.first), by_p[0] if isinstance(by_p, tuple)
                                                           else by_p]))
        return J, self.chained(run, lam, mu), products

    def accuracy(self, u):
        """the estimated error of the gradient"""
        run = self.run(u)
        _, (_, lam, mu) = self.likelihood.accuracy(run)
        return self.chained(run, lam, mu)
