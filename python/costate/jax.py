"""Runs as functions of JAX: arrays y0 and p to states at given times, with gradients and gradients of gradients.

Experimental, and not tested: JAX was not available where costate is tested; tests/python/test_jax.py is skipped
there."""
import inspect

import jax
import numpy as np

from costate._states import checked_times, curvature, run_over

# jax.vmap of a callback is a loop: newer versions want to be told
LOOP = dict(vmap_method="sequential") if "vmap_method" in inspect.signature(jax.pure_callback).parameters else {}


def odesolve(problem, t):
    """A function of (y0, p), arrays (n,) and (np,), that returns the states at the times t: (len(t), n).  Experimental.

    problem: a Problem; t: two or more times, strictly increasing or decreasing; the run starts at t[0].  The function
    is written for jit, grad, vjp and vmap (a loop); jax.grad of a jax.grad needs the problem's second derivatives.  JAX
    keeps no runs between its calls, so that each derivative repeats the run first.  The library computes in double
    precision; the states have the type of y0: jax.config.update("jax_enable_x64", True) for all digits."""
    times = checked_times(t)

    def run(y0, p):
        return run_over(problem, times, np.asarray(y0, dtype=float), np.asarray(p, dtype=float))

    def states(y0, p):
        return np.asarray(run(y0, p).at.T, dtype=y0.dtype)

    def adjoint(y0, p, w):
        found = run(y0, p).adjoint(at=times, w_at=np.asarray(w, dtype=float))
        return tuple(np.asarray(g, dtype=a.dtype) for g, a in zip(found, (y0, p)))

    def second(y0, p, w, u, v):
        r, u, v = run(y0, p), np.asarray(u, dtype=float), np.asarray(v, dtype=float)
        found = (*curvature(r, times, np.asarray(w, dtype=float), u, v), r.tangent(u, v, at=times))
        return tuple(np.asarray(g, dtype=a.dtype) for g, a in zip(found, (y0, p, w)))

    @jax.custom_vjp
    def solve(y0, p):
        return jax.pure_callback(states, jax.ShapeDtypeStruct((times.size, *y0.shape), y0.dtype), y0, p, **LOOP)

    @jax.custom_vjp
    def pullback(y0, p, w):
        return jax.pure_callback(adjoint, shapes(y0, p), y0, p, w, **LOOP)

    def pullback_back(kept, above):
        return jax.pure_callback(second, shapes(*kept), *kept, *above, **LOOP)

    solve.defvjp(lambda y0, p: (solve(y0, p), (y0, p)), lambda kept, w: pullback(*kept, w))
    pullback.defvjp(lambda *of: (pullback(*of), of), pullback_back)
    return solve


def shapes(*arrays):
    return tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays)
