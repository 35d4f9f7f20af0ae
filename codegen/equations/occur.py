"""Events of an equation file: when they occur, and what they assign."""
from .model import CROSSES, FALLS, RISES, Event
from .syntax import Fault, near

MOST_TIMES = 1_000_000                       # of an event


class Occurrences:
    """Part of a Reader."""

    def read_event(self, place):
        name, at = self.tokens.take("name", "the name of an event")[1:]
        if any(e.name == name for e in self.model.events):
            raise Fault(at, f"event {name} is declared twice")
        self.event = Event(name, at)
        self.model.events.append(self.event)
        if self.tokens.word("at"):
            self.event.times = self.times()
        elif self.tokens.word("when"):
            self.guards.append((self.event, self.tokens.expression()))
            self.event.direction = self.direction()
        else:
            raise Fault(self.tokens.place,
                        f"expected 'at' and times or 'when' and a guard, found {self.tokens.found()}")
        while self.tokens.peek()[0] == "name":
            word = self.tokens.next()
            if word[1] == "terminal":
                self.event.terminal = True
            elif word[1] == "passes":
                self.event.passes = True
            elif word[1] == "in":
                mode = self.tokens.take("name", "a mode")
                self.event.active = self.mode_number(mode)
            else:
                raise Fault(word[2], f"expected 'in MODE', 'terminal' or 'passes', found '{word[1]}'")

    def mode_number(self, token):
        if token[1] not in self.model.modes:
            raise Fault(token[2], f"{token[1]} is not a mode" + near(token[1], self.model.modes))
        return self.model.modes.index(token[1])

    def direction(self):
        words = {"rises": RISES, "falls": FALLS, "crosses": CROSSES}
        token = self.tokens.peek()
        if token[1] not in words:
            raise Fault(token[2], f"expected rises, falls or crosses, found {self.tokens.found()}")
        self.tokens.next()
        return words[token[1]]

    def times(self):
        place = self.tokens.place
        number = lambda: self.scope.number(self.tokens.expression(), "the time of an event")     # noqa: E731
        times = self.tokens.commas(number)
        if self.tokens.word("every"):
            step = number()
            if not self.tokens.word("until"):
                raise Fault(self.tokens.place, f"expected 'until' and the last time, found {self.tokens.found()}")
            last = number()
            if len(times) != 1 or not step > 0 or not last >= times[0] or (last - times[0]) / step > MOST_TIMES:
                raise Fault(place, "expected FIRST every STEP until LAST, in increasing order, "
                            f"at most {MOST_TIMES} times")
            times = [times[0] + k * step for k in range(int((last - times[0]) / step + 1e-9) + 1)]
        if any(b < a for a, b in zip(times, times[1:])):
            raise Fault(place, "the times of an event must not decrease")
        return times

    def assignment(self):
        token = self.tokens.take("name", "a state, memory variable, running cost or mode")
        if self.event is None:
            raise Fault(token[2], "an assignment belongs to an event: it stands below the line of the event")
        indices = self.tokens.indices() if self.tokens.peek()[0] == "[" else None
        op = self.tokens.next()
        if op[0] not in (":=", "+="):
            raise Fault(op[2], f"expected := or +=, found '{op[1]}'")
        self.assignments.append((self.event, token, indices, op[0], self.tokens.expression()))
