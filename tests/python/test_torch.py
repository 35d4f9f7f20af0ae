"""costate.torch: gradients and gradients of gradients, against PyTorch's own checks and against formulas."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import Skipped, run_all

import numpy as np

try:
    import torch
except ImportError:
    torch = None

import costate

Y0, P = [1.0, 1.2], [1.5, 1.0, 3.0, 1.1]
TIMES = np.array([0.0, 0.4, 1.0, 1.7, 2.0])


def prey(t, y, p):
    return np.array([y[0] * (p[0] - p[1] * y[1]), y[1] * (p[3] * y[0] - p[2])])


def prey_jac(t, y, p):
    return np.array([[p[0] - p[1] * y[1], -p[1] * y[0]], [p[3] * y[1], p[3] * y[0] - p[2]]])


def prey_jac_p(t, y, p):
    zero = 0 * y[0]
    return np.array([[y[0], -y[0] * y[1], zero, zero], [zero, zero, -y[1], y[0] * y[1]]])


def tight(**more):
    given = dict(jac=prey_jac, jac_p=prey_jac_p, jac_t=np.zeros(2), rtol=1e-12, atol=1e-12, max_steps=10**5)
    return costate.Problem(prey, **{**given, **more})


def solver():
    """costate.torch.odesolve"""
    if torch is None:
        raise Skipped("no torch")
    import costate.torch
    return costate.torch.odesolve


def leaf(values, dtype=None):
    return torch.tensor(values, dtype=dtype or torch.float64, requires_grad=True)


def fixed(values):
    return torch.tensor(values, dtype=torch.float64)


def raises(kind, call, *words):
    try:
        call()
    except kind as error:
        assert all(word in str(error) for word in words), str(error)
        return
    raise AssertionError(f"no {kind.__name__}")


def test_states_are_those_of_the_run():
    odesolve, problem = solver(), tight()
    states = odesolve(problem, leaf(Y0), leaf(P), TIMES)
    run = problem.integrate((0.0, 2.0), Y0, P, t_eval=TIMES)
    assert states.shape == (5, 2) and np.array_equal(states.detach().numpy(), run.at.T)
    assert np.array_equal(states[0].detach().numpy(), Y0)


def test_gradcheck():
    odesolve = solver()
    for method in ("dopri853", "radau2a5", "rodas5p"):
        problem = tight(method=method, differences=method == "rodas5p")
        assert torch.autograd.gradcheck(lambda y0, p: odesolve(problem, y0, p, TIMES), (leaf(Y0), leaf(P)),
                                        eps=1e-5, atol=1e-6, rtol=1e-6), method


def test_gradgradcheck():
    odesolve = solver()
    for method in ("dopri853", "radau2a5"):
        problem = tight(method=method)
        assert torch.autograd.gradgradcheck(lambda y0, p: odesolve(problem, y0, p, TIMES), (leaf(Y0), leaf(P)),
                                            eps=1e-5, atol=1e-5, rtol=1e-6), method


def test_backward_in_time():
    odesolve, problem = solver(), tight(method="dopri853")
    run = lambda y0, p: odesolve(problem, y0, p, torch.tensor([2.0, 1.0, 0.5]))
    assert torch.autograd.gradcheck(run, (leaf(Y0), leaf(P)), eps=1e-5, atol=1e-6, rtol=1e-6)
    assert torch.autograd.gradgradcheck(run, (leaf(Y0), leaf(P)), eps=1e-5, atol=1e-4, rtol=1e-5)


def test_against_formulas():
    """y = y0 exp(-p t): all second derivatives are known"""
    odesolve = solver()
    decay = costate.Problem(lambda t, y, p: -p * y, jac=lambda t, y, p: -np.diag(p) + 0 * y,
                            jac_p=lambda t, y, p: -np.diag(y), jac_t=np.zeros(1), method="dopri5",
                              rtol=1e-12, atol=1e-12)
    y0, p, t = leaf([2.0]), leaf([0.7]), 1.5
    end = odesolve(decay, y0, p, [0.0, t])[-1, 0]
    first = torch.autograd.grad(end**2, (y0, p), create_graph=True)
    exact = (2.0 * np.exp(-0.7 * t))**2
    assert abs(first[0].item() - 2 * exact / 2.0) < 1e-9 and abs(first[1].item() + 2 * t * exact) < 1e-9
    second = torch.autograd.grad(first[1].sum(), (y0, p))
    assert abs(second[0].item() + 4 * t * exact / 2.0) < 1e-9, second
    assert abs(second[1].item() - 4 * t**2 * exact) < 1e-9, second


def test_hessian_is_symmetric():
    odesolve, problem = solver(), tight(rtol=1e-4, atol=1e-4)
    H = torch.autograd.functional.hessian(lambda p: odesolve(problem, fixed(Y0), p, TIMES).pow(2).sum(),
                                          fixed(P))
    assert torch.linalg.norm(H - H.T) < 1e-10 * torch.linalg.norm(H), H - H.T


def test_forward_mode():
    odesolve, problem = solver(), tight()
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        p = forward.make_dual(fixed(P), fixed([1.0, 0, 0, 0]))
        moved = forward.unpack_dual(odesolve(problem, fixed(Y0), p, TIMES)).tangent
    run = problem.integrate((0.0, 2.0), Y0, P)
    assert np.allclose(moved.numpy(), run.tangent(dp=[1.0, 0, 0, 0], at=TIMES), rtol=1e-12, atol=1e-14)


def test_batches():
    odesolve, problem = solver(), tight()
    many, p = leaf([Y0, [0.8, 1.0], [1.5, 0.6]]), leaf(P)
    states = odesolve(problem, many, p, TIMES)
    assert states.shape == (3, 5, 2)
    states.pow(2).sum().backward()
    total = torch.zeros(4, dtype=torch.float64)
    for k in range(3):
        y0, q = leaf(many[k].tolist()), leaf(P)
        odesolve(problem, y0, q, TIMES).pow(2).sum().backward()
        assert torch.equal(y0.grad, many.grad[k])
        total += q.grad
    assert torch.allclose(total, p.grad, rtol=1e-14)
    both = odesolve(problem, many, torch.stack([p, p, p]), TIMES)
    assert torch.equal(both, states)
    assert torch.equal(odesolve(problem, leaf(Y0), torch.stack([p, p]), TIMES)[1], states[0])
    raises(ValueError, lambda: odesolve(problem, many, torch.stack([p, p]), TIMES), "3 members")


MODEL = """model prey
parameter a = 1.5, b = 1, c = 3, d = 1.1
state x = 1, y = 1.2
x' = x*(a - b*y)
y' = y*(d*x - c)
"""


def compiled(**more):
    """the same equations as tight(), which run in threads"""
    return costate.Problem(costate.Model(MODEL, compiled=False), **{**dict(rtol=1e-12, atol=1e-12), **more})


def test_batches_by_ensembles():
    odesolve, problem = solver(), compiled(method="dopri853")
    many, p = leaf([Y0, [0.8, 1.0], [1.5, 0.6]]), leaf(P)
    states = odesolve(problem, many, p, TIMES)
    assert states.shape == (3, 5, 2) and "SolveMany" in type(states.grad_fn).__name__
    w = torch.cos(torch.arange(30.0, dtype=torch.float64)).reshape(3, 5, 2)
    by_y0, by_p = torch.autograd.grad((w * states).sum(), (many, p), create_graph=True)
    second = torch.autograd.grad(by_p[0] + by_y0[1, 0], (many, p))
    total, curved = torch.zeros(4, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
    for k in range(3):
        y0, q = leaf(many[k].tolist()), leaf(P)
        one = odesolve(problem, y0, q, TIMES)
        assert torch.allclose(one, states[k], rtol=1e-14)
        of_y0, of_p = torch.autograd.grad((w[k] * one).sum(), (y0, q), create_graph=True)
        assert torch.allclose(of_y0, by_y0[k], rtol=1e-12)
        also = torch.autograd.grad(of_p[0] + (of_y0[0] if k == 1 else 0.0), (y0, q))
        assert torch.allclose(also[0], second[0][k], rtol=1e-11)
        total, curved = total + of_p, curved + also[1]
    assert torch.allclose(total, by_p, rtol=1e-12) and torch.allclose(curved, second[1], rtol=1e-11)


def test_checks_of_batches():
    odesolve, problem = solver(), compiled(method="dopri853")
    many, each = leaf([Y0, [0.8, 1.0]]), leaf([P, [1.4, 1.1, 2.8, 1.0]])
    run = lambda y0, p: odesolve(problem, y0, p, TIMES[:3])
    assert torch.autograd.gradcheck(run, (many, each), eps=1e-5, atol=1e-6, rtol=1e-6)
    assert torch.autograd.gradgradcheck(run, (many, each), eps=1e-5, atol=1e-5, rtol=1e-5)
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        moved = forward.unpack_dual(run(many.detach(), forward.make_dual(each.detach(), torch.ones(2, 4)))).tangent
    one = problem.integrate((0.0, 1.0), Y0, P)
    assert np.allclose(moved[0].numpy(), one.tangent(dp=np.ones(4), at=TIMES[:3]), rtol=1e-12, atol=1e-14)


def test_batches_that_fail():
    odesolve = solver()
    explosive = costate.Problem(costate.Model("model e\nstate y = 1\ny' = y*y\n", compiled=False), method="dopri5")
    raises(costate.CostateError, lambda: odesolve(explosive, fixed([[0.1], [2.0]]), None, [0.0, 1.0]), "member 1")
    ends = costate.Model("model e\nstate y = 1\ny' = 1\nevent top when y - 1.5 rises terminal\n", compiled=False)
    early = costate.Problem(ends, method="dopri5")
    raises(RuntimeError, lambda: odesolve(early, fixed([[0.1], [1.0]]), None, [0.0, 1.0]), "member 1")


def test_single_precision():
    odesolve, problem = solver(), tight()
    y0, p = leaf(Y0, torch.float32), leaf(P, torch.float32)
    states = odesolve(problem, y0, p, torch.tensor(TIMES))
    states.sum().backward()
    assert states.dtype == y0.grad.dtype == p.grad.dtype == torch.float32
    run = problem.integrate((0.0, 2.0), y0.detach().numpy(), p.detach().numpy(), t_eval=TIMES)
    assert np.array_equal(states.detach().numpy(), run.at.T.astype(np.float32))


def test_missing_second_derivatives_are_named_late():
    """a first gradient does not need them"""
    odesolve = solver()
    problem = costate.Problem(prey)
    y0, p = leaf(Y0), leaf(P)
    value = odesolve(problem, y0, p, TIMES).sum()
    first, = torch.autograd.grad(value, p, create_graph=True)
    assert torch.isfinite(first).all()
    raises(RuntimeError, lambda: torch.autograd.grad(first.sum(), p), "second derivatives", "hvp", "differences=1")
    inexact = costate.Problem(prey, differences=1, rtol=1e-10, atol=1e-10)
    exact = tight(rtol=1e-10, atol=1e-10)
    second = [torch.autograd.grad(torch.autograd.grad(odesolve(one, y0, p, TIMES).sum(), p, create_graph=True)[0].sum(),
                                  p)[0] for one in (inexact, exact)]
    assert torch.allclose(*second, rtol=1e-5), second


def test_without_parameters():
    odesolve = solver()
    problem = costate.Problem(lambda t, y, p: -y, rtol=1e-12, atol=1e-12)
    y0 = leaf([1.0, 2.0])
    odesolve(problem, y0, None, [0.0, 1.0])[-1].sum().backward()
    assert np.allclose(y0.grad.numpy(), np.exp(-1.0), rtol=1e-10)


def test_hidden_memory_needs_no_values():
    """doses at times that depend on p, and floor(t): y(t) = y0 exp(-k t) + 3 exp(-k (t - T)) + 3 exp(-k (t - T - D))"""
    odesolve = solver()
    model = costate.Model("model doses\nparameter T = 0.5, D = 0.75, k = 0.5\nstate y = 1\ny' = -k*y + 0*floor(t)\n"
                          "event e at T every D until 1.5\n    y += 3\n")
    y0, p = leaf([2.0]), leaf([0.5, 0.75, 0.5])
    odesolve(costate.Problem(model, method="dopri853", rtol=1e-12, atol=1e-12), y0, p, [0.0, 1.0, 2.0])[2, 0].backward()
    first, second = np.exp(-0.5 * 1.5), np.exp(-0.5 * 0.75)
    by_p = [1.5 * (first + second), 1.5 * second, -4 * np.exp(-1.0) - 4.5 * first - 2.25 * second]
    assert np.allclose(y0.grad, np.exp(-1.0)) and np.allclose(p.grad, by_p, rtol=1e-10), (y0.grad, p.grad, by_p)
    with_memory = costate.Problem(costate.Model("memory m = 1\nstate y = 1\ny' = -m*y\nevent e at 1\n    m := 2\n"))
    raises(ValueError, lambda: odesolve(with_memory, leaf([1.0]), None, [0.0, 2.0]), "memory variables")


def test_wrong_arguments():
    odesolve, problem = solver(), tight()
    for times in ([0.0], [0.0, 1.0, 1.0], [0.0, 2.0, 1.0], [[0.0, 1.0]], [0.0, np.nan]):
        raises(ValueError, lambda: odesolve(problem, leaf(Y0), leaf(P), times), "strictly")
    raises(ValueError, lambda: odesolve(problem, leaf(Y0), leaf(P), leaf([0.0, 1.0])), "t requires")
    raises(ValueError, lambda: odesolve(problem, leaf([[Y0]]), leaf(P), TIMES), "shapes")
    stops = costate.Problem(prey, events=[costate.Event(lambda t, y, p: np.array([t - 1.0]), terminal=True)])
    raises(RuntimeError, lambda: odesolve(stops, leaf(Y0), leaf(P), TIMES), "before the last")


def test_trains():
    """Adam comes near the parameters that the states belong to"""
    odesolve, problem = solver(), tight(rtol=1e-6, atol=1e-6)
    seen = odesolve(problem, fixed(Y0), fixed(P), TIMES)
    p, losses = leaf([1.3, 1.0, 3.0, 1.1]), []
    adam = torch.optim.Adam([p], lr=0.05)
    for _ in range(100):
        adam.zero_grad()
        loss = (odesolve(problem, fixed(Y0), p, TIMES) - seen).pow(2).sum()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert losses[-1] < 0.02 * losses[0], (losses[0], losses[-1])


run_all(globals())
