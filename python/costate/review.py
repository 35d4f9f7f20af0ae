"""Reviews of a model: all checks of the library in one call."""
from costate import _library as library
from costate._costate import ffi, lib
from costate._derivatives import Lacking, Mistrusted
from costate._library import CostateError, pointer
from costate.maps import raise_what_was_raised

SEVERITIES = {lib.COSTATE_RIGHT: "right", lib.COSTATE_REMARK: "remark", lib.COSTATE_WRONG: "wrong"}


class Finding:
    """One finding of a Review.

    severity    "right", "remark" or "wrong"; topic: "run", "callbacks", "transposes", "remainders", "Hessian",
                "accuracy", "events", "stiffness" or "tolerances"
    text        sentences: what was found, and what to do
    component   the unknown that it is about, or the number of the event; None: no one in particular
    t, number   the time that it is about; the number that decided; None: none"""

    def __init__(self, severity, topic, text, component=None, t=None, number=None):
        self.severity, self.topic, self.text = severity, topic, text
        self.component, self.t, self.number = component, t, number

    @classmethod
    def made(cls, found):
        """a costate_finding"""
        t, number = (None if x != x else x for x in (found.t, found.number))
        return cls(SEVERITIES[found.severity], library.text(found.topic), library.said(found.text),
                   None if found.component < 0 else found.component, t, number)

    def __repr__(self):
        return f"{self.severity}, {self.topic}: {self.text}"


class Review:
    """What Problem.check returns; printed, it is the whole review.

    ok          nothing is wrong, though there may be remarks
    findings    a list of Finding: those that are wrong first, then remarks, then what is right
    status      "COSTATE_OK", "COSTATE_CHECK_FAILED", or the status of a run that failed"""

    def __init__(self, status, text, findings):
        self.ok, self.status, self.findings, self._text = status == lib.COSTATE_OK, library.status_name(status), \
            findings, text

    def add(self, finding):
        self.findings.append(finding)
        self._text += f"{finding!r}\n"

    def __str__(self):
        return self._text

    __repr__ = __str__


def reviewed(problem, t_span, y0, p):
    """the Review of a Problem; again with differences where complex steps of its functions are wrong, and without
    second derivatives that it does not have"""
    lacking = {}
    try:
        while True:
            try:
                return without(lacking, reviewed_once(problem, *map(float, t_span), y0, p))
            except Mistrusted:
                pass
            except Lacking as error:
                lacking[error.name] = str(error)
                problem.trust.unasked.add(error.name)
            problem.rebuild()
    finally:
        if lacking:
            problem.trust.unasked.difference_update(lacking)
            problem.rebuild()


def without(lacking, review):
    """the Review, with a remark for each function whose second derivatives it did not check"""
    for name, why in lacking.items():
        review.add(Finding("remark", "callbacks", f"Second derivatives of {name} were not checked: {why}."))
    return review


def looked_over(problem, t_span, y0, p):
    """complex steps along a run, before derivatives are checked; a run that fails is the review's to report"""
    try:
        problem.integrate(t_span, y0, p)._look_over()
    except CostateError:
        pass


def reviewed_once(problem, t0, t1, y0, p):
    looked_over(problem, (t0, t1), y0, p)
    b, y, p = problem.built(t0, y0, p)
    review = ffi.gc(lib.costate_review_new(), lib.costate_review_free)
    with b.lock:
        b.scales.between(t0, t1)
        status = lib.costate_check_run(b.solver, t0, t1, pointer(y), pointer(p) if b.np else ffi.NULL, review)
        raise_what_was_raised(b.owners())
        count = lib.costate_review_count(review)
        if status == lib.COSTATE_NO_MEMORY or not count:
            b.check(status)
    found, findings = ffi.new("costate_finding *"), []
    for k in range(count):
        lib.costate_review_get(review, k, found)
        findings.append(Finding.made(found))
    return Review(status, library.said(lib.costate_review_text(review)), findings)
