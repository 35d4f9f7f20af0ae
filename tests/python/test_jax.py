"""costate.jax: gradients and gradients of gradients of a run, against formulas; with jit and vmap."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import Skipped, run_all

import numpy as np

try:
    import jax
    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

TIMES = np.array([0.0, 0.5, 1.5])
Y0, P = np.array([2.0]), np.array([0.7])


def decay():
    """y = y0 exp(-p t), as a function of JAX"""
    if jax is None:
        raise Skipped("no jax")
    import costate.jax
    problem = costate.Problem(lambda t, y, p: -p * y, jac=lambda t, y, p: -np.diag(p) + 0 * y,
                              jac_p=lambda t, y, p: -np.diag(y), jac_t=np.zeros(1), method="dopri5",
                              rtol=1e-12, atol=1e-12)
    return costate.jax.odesolve(problem, TIMES)


def square(solve):
    """of the state at the end, as a function of p: y0^2 exp(-2 p t)"""
    return lambda p: solve(Y0, p)[-1, 0]**2


EXACT = (2.0 * np.exp(-0.7 * 1.5))**2


def test_states():
    solve = decay()
    exact = 2.0 * np.exp(-0.7 * TIMES)
    assert np.allclose(solve(Y0, P)[:, 0], exact, rtol=1e-10)
    assert np.allclose(jax.jit(solve)(Y0, P)[:, 0], exact, rtol=1e-10)


def test_gradient():
    of = square(decay())
    assert np.allclose(jax.grad(of)(P), -3.0 * EXACT, rtol=1e-9)
    assert np.allclose(jax.jit(jax.grad(of))(P), -3.0 * EXACT, rtol=1e-9)


def test_gradient_of_gradient():
    of = square(decay())
    assert np.allclose(jax.grad(lambda p: jax.grad(of)(p)[0])(P), 9.0 * EXACT, rtol=1e-9)


def test_vmap():
    solve = decay()
    many = np.array([[0.5], [0.7], [0.9]])
    states = jax.vmap(lambda p: solve(Y0, p))(many)
    assert states.shape == (3, 3, 1) and np.allclose(states[1], solve(Y0, P), rtol=1e-14)


def test_single_precision():
    solve = decay()
    y0, p = Y0.astype(np.float32), P.astype(np.float32)
    assert solve(y0, p).dtype == np.float32
    assert jax.grad(lambda q: solve(y0, q).sum())(p).dtype == np.float32


run_all(globals())
