"""Runs as functions of PyTorch: tensors y0 and p to states at given times, with first and second derivatives."""
import numpy as np
import torch

from costate._states import checked_times, curvature, ensemble_over, run_over, runs_in_threads


def odesolve(problem, y0, p, t):
    """The states at the times t, of a run that starts from y0 at t[0]: a tensor (len(t), n).

    problem     a Problem: the equations, and how they are solved
    y0, p       tensors (n,) and (np,); p may be None.  With a leading dimension of batches, (B, n) or (B, np), there
                is a run for each member, and the states are (B, len(t), n).  Compiled models and traced functions run
                as an ensemble, in threads, which is run again for each gradient; others one after the other
    t           at least two times, strictly increasing or strictly decreasing; not differentiated

    Gradients with respect to y0 and p (VJP) are discrete adjoints of the run, gradients of gradients (double
    backward) are Hessian-vector products and tangents (JVP) over the same run.  Forward mode gives tangents.  The
    library computes in double precision on the CPU; the states have the type and device of y0."""
    y0 = torch.as_tensor(y0)
    p = y0.new_zeros(0) if p is None else torch.as_tensor(p)
    if y0.ndim not in (1, 2) or p.ndim not in (1, 2):
        raise ValueError(f"y0 and p have shapes {tuple(y0.shape)} and {tuple(p.shape)}; expected one dimension, or two "
                         "with a batch")
    if torch.is_tensor(t):
        if t.requires_grad:
            raise ValueError("t requires a gradient; odesolve differentiates with respect to y0 and p only")
        t = t.cpu()
    times = checked_times(t)
    if y0.ndim == 1 and p.ndim == 1:
        return Solve.apply(problem, times, y0, p)
    given = members(y0, p)
    if runs_in_threads(problem, times, *map(array, given[0])):
        return SolveMany.apply(problem, times, *(torch.stack(parts) for parts in zip(*given)))
    return torch.stack([Solve.apply(problem, times, *one) for one in given])


def members(y0, p):
    """(y0, p) of each member of a batch"""
    count = y0.shape[0] if y0.ndim == 2 else p.shape[0]
    if y0.ndim == 2 and p.ndim == 2 and p.shape[0] != count:
        raise ValueError(f"y0 has {count} members, p has {p.shape[0]}")
    return [(y0[k] if y0.ndim == 2 else y0, p[k] if p.ndim == 2 else p) for k in range(count)]


def array(tensor):
    """in double precision, on the CPU; None stays"""
    return None if tensor is None else tensor.detach().to("cpu", torch.float64).numpy()


def like(values, tensor):
    """values as a tensor with the type and device of another one"""
    return torch.from_numpy(np.array(values)).to(tensor.device, tensor.dtype)


class Solve(torch.autograd.Function):
    """y0 and p to states."""

    @staticmethod
    def forward(ctx, problem, times, y0, p):
        ctx.run, ctx.times = run_over(problem, times, array(y0), array(p)), times
        ctx.save_for_backward(y0, p)
        return like(ctx.run.at.T, y0)

    @staticmethod
    def backward(ctx, w):
        return None, None, *Pullback.apply(ctx.run, ctx.times, *ctx.saved_tensors, w)

    @staticmethod
    def jvp(ctx, _problem, _times, dy0, dp):
        return like(ctx.run.tangent(array(dy0), array(dp), at=ctx.times), dp if dy0 is None else dy0)


class Pullback(torch.autograd.Function):
    """The adjoint: y0, p and the gradient w with respect to the states, to the gradients with respect to y0 and p.

    This is J(y0, p)^T w.  Along (u, v), which arrive from above, its derivative with respect to w is J (u, v), a
    tangent; that with respect to y0 and p is the Hessian of w^T y times (u, v)."""

    @staticmethod
    def forward(ctx, run, times, y0, p, w):
        ctx.run, ctx.times = run, times
        ctx.save_for_backward(y0, p, w)
        by_y0, by_p = run.adjoint(at=times, w_at=array(w))[:2]
        return like(by_y0, y0), like(by_p, p)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, u, v):
        y0, p, w = ctx.saved_tensors
        u, v = array(u), array(v)
        by_w = like(ctx.run.tangent(u, v, at=ctx.times), w) if ctx.needs_input_grad[4] else None
        by_y0, by_p = None, None
        if any(ctx.needs_input_grad[2:4]):
            by_y0, by_p = curvature(ctx.run, ctx.times, array(w), u, v)
            by_y0, by_p = like(by_y0, y0), like(by_p, p)
        return None, None, by_y0, by_p, by_w


# ---- batches --------------------------------------------------------------------------------------------------------

class SolveMany(torch.autograd.Function):
    """y0 (B, n) and p (B, np) to states (B, k, n), by an ensemble."""

    @staticmethod
    def forward(ctx, problem, times, y0, p):
        ctx.problem, ctx.times = problem, times
        ctx.save_for_backward(y0, p)
        ctx.save_for_forward(y0, p)
        return like(many(problem, times, y0, p).at.transpose(0, 2, 1), y0)

    @staticmethod
    def backward(ctx, w):
        return None, None, *PullbackMany.apply(ctx.problem, ctx.times, *ctx.saved_tensors, w)

    @staticmethod
    def jvp(ctx, _problem, _times, dy0, dp):
        y0, p = ctx.saved_tensors
        return tangents(ctx.problem, ctx.times, y0, p, dy0, dp)


class PullbackMany(torch.autograd.Function):
    """Pullback, for all members."""

    @staticmethod
    def forward(ctx, problem, times, y0, p, w):
        ctx.problem, ctx.times = problem, times
        ctx.save_for_backward(y0, p, w)
        found = many(problem, times, y0, p, w_at=array(w))
        return like(found.y0, y0), like(found.p, p)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, u, v):
        y0, p, w = ctx.saved_tensors
        by_w = tangents(ctx.problem, ctx.times, y0, p, u, v) if ctx.needs_input_grad[4] else None
        by_y0, by_p = None, None
        if any(ctx.needs_input_grad[2:4]):
            found = many(ctx.problem, ctx.times, y0, p, w_at=array(w), vy0=array(u), vp=array(v))
            by_y0, by_p = like(found.Hy0, y0), like(found.Hp, p)
        return None, None, by_y0, by_p, by_w


def many(problem, times, y0, p, **more):
    """the ensemble of a batch"""
    return ensemble_over(problem, times, array(y0), array(p), **more)


def tangents(problem, times, y0, p, dy0, dp):
    found = many(problem, times, y0, p, dy0=array(dy0), dp=array(dp))
    return like(found.dy_at.transpose(0, 2, 1), y0)
