# %% [markdown]
# # Optimal control: a piecewise constant control, with gradients from discrete adjoints
#
# A force u damps the oscillator of Van der Pol, which oscillates forever without it. The control has one value in each
# of 24 intervals, between -0.5 and 0.8. It minimises the integral of `y0^2 + y1^2 + u^2` over [0, 6]. The gradient with
# respect to all 24 values is one sweep back.

# %%
import numpy as np
from matplotlib import pyplot
from scipy.optimize import minimize

import costate

# %% [markdown]
# ## The problem
#
# The integrand is a running cost: the library integrates it along with the state, and it has an adjoint like the state.
# The control of an interval is the parameter `p[0]` of the run over that interval. So f never jumps inside a run, and
# steps end exactly where the control changes. Steps of a fixed length make the cost a smooth function of the control,
# to the last digits, which helps the line search of the optimiser; the gradient is exact for these steps.


# %%
def oscillator(t, y, p):
    return np.array([(1 - y[1]**2) * y[0] - y[1] + p[0], y[0]])


oscillator = costate.Map(oscillator, jac=lambda t, y, p: np.array([[1 - y[1]**2, -2 * y[0] * y[1] - 1], [1.0, 0.0]]),
                         jac_p=[[1.0], [0.0]], jac_t=[0.0, 0.0])
effort = costate.Map(lambda t, y, p: np.array([y[0]**2 + y[1]**2 + p[0]**2]), jac=lambda t, y, p: 2 * y[None, :],
                     jac_p=lambda t, y, p: 2 * p[None, :], jac_t=[0.0])
problem = costate.Problem(oscillator, cost=effort, method="dopri5", controller="fixed", h0=0.05)
start, grid = np.array([0.0, 1.0]), np.linspace(0.0, 6.0, 25)

# %% [markdown]
# ## Cost and gradient
#
# The intervals are run one after the other. The gradient passes through them in the opposite order: the adjoint of a
# run takes the gradient with respect to its end, `w`, and 1 for its own cost, and returns the gradients with respect to
# its start and to its control.


# %%
def runs_of(u):
    runs, y = [], start
    for t0, t1, value in zip(grid[:-1], grid[1:], u):
        runs.append(problem.integrate((t0, t1), y, [value]))
        y = runs[-1].y
    return runs


def cost_and_gradient(u):
    runs = runs_of(u)
    w, gradient = np.zeros(2), np.zeros(len(u))
    for k in reversed(range(len(u))):
        w, by_p = runs[k].adjoint(w, w_costs=[1.0])
        gradient[k] = by_p[0]
    return sum(run.q[0] for run in runs), gradient


# %% [markdown]
# A check with differences, for three of the 24 values:

# %%
u = 0.3 * np.sin(grid[:-1])
_, gradient = cost_and_gradient(u)
for k in (0, 11, 23):
    unit = 1e-5 * np.eye(24)[k]
    difference = (cost_and_gradient(u + unit)[0] - cost_and_gradient(u - unit)[0]) / 2e-5
    print(f"interval {k:2}: adjoint {gradient[k]:.8f}, difference {difference:.8f}")
    assert abs(gradient[k] - difference) < 1e-5 * np.abs(gradient).max()

# %% [markdown]
# ## Optimisation
#
# L-BFGS-B builds an approximate Hessian from gradients and respects the bounds.

# %%
limits = (-0.5, 0.8)
before, _ = cost_and_gradient(np.zeros(24))
best = minimize(cost_and_gradient, np.zeros(24), jac=True, method="L-BFGS-B", bounds=[limits] * 24,
                options=dict(ftol=1e-14, gtol=1e-5))
print(f"cost {before:.4f} without control, {best.fun:.6f} with the best; {best.nfev} gradients")

# %% [markdown]
# At an optimum the gradient is zero where the control is free, and points outwards where it is at a bound.

# %%
free = (best.x > limits[0] + 1e-6) & (best.x < limits[1] - 1e-6)
print(f"{free.sum()} values are free, {(~free).sum()} at a bound;",
      f"largest gradient of a free one: {np.abs(best.jac[free]).max():.1e}")
assert best.success and np.abs(best.jac[free]).max() < 1e-4
assert np.all(best.jac[best.x > limits[1] - 1e-6] < 0) and np.all(best.jac[best.x < limits[0] + 1e-6] > 0)

# %% [markdown]
# ## The picture

# %%
runs = runs_of(best.x)
figure, (upper, lower) = pyplot.subplots(2, 1, figsize=(5, 4.8), sharex=True, layout="constrained")
t = np.concatenate([np.linspace(run.t0, run.t, 12) for run in runs])
y = np.hstack([run(np.linspace(run.t0, run.t, 12)) for run in runs])
alone = problem.integrate((0.0, 6.0), start, [0.0])
for i, name in enumerate(["velocity $y_0$", "position $y_1$"]):
    upper.plot(t, y[i], color=f"C{i}", label=name)
    upper.plot(t, alone(t)[i], ":", color=f"C{i}", linewidth=1)
upper.set(ylabel="$y$ (dotted: without control)")
upper.legend(fontsize="small", frameon=False)
lower.stairs(best.x, grid, color="C2", baseline=None)
for limit in limits:
    lower.axhline(limit, color="0.6", linewidth=0.8, linestyle="--")
lower.set(xlabel="$t$ [s]", ylabel="control $u$")
pyplot.show()
