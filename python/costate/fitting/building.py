"""The experiments of a fit, from what the user gives: names, quantities that are measured, numbers and unknowns."""
import copy
import math

import numpy as np

from costate.fitting.conditions import Experiment, Names
from costate.fitting.observed import OfFunctions, OfModel, variant
from costate.fitting.unknowns import Unknown, Unknowns, on_scale
from costate.models import Model
from costate.problem import Problem


def problem_of(given, conditions):
    """a Problem; a Model is solved with rtol = 1e-8 and atol = 1e-10, or less where measured values are smaller than 1:
    they may be amounts in mol"""
    if isinstance(given, Problem):
        return given
    if isinstance(given, Model):
        return Problem(given, rtol=1e-8, atol=1e-10 * smallest_column(conditions))
    raise TypeError(f"problem is {given!r}; expected a costate.Problem or a costate.Model")


def smallest_column(conditions):
    """1, or less: of the largest absolute values of all columns the smallest one that is not 0"""
    sizes = [np.nanmax(np.abs(column)) for c in conditions.values() for d in c.data for column in d.values.T
             if np.any(np.isfinite(column))]
    return min([1.0, *(size for size in sizes if size > 0)])


def unknowns_of(guess, names):
    """(Unknowns, x of the guess) of a dictionary, or of an array: all parameters"""
    if not isinstance(guess, dict):
        array = np.atleast_1d(np.asarray(guess, dtype=float))
        if array.shape != (len(names),):
            raise ValueError(f"guess has shape {array.shape}; expected ({len(names)},): one number for each parameter "
                             f"({', '.join(names)}), or a dictionary")
        guess = dict(zip(names, array))
    if not guess:
        raise ValueError("guess names no unknowns")
    for name, one in guess.items():
        if not isinstance(one, (Unknown, int, float, np.number)):
            raise TypeError(f"the guess of {name} is {one!r}; expected a number or an Unknown")
    given = {name: one if isinstance(one, Unknown) else Unknown(one) for name, one in guess.items()}
    for name, one in given.items():
        if not one.low <= one.guess <= one.high:
            raise ValueError(f"the guess of {name}, {one.guess:g}, is outside its bounds {one.low:g} and {one.high:g}")
        if not math.isfinite(on_scale(one.scale, one.guess)):
            raise ValueError(f"the guess of {name}, {one.guess:g}, is no finite number on the scale {one.scale!r}")
    of = list(given.values())
    unknowns = Unknowns(given, [one.scale for one in of], [on_scale(one.scale, one.low, True) for one in of],
                        [on_scale(one.scale, one.high, True) for one in of], [one.prior for one in of])
    return unknowns, np.array([on_scale(one.scale, one.guess) for one in of])


# ---- names ----------------------------------------------------------------------------------------------------------

def is_model(problem):
    """are its equations text?  Compiled functions of from_cfunc have no names"""
    return isinstance(problem.model, Model)


def names_of(problem, states, parameters, y0, p, guess, conditions):
    """Names of a Model, or those given for functions; else y[i] and p[i]"""
    if is_model(problem):
        return Names(problem.model.states, problem.model.parameters)
    first = next(iter(conditions.values()))
    start, given = (one if one is not None else other for one, other in ((y0, first.y0), (p, first.p)))
    if start is None:
        raise ValueError("y0 is None: functions have no initial values of their own; give y0")
    if np.ndim(start) == 0 and not isinstance(start, dict):
        raise ValueError(f"y0 is {start!r}; expected a list of numbers, one for each state")
    if parameters is None and given is not None and not isinstance(given, dict):
        count = np.size(given)
    elif parameters is None and isinstance(guess, dict):
        words = [word for one in (guess, given or {}) for word in one if word[:2] == "p[" and word[2:-1].isdigit()]
        count = 1 + max((int(word[2:-1]) for word in words), default=-1)
    else:
        count = np.size(guess)
    found = Names(states or [f"y[{i}]" for i in range(len(start))], parameters or [f"p[{i}]" for i in range(count)])
    if states is None:
        found.initial = [f"y0[{i}]" for i in range(len(start))]
    elif len(states) != len(start):
        raise ValueError(f"states has {len(states)} names, but y0 {len(start)} numbers")
    found.all = [*found.initial, *found.parameters]
    return found


def with_quantities(conditions, problem, names):
    """the same conditions, whose data all say what was measured"""
    out = {}
    for name, condition in conditions.items():
        out[name] = condition = copy.copy(condition)
        condition.data = [copy.copy(d) for d in condition.data]
        own = problem if condition.problem is None else problem_of(condition.problem, conditions)
        for d in condition.data:
            model = own.model if is_model(own) else None
            usual = range(len(names.states)) if model is None else model.outputs or model.states
            if d.of is None and len(usual) != d.columns:
                raise ValueError(f"condition {name!r}: values has {d.columns} columns, but there are {len(usual)} "
                                 "quantities: say with `of` what was measured")
            d.of = list(usual) if d.of is None else d.of
            if model is not None:
                d.of = [model.states[of] if of in range(model.n) else of for of in d.of]
                for of in (*d.of, *(s for s in d.sigma if s is not None and not isinstance(s, np.ndarray))):
                    if not isinstance(of, str):
                        raise ValueError(f"{of!r} is not measured: of a Model give names or expressions")
    return out


# ---- experiments ----------------------------------------------------------------------------------------------------

def experiments_of(conditions, problem, names, unknowns, y0, p, t0):
    """[Experiment, ...]"""
    out, observed, wanted = [], {}, {}
    for c in conditions.values():
        wanted.setdefault(id(c.problem or problem), []).extend(
            of for d in c.data for of in [*d.of, *d.sigma] if of is not None and not isinstance(of, np.ndarray))
    for name, condition in conditions.items():
        own = problem if condition.problem is None else problem_of(condition.problem, conditions)
        key = id(condition.problem or problem)
        if key not in observed:
            observed[key] = of_model(own, wanted[key], unknowns) if is_model(own) else \
                (own, OfFunctions(own, wanted[key], names.states, names.parameters), names)
        solved, of, called = observed[key]
        begin = float(t0) if condition.t0 is None else condition.t0
        base, slots = base_of(f"condition {name!r}", solved, called, unknowns, condition, y0, p, begin)
        out.append(Experiment(name, solved, of, called, unknowns, condition.data, base, slots, begin))
    return out


def of_model(problem, wanted, unknowns):
    of = OfModel(problem.model, wanted, unknowns.place)
    return variant(problem, of.model), of, Names(of.model.states, of.model.parameters)


def base_of(label, problem, names, unknowns, condition, y0, p, t0):
    """((y0 or None, p) of numbers, {slot: number or name of an unknown}).  What a condition names replaces unknowns;
    arrays, and what holds for all conditions, do not"""
    model = problem.model if is_model(problem) else None
    numbers = dict(zip(names.parameters, np.full(len(names.parameters), np.nan) if model is None else model.defaults))
    slots = {}
    for given in (p, condition.p):
        count = len(names.parameters) if isinstance(given, dict) or given is None or model is None else np.size(given)
        found = names.of(given, names.parameters[:count], "p", label)
        fixed = given is condition.p and isinstance(given, dict)
        numbers.update({word: value for word, value in found.items() if not isinstance(value, str)})
        slots.update({word: value for word, value in found.items() if fixed or isinstance(value, str)})
    start = condition.y0 if condition.y0 is not None else y0
    vector = np.array(list(numbers.values()), dtype=float)
    if start is None and not any(word in unknowns.place for word in names.initial):
        return (None, vector), slots
    fixed = start is condition.y0 and isinstance(start, dict)
    found = {names.initial[names.states.index(word)]: value
             for word, value in names.of(start, names.states, "y0", label).items()}
    slots.update({word: value for word, value in found.items()
                  if fixed or isinstance(value, str) or word not in unknowns.place})
    begin = np.full(len(names.states), np.nan)
    if model is not None:
        known = np.where(np.isnan(vector), 1.0, vector)
        begin = model.start(t0, known)[:model.n]
        depends = [word for k, word in enumerate(names.initial) if word not in slots and word not in unknowns.place and
                   any(np.any(model.start_jvp(t0, known, d)[k]) for d in np.eye(len(known)))]
        if depends:
            raise ValueError(f"{label}: where y0 is given, it must give all initial values that depend on parameters: "
                             f"{', '.join(depends)}")
    return (np.array(begin, dtype=float), vector), slots


def check_used(experiments, unknowns):
    used = {int(k) for e in experiments for k in e.z.source if k >= 0}
    for k, name in enumerate(unknowns.names):
        if k not in used and name in experiments[0].names.all:
            raise ValueError(f"{name!r} changes nothing: each condition has a number or another unknown in its place "
                             "(in p or y0)")
        if k not in used:
            raise ValueError(f"{name!r} is no unknown of any condition, which have "
                             f"{', '.join(experiments[0].names.all)}; nor is it in an expression of the data, "
                             "or in p or y0 of a condition")
