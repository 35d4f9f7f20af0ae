"""What is measured, as outputs of a problem that a costate_misfit evaluates: of a Model outputs that are added to its
equations, of functions components of y or a traced function."""
import re

import numpy as np

from costate._traced_map import compiled_map
from costate.maps import Map
from costate.models import Model
from costate.problem import Problem

WORD = re.compile(r"[A-Za-z_]\w*(?:\[\d+\])?")


class OfModel:
    """The outputs of a Model, and further ones that the data need.

    model       the Model, with these outputs
    place(of)   the number of the output that is a name or an expression"""

    def __init__(self, model, wanted, unknowns):
        self.outputs, added = {}, []
        words = {word for text in wanted for word in WORD.findall(text)}
        own = {*model.parameters, *model.states}
        lacking = sorted(word for word in words - own - set(model.outputs) if word in unknowns)
        added += [f"parameter {word} = 1" for word in lacking]
        for text in dict.fromkeys(wanted):
            if text in model.outputs:
                self.outputs[text] = model.outputs.index(text)
            else:
                self.outputs[text] = len(model.outputs) + sum(line.startswith("output") for line in added)
                added.append(f"output measured_{self.outputs[text] + 1} = {text}")
        self.model = model if not added else Model(model.text.rstrip() + "\n\n" + "\n".join(added) + "\n",
                                                   file=model.file, sizes=model.sizes or None, compiled=model._wanted)

    def place(self, of):
        return self.outputs[of]

    def of_misfit(self, t, y, p):
        self.check_memory(t, y, p)
        map_, ctx = self.model._output_map()
        return self.model.problem, (len(self.model.outputs), map_[0], ctx)

    def check_memory(self, t, y, p):
        """outputs are NaN without the memory variables that they depend on"""
        if not self.model.nm:
            return
        without, zero = (self.model.output(t, y[:self.model.n], p, m=m) for m in (None, np.zeros(self.model.nm)))
        for of, k in self.outputs.items():
            if np.isnan(without[k]) and not np.isnan(zero[k]):
                raise ValueError(f"{of!r} depends on memory variables ({', '.join(self.model.memory)}), which are not "
                                 "available where values are measured: make them states whose derivative is 0")


class OfFunctions:
    """Components of y, parameters and functions g(t, y, p) of one value; words: names of states and parameters"""

    def __init__(self, problem, wanted, states, parameters):
        self.problem, self.wanted = problem, []
        self.words = {name: ("y", k) for k, name in enumerate(states)} | {name: ("p", k) for k, name in
                                                                         enumerate(parameters)}
        for of in wanted:
            if of not in self.wanted:
                self.wanted.append(of)
        self.resolved = [self.resolve(of, len(states)) for of in self.wanted]

    def resolve(self, of, n):
        """("y", i), ("p", i) or a function"""
        if callable(of):
            return of
        if isinstance(of, str) and of in self.words:
            return self.words[of]
        if isinstance(of, (int, np.integer)) and not isinstance(of, bool) and 0 <= of < n:
            return "y", int(of)
        raise ValueError(f"{of!r} is not measured: expected the number of a state (0 to {n - 1}), a function g(t, y, "
                         f"p), or one of the names {', '.join(self.words)}")

    def place(self, of):
        return self.wanted.index(of)

    def of_misfit(self, t, y, p):
        """(costate_problem, outputs of a Likelihood), for the sizes of y and p"""
        built, _, _ = self.problem.built(t, y, p)
        if all(isinstance(of, tuple) and of[0] == "y" for of in self.resolved):
            return built.P, [i for _, i in self.resolved]
        parts = tuple(self.resolved)

        def outputs(t, y, p):
            return np.array([of(t, y, p) if callable(of) else (y if of[0] == "y" else p)[of[1]] for of in parts])
        compiled = compiled_map(Map(outputs), len(parts), (float(t), y, p))
        if compiled is None:
            raise ValueError("what is measured cannot be traced: write `of` and `sigma` as functions g(t, y, p) of one "
                             "value that compute with NumPy, or use a Model")
        return built.P, (len(parts), compiled.map, compiled.ctx, compiled)


def variant(problem, model):
    """the same problem with another Model"""
    if problem.model is model:
        return problem
    return Problem(model, method=problem.method or "auto", rtol=problem.rtol, atol=problem.atol,
                   stops=problem.stops, after_step=problem.after_step, preconditioner=problem.preconditioner,
                   **problem.options)
