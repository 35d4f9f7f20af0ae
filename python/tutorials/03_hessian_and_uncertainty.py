# %% [markdown]
# # Hessian-vector products and uncertainty: Newton's method and Laplace's approximation
#
# The gradient of a functional of a run costs one sweep back (discrete adjoint). Its derivative along a direction, a
# Hessian-vector product, costs a sweep of tangents and one second-order sweep, however many parameters there are. This
# tutorial uses such products in Newton's method (Newton-CG), and at the optimum for the covariance of parameters and
# the uncertainty of a forecast (Laplace's approximation).

# %%
import numpy as np
from matplotlib import pyplot
from scipy.optimize import minimize

import costate

# %% [markdown]
# ## A posterior
#
# A population grows logistically, `y' = r y (1 - y / K)`. It is observed at 12 times with an error of 0.15; the
# carrying capacity K is known only vaguely. The unknowns are the logarithms of r, of K and of the population at the
# start, all three as parameters: then they may have any sign. The start enters the run as `y0 = exp(p[2])`.
#
# Second derivatives need Jacobians that accept complex `y` and `p`: their complex steps are the second derivatives.
# `jac_t` says that the equation does not depend on time.


# %%
def growth(t, y, p):
    return np.exp(p[0]) * y * (1 - y * np.exp(-p[1]))


def growth_jac(t, y, p):
    return np.array([[np.exp(p[0]) * (1 - 2 * y[0] * np.exp(-p[1]))]])


def growth_jac_p(t, y, p):
    return np.array([[growth(t, y, p)[0], np.exp(p[0] - p[1]) * y[0]**2, 0 * y[0]]])


problem = costate.Problem(growth, jac=growth_jac, jac_p=growth_jac_p, jac_t=[[0.0]], method="dopri5", rtol=1e-9,
                          atol=1e-9)
truth = np.log([0.8, 5.0, 0.4])
times, sigma = np.linspace(0.5, 6.0, 12), 0.15
rng = np.random.default_rng(3)
data = problem.integrate((0.0, 6.0), np.exp(truth[2:]), truth, t_eval=times).at[0] + sigma * rng.standard_normal(12)

# %% [markdown]
# The negative logarithm of the posterior is a sum of terms at the times of observation, each with its gradient and its
# curvature with respect to the state, and of a prior: log K is normal with mean log 6 and deviation 0.5.

# %%
seen = dict(zip(times, data))
misfit = costate.Functional(times=times, term=lambda t, y: 0.5 * ((y[0] - seen[t]) / sigma)**2,
                            term_y=lambda t, y: (y - seen[t]) / sigma**2, term_yy=lambda t, y: np.eye(1) / sigma**2)
prior_mean, prior_deviation = np.log(6.0), 0.5


class Posterior:
    """value, gradient and Hessian products at the same parameters share a run"""
    at, products = None, 0

    def run(self, p):
        if self.at is None or not np.array_equal(p, self.at):
            self.last, self.at = problem.integrate((0.0, 6.0), np.exp(p[2:]), p), p.copy()
        return self.last

    def value_and_gradient(self, p):
        found = self.run(p).gradient(misfit)
        off = (p[1] - prior_mean) / prior_deviation
        return found.value + 0.5 * off**2, found.p + [0, off / prior_deviation, found.y0[0] * np.exp(p[2])]

    def hessp(self, p, v):
        """the chain rule for y0 = exp(p[2]) adds two terms"""
        start = np.exp(p[2])
        found = self.run(p).hessp(misfit, start * v[2:], v)
        self.products += 1
        return found.Hp + [0, v[1] / prior_deviation**2, start * (found.Hy0[0] + found.y0[0] * v[2])]


posterior = Posterior()

# %% [markdown]
# Hessian products are checked in two ways: against differences of gradients, and by symmetry, `w.Hv = v.Hw`, which
# holds to round-off.

# %%
guess, v, w = np.log([1.0, 6.0, 0.3]), np.array([0.3, -1.0, 0.5]), np.array([1.0, 0.2, -0.4])
up, down = (posterior.value_and_gradient(guess + sign * 1e-5 * v)[1] for sign in (1, -1))
product = posterior.hessp(guess, v)
print("H v:              ", product)
print("by differences:   ", (up - down) / 2e-5)
assert np.allclose(product, (up - down) / 2e-5, rtol=1e-6)
assert abs(w @ product - v @ posterior.hessp(guess, w)) < 1e-12 * np.linalg.norm(product)

# %% [markdown]
# ## Newton-CG in a trust region
#
# The optimiser solves Newton's equation by conjugate gradients, for which products with the Hessian are enough.

# %%
posterior = Posterior()
best = minimize(posterior.value_and_gradient, guess, jac=True, hessp=posterior.hessp, method="trust-ncg",
                options=dict(gtol=1e-8))
print("r, K, y(0):", np.exp(best.x), " truth:", np.exp(truth))
print(f"{best.nit} iterations, {best.nfev} runs, {posterior.products} Hessian products")
assert best.success and np.linalg.norm(best.jac) < 1e-8

# %% [markdown]
# ## Laplace's approximation
#
# Near the optimum the posterior is close to a normal distribution, whose covariance is the inverse of the Hessian. The
# Hessian has three columns, each a product. For a comparison, the Gauss-Newton matrix leaves out second derivatives of
# the solution.

# %%
H = np.stack([posterior.hessp(best.x, e) for e in np.eye(3)])
assert np.linalg.norm(H - H.T) < 1e-11 * np.linalg.norm(H) and np.all(np.linalg.eigvalsh(H) > 0)
covariance = np.linalg.inv(H)
start = np.exp(best.x[2])
J = posterior.run(best.x).tangent(dy0=[[0.0, 0.0, start]], dp=np.eye(3), at=times)[:, 0, :] / sigma
gauss_newton = J.T @ J + np.diag([0, 1 / prior_deviation**2, 0])
for name, x, error, other, true in zip(["log r", "log K", "log y(0)"], best.x, np.sqrt(np.diag(covariance)),
                                       np.sqrt(np.diag(np.linalg.inv(gauss_newton))), truth):
    print(f"{name:9} {x:7.4f} +- {error:.4f}   (Gauss-Newton {other:.4f}, truth {true:.4f})")
assert np.all(np.abs(best.x - truth) < 3 * np.sqrt(np.diag(covariance)))

# %% [markdown]
# ## The uncertainty of a forecast
#
# The forecast runs on to t = 12. Its tangents carry the covariance of the parameters to the states: `J C J^T`.

# %%
ahead = problem.integrate((0.0, 12.0), [start], best.x)
later = np.linspace(0.0, 12.0, 121)
J = ahead.tangent(dy0=[[0.0, 0.0, start]], dp=np.eye(3), at=later)[:, 0, :]
band = 2 * np.sqrt(np.einsum("ki,ij,kj->k", J, covariance, J))
state, actual = ahead(later)[0], problem.integrate((0.0, 12.0), np.exp(truth[2:]), truth)(later)[0]
print(f"y(12) = {state[-1]:.3f} +- {band[-1]:.3f} (two deviations); truth {actual[-1]:.3f}")
assert np.mean(np.abs(state - actual) < band) > 0.8

figure, ax = pyplot.subplots(figsize=(5, 3.4), layout="constrained")
ax.fill_between(later, state - band, state + band, color="C0", alpha=0.25, linewidth=0, label="two deviations")
ax.plot(later, state, color="C0", label="best fit")
ax.plot(later, actual, "--", color="0.3", linewidth=1, label="truth")
ax.plot(times, data, ".", color="C3", label="data")
ax.set(xlabel="$t$ [a]", ylabel="population [1000]")
ax.legend(fontsize="small", frameon=False, loc="lower right")
pyplot.show()
