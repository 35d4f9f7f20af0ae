"""Events and stops of an equation file: when they occur, and what events assign."""
from .model import CROSSES, FALLS, RISES, START_FIRE, START_IGNORE, ZERO_FALSE, ZERO_TRUE, Event
from .syntax import Fault, near

AT_START = {"fires": START_FIRE, "ignored": START_IGNORE}
# the guard of a condition a OP b is a - b
CONDITIONS = {">": (RISES, ZERO_FALSE), ">=": (RISES, ZERO_TRUE), "<": (FALLS, ZERO_FALSE), "<=": (FALLS, ZERO_TRUE)}


class Occurrences:
    """Part of a Reader."""

    def read_event(self, place):
        name, at = self.tokens.take("name", "the name of an event")[1:]
        if any(e.name == name for e in self.model.events):
            raise Fault(at, f"event {name} is declared twice")
        self.event = Event(name, at)
        self.model.events.append(self.event)
        self.events_read.add(name)
        if self.tokens.word("at"):
            self.timed.append((self.event, self.times()))
        elif self.tokens.word("when"):
            self.guards.append((self.event, self.guard()))
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
            elif word[1] in AT_START and self.tokens.word("at") and self.tokens.word("start"):
                if self.event.at_start in (ZERO_FALSE, ZERO_TRUE):
                    raise Fault(word[2], "an event with a comparison occurs where that becomes true: "
                                f"'{word[1]} at start' is for rises, falls and crosses")
                self.event.at_start = AT_START[word[1]]
                if self.timed and self.timed[-1][0] is self.event:
                    raise Fault(word[2], "an event at given times is applied where one of them is the start; "
                                f"'{word[1]} at start' is for events with 'when'")
            else:
                raise Fault(word[2], "expected 'in MODE', 'terminal', 'passes', 'fires at start' or "
                            f"'ignored at start', found '{word[1]}'")

    def read_stop(self, place):
        if not self.tokens.word("at"):
            raise Fault(self.tokens.place, f"expected 'at' and times, found {self.tokens.found()}")
        self.timed.append((None, self.times()))

    def mode_number(self, token):
        if token[1] not in self.model.modes:
            raise Fault(token[2], f"{token[1]} is not a mode" + near(token[1], self.model.modes))
        return self.model.modes.index(token[1])

    def guard(self):
        """An expression that rises, falls or crosses zero; or a comparison, which becomes true, of which the jump may
        leave it true"""
        guard, op = self.tokens.expression(), self.tokens.peek()
        words = {"rises": RISES, "falls": FALLS, "crosses": CROSSES}
        if op[1] in words:
            self.event.direction = words[self.tokens.next()[1]]
            return guard
        if op[0] not in CONDITIONS:
            raise Fault(op[2], "expected rises, falls, crosses or a comparison (< <= > >=), found " +
                        self.tokens.found())
        self.tokens.next()
        self.event.direction, self.event.at_start = CONDITIONS[op[0]]
        self.event.passes = True
        other, more = self.tokens.expression(), self.tokens.peek()
        if more[1] in ("and", "or"):
            raise Fault(more[2], f"an event has one comparison: instead of '{more[1]}', compare "
                        f"{'min' if more[1] == 'and' else 'max'}(..., ...) with 0, of differences that become positive")
        return ("binary", op[2], "-", guard, other)

    def times(self):
        """T, T every STEP until LAST, ...: a list of (T, STEP, LAST), of which the last two may be None"""
        def one():
            first = self.tokens.expression()
            if not self.tokens.word("every"):
                return first, None, None
            step = self.tokens.expression()
            if not self.tokens.word("until"):
                raise Fault(self.tokens.place, f"expected 'until' and the last time, found {self.tokens.found()}")
            return first, step, self.tokens.expression()
        return self.tokens.commas(one)

    def assignment(self):
        token = self.tokens.take("name", "a state, memory variable, running cost or mode")
        if self.event is None:
            raise Fault(token[2], "an assignment belongs to an event: it stands below the line of the event")
        indices = self.tokens.indices() if self.tokens.peek()[0] == "[" else None
        op = self.tokens.next()
        if op[0] not in (":=", "+="):
            raise Fault(op[2], f"expected := or +=, found '{op[1]}'")
        self.assignments.append((self.event, token, indices, op[0], self.tokens.expression()))
