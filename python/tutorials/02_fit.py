# %% [markdown]
# # Parameter estimation: fit an ordinary differential equation to data
#
# Four parameters and two initial values of the model of Lotka and Volterra are estimated from noisy observations, by
# nonlinear least squares. The Jacobian of the residuals comes from tangents (sensitivity analysis), not from
# differences of runs. At the end the curvature of the fit gives confidence regions.

# %%
import numpy as np
from matplotlib import pyplot
from scipy.optimize import least_squares
from scipy.stats import chi2

import costate
from costate.plots import plot_run

# %% [markdown]
# ## The model
#
# The Jacobians with respect to the state and to the parameters are given, so that the derivatives are exact. Without
# them the library would take complex steps of `prey`.


# %%
def prey(t, y, p):
    return np.array([y[0] * (p[0] - p[1] * y[1]), y[1] * (p[3] * y[0] - p[2])])


def prey_jac(t, y, p):
    return np.array([[p[0] - p[1] * y[1], -p[1] * y[0]], [p[3] * y[1], p[3] * y[0] - p[2]]])


def prey_jac_p(t, y, p):
    zero = 0 * y[0]
    return np.array([[y[0], -y[0] * y[1], zero, zero], [zero, zero, -y[1], y[0] * y[1]]])


problem = costate.Problem(prey, jac=prey_jac, jac_p=prey_jac_p, method="dopri5", rtol=1e-8, atol=1e-8)

# %% [markdown]
# ## Data
#
# Both species are counted at 24 times; each count has an error with a standard deviation of 0.1.

# %%
truth = np.array([1.0, 1.2, 1.5, 1.0, 3.0, 1.0])            # y0, then p
times, sigma = np.linspace(0.5, 12.0, 24), 0.1
rng = np.random.default_rng(7)
exact = problem.integrate((0.0, 12.0), truth[:2], truth[2:], t_eval=times).at.T
data = exact + sigma * rng.standard_normal(exact.shape)

# %% [markdown]
# ## Residuals and their Jacobian
#
# One run serves both. `run.tangent(..., at=times)` carries six directions, one for each unknown, through the steps of
# the run and returns the derivatives of the states at all times.


# %%
class Fit:
    """residuals and Jacobian at the same unknowns share a run"""
    runs, at = 0, None

    def run(self, x):
        if self.at is None or not np.array_equal(x, self.at):
            self.last, self.at = problem.integrate((0.0, 12.0), x[:2], x[2:], t_eval=times), x.copy()
            self.runs += 1
        return self.last

    def residuals(self, x):
        return ((self.run(x).at.T - data) / sigma).reshape(-1)

    def jacobian(self, x):
        unit = np.eye(6)
        moved = self.run(x).tangent(dy0=unit[:2], dp=unit[2:], at=times)        # times, states, unknowns
        return moved.reshape(-1, 6) / sigma


# %% [markdown]
# The Jacobian is checked against the adjoint, which is computed in a different way: the gradient of half the sum of
# squares is `J^T r`, and also one sweep back over the run.

# %%
fit = Fit()
guess = np.array([0.9, 1.1, 1.4, 0.9, 2.8, 1.1])
r, J = fit.residuals(guess), fit.jacobian(guess)
by_y0, by_p = fit.run(guess).adjoint(at=times, w_at=r.reshape(-1, 2) / sigma)
print("gradient by tangents:", J.T @ r)
print("gradient by adjoints:", np.concatenate([by_y0, by_p]))
assert np.allclose(J.T @ r, np.concatenate([by_y0, by_p]), rtol=1e-11)

# %% [markdown]
# ## The fit
#
# All unknowns are positive. The bounds also keep the optimiser from parameters for which the populations explode.

# %%
fit = Fit()
options = dict(bounds=(0.2, 5.0), xtol=1e-12, ftol=1e-12)
found = least_squares(fit.residuals, guess, jac=fit.jacobian, **options)
print("estimate:", found.x.round(4), "\ntruth:   ", truth)
print(f"half the sum of squares: {found.cost:.3f} with {len(r)} residuals; {fit.runs} runs")
assert found.success and abs(2 * found.cost / (len(r) - 6) - 1) < 0.5
assert np.linalg.norm(found.grad) < 1e-4 * np.linalg.norm(J.T @ r)

# %% [markdown]
# With differences of runs in place of tangents the same fit needs seven runs for each Jacobian:

# %%
slow = Fit()
by_differences = least_squares(slow.residuals, guess, **options)
print(f"{slow.runs} runs with differences, {fit.runs} with tangents")
assert np.allclose(by_differences.x, found.x, atol=1e-4) and slow.runs > 4 * fit.runs

# %% [markdown]
# ## Confidence regions
#
# Near the estimate the residuals are almost linear. The covariance of the estimate is then `(J^T J)^-1`, the inverse of
# the Gauss-Newton matrix, because residuals are in units of their standard deviation.

# %%
covariance = np.linalg.inv(found.jac.T @ found.jac)
deviation = np.sqrt(np.diag(covariance))
for name, value, error, true in zip(["y0[0]", "y0[1]", "p[0]", "p[1]", "p[2]", "p[3]"], found.x, deviation, truth):
    print(f"{name:6} {value:.4f} +- {error:.4f}   (truth {true})")
distance = (found.x - truth) @ np.linalg.solve(covariance, found.x - truth)
print(f"distance of the truth: {distance:.2f}; 95 % of fits are within {chi2.ppf(0.95, 6):.2f}")
assert distance < chi2.ppf(0.95, 6)

# %% [markdown]
# The picture shows the fit, and the ellipse that contains `(p[0], p[2])` in 95 % of fits.


# %%
def ellipse(center, part, level):
    """points of the curve (x - center)^T part^-1 (x - center) = level"""
    angle = np.linspace(0, 2 * np.pi, 200)
    return center[:, None] + np.sqrt(level) * np.linalg.cholesky(part) @ np.stack([np.cos(angle), np.sin(angle)])


figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
plot_run(fit.run(found.x), labels=["prey", "predators"], xlabel="$t$ [a]", ylabel="animals [1000]", ax=left)
for i in range(2):
    left.plot(times, data[:, i], ".", color=f"C{i}")
pair = [2, 4]
right.plot(*ellipse(found.x[pair], covariance[np.ix_(pair, pair)], chi2.ppf(0.95, 2)), label="95 % region")
right.plot(*found.x[pair], "o", color="C0", label="estimate")
right.plot(*truth[pair], "x", color="C3", label="truth")
right.set(xlabel="birth rate of prey [1/a]", ylabel="death rate of predators [1/a]")
right.legend(fontsize="small", frameon=False)
pyplot.show()
