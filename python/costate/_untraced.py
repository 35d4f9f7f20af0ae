"""Problems whose functions are called because of what they are: residuals, maps after a step with situations."""
from costate.tracing import NotTraced, Use


class NoUse:
    """In place of a Use: nothing is traced, and why."""

    def __init__(self, reason):
        self.traces, self.against, self.message = {}, reason, reason

    def at(self, *of):
        return None


def use_of(problem):
    """a Use of the traces of a problem, or a NoUse"""
    if problem.residual is not None:
        reason = "residuals are not traced"
    elif any(event.slopes or event.transition is not None for event in problem.events):
        reason = "functions of y' are not traced"
    else:
        return Use(problem)
    if problem.asked is True:
        raise NotTraced(f"trace=True, but {reason}")
    return NoUse(reason)
