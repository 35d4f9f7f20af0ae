# %% [markdown]
# # A first run: solve an initial value problem, differentiate it, and see what is exact
#
# This tutorial solves a small system of ordinary differential equations, finds events, and computes derivatives of the
# result: tangents (JVP), discrete adjoints (VJP) and a gradient with an estimate of its error. Each cell checks the
# numbers it talks about, so that the file is also a test.

# %%
import numpy as np
import costate

print("costate", costate.__version__, "with", len(costate.methods()), "methods")

# %% [markdown]
# ## In the style of SciPy
#
# `costate.solve_ivp` takes the arguments of `scipy.integrate.solve_ivp` and returns the same fields. The example is the
# model of Lotka and Volterra: prey `y[0]` and predators `y[1]`.


# %%
def prey(t, y, p):
    return np.array([y[0] * (p[0] - p[1] * y[1]), y[1] * (p[3] * y[0] - p[2])])


y0, p = [1.0, 1.2], np.array([1.5, 1.0, 3.0, 1.0])
if hasattr(costate, "solve_ivp"):
    found = costate.solve_ivp(prey, (0.0, 10.0), y0, args=(p,), rtol=1e-8, atol=1e-8)
    print(found.t.size, "times, at the end", found.y[:, -1])

# %% [markdown]
# ## With a Problem
#
# A `Problem` keeps the equations together with how they are solved. Its functions receive `(t, y, p)`: derivatives with
# respect to the parameters `p` need to know them. The method is `auto` by default, which changes between explicit and
# implicit methods as the problem demands. Where states between steps are wanted, as here, `dopri5` is a good choice for
# a problem that is not stiff: its dense output is nearly as accurate as its steps.

# %%
problem = costate.Problem(prey, method="dopri5", rtol=1e-8, atol=1e-8)
run = problem.integrate((0.0, 10.0), y0, p, t_eval=np.linspace(0.0, 10.0, 21))
print("y(10) =", run.y, "after", run.stats["accepted"], "steps")
print("states at 21 times:", run.at.shape, " at any time:", run(3.3))

# %% [markdown]
# The quantity `p[3] y0 - p[2] log y0 + p[1] y1 - p[0] log y1` is constant along solutions. How much it changes shows
# how accurate the run is.


# %%
def constant(y):
    return p[3] * y[0] - p[2] * np.log(y[0]) + p[1] * y[1] - p[0] * np.log(y[1])


drift = np.abs(constant(run.at) - constant(np.array(y0)))
print("largest drift:", drift.max())
assert drift.max() < 1e-6

# %% [markdown]
# ## Derivatives of the run
#
# A run is recorded on a tape. `run.tangent` computes the derivative of `y(t1)` along directions of `y0` and `p`, a
# Jacobian-vector product (JVP); `run.adjoint` multiplies the Jacobian by a vector from the left, a vector-Jacobian
# product (VJP), in one sweep back over the steps. Its cost does not grow with the number of parameters.

# %%
J = run.tangent(dp=np.eye(4))                       # dy(10)/dp, 2 by 4
by_y0, by_p = run.adjoint([0.0, 1.0])               # gradient of y[1](10) with respect to y0 and p
print("dy[1](10)/dp by tangents:", J[1])
print("dy[1](10)/dp by adjoints:", by_p)
assert np.allclose(J[1], by_p, rtol=1e-11)

# %% [markdown]
# Both are derivatives of the same steps, so that they agree to round-off. Differences of runs agree with them only in
# some digits, because of truncation, and because every run chooses its own steps.

# %%
h = 1e-5
moved = [problem.integrate((0.0, 10.0), y0, p + h * sign * np.eye(4)[0]).y[1] for sign in (1, -1)]
by_difference = (moved[0] - moved[1]) / (2 * h)
print("difference quotient:", by_difference, " tangent:", J[1, 0])
assert abs(by_difference - J[1, 0]) < 1e-5 * abs(J[1, 0])

# %% [markdown]
# ## What is exact?
#
# `run.derivatives` says how the derivatives of your functions were computed. Here it is `"complex step"`: `prey` also
# computes with complex numbers, so that `prey(t, y + 1e-100j * d, p).imag / 1e-100` is its derivative along `d` to
# round-off. `"exact"` means that you gave Jacobians or products; `"differences"` means that nothing else was possible.

# %%
print(run.derivatives)
assert run.derivatives == "complex step"


def real_only(t, y, p):
    return prey(t, np.array(y, dtype=float), np.array(p, dtype=float))


print(costate.Problem(real_only, derivatives="differences").integrate((0.0, 1.0), y0, p).derivatives)

# %% [markdown]
# The gradient is exact for the steps that were taken; how far it is from the gradient of the *solution* depends on the
# steps. `Problem.gradient` estimates this error with a second run whose steps are half as long, or repeats the run
# until the estimate is within a tolerance.

# %%
end = costate.Functional(end=lambda t, y, p: y[1])
estimate = problem.gradient(end, (0.0, 10.0), y0, p, estimate=True)
within = problem.gradient(end, (0.0, 10.0), y0, p, tol=1e-8)
print("gradient with respect to p:", estimate.p)
print("its estimated error:       ", estimate.error.p)
print("its true error:            ", within.p - estimate.p)
assert np.allclose(within.p - estimate.p, estimate.error.p, rtol=0.2)

# %% [markdown]
# ## Events
#
# An event happens where a guard is zero; then the state may jump. A ball falls from the height `y0[0]` and loses a
# fifth of its velocity at each bounce. Derivatives pass through events, including that of the time at which they
# happen.

# %%
g, kept = 9.81, 0.8
bounce = costate.Event(lambda t, y, p: y[:1], direction=-1,
                       jump=lambda t, y, p: np.array([0 * y[0], -kept * y[1]]))
ball = costate.Problem(lambda t, y, p: np.array([y[1], -g + 0 * y[0]]), events=[bounce], rtol=1e-10, atol=1e-10)
fall = ball.integrate((0.0, 0.8), [1.0, 0.0])
(hit, _, before, after), = fall.events
print(f"hits the ground at t = {hit:.12f} with {before[1]:.6f} m/s, leaves it with {after[1]:.6f} m/s")
assert abs(hit - np.sqrt(2 / g)) < 1e-12

# %% [markdown]
# The derivative of the height at 0.8 s with respect to the first height, by a tangent and by hand:

# %%
speed = np.sqrt(2 * g)                              # at the ground, from 1 m
by_hand = kept * (0.8 - hit) * g / speed - (kept * speed - g * (0.8 - hit)) / speed
by_tangent = fall.tangent(dy0=[1.0, 0.0])[0]
print(by_tangent, by_hand)
assert abs(by_tangent - by_hand) < 1e-9

# %% [markdown]
# ## Pictures

# %%
from matplotlib import pyplot
from costate.plots import plot_run, plot_sensitivities

figure, (upper, lower) = pyplot.subplots(2, 1, figsize=(5, 5.5), layout="constrained")
plot_run(run, labels=["prey", "predators"], xlabel="", ylabel="animals [1000]", ax=upper)
plot_sensitivities(run, relative=True, labels=["birth", "encounter", "death", "growth"],
                   ylabel=r"$p_j\,\partial y_0/\partial p_j$", xlabel="$t$ [a]", ax=lower)
pyplot.show()
