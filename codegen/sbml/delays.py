"""Events with a delay: what waits between the time of a trigger and that of the execution.

Each event has SLOTS places for executions that wait, in memory variables: waits (1 or 0), due (the time of the
execution) and the values at the time of the trigger, if the event uses those.  An event of its own executes what is
due.  If all places are taken, the time becomes NaN, which ends the run with an error instead of forgetting an
execution."""
from dataclasses import replace

from . import terms
from .terms import ONE, TRUE, ZERO, number

SLOTS = 4                                    # executions of one event that may wait at a time


def waits(event, k):
    return f"{event.id} waits {k}"           # no identifier of SBML holds a blank


def due(event, k):
    return f"{event.id} due {k}"


def held(event, k, id_):
    return f"{event.id} {k} {id_}"


def memory(event):
    """The names of all memory variables of an event with a delay"""
    return [name for k in slots(event) for name in
            (waits(event, k), due(event, k), *(held(event, k, id_) for id_ in event.assignments if event.at_trigger))]


def slots(event):
    """The numbers of the places: one suffices where a trigger compares the time, as it becomes true once"""
    kind, *parts = event.trigger
    once = kind in terms.COMPARISONS and ("time",) in parts and not any(terms.has(part, ("name", "rate", "time"))
                                                                         for part in parts if part != ("time",))
    return range(1, (1 if once else SLOTS) + 1)


def is_waiting(event, k):
    return ("!=", ("name", waits(event, k)), ZERO)


def guard(event, k):
    """Rises through zero where the execution in place k is due"""
    return ("if", is_waiting(event, k), ("-", ("time",), ("name", due(event, k))), number(-1))


def execution(event, k):
    """The event that executes what waits in place k"""
    new = {id_: ("name", held(event, k, id_)) if event.at_trigger else term for id_, term in event.assignments.items()}
    return replace(event, assignments={**new, waits(event, k): ZERO}, at_trigger=False, persistent=True, delay=None)


def scheduled(event, condition, delay, assigned, value):
    """{memory variable: term} behind a trigger: the first free place is taken.

    delay: its term; assigned: {identifier: term} at the time of the trigger; value(name): present values"""
    out, taken = {}, condition
    for k in slots(event):
        busy = ("!=", value(waits(event, k)), ZERO)
        here = ("and", taken, terms.negated(busy)) if taken != TRUE else terms.negated(busy)
        new = {waits(event, k): ONE, due(event, k): ("+", ("time",), delay)}
        if event.at_trigger:
            new.update((held(event, k, id_), term) for id_, term in assigned.items())
        out.update((name, ("if", here, term, value(name))) for name, term in new.items())
        taken = ("and", taken, busy) if taken != TRUE else busy
    last = due(event, slots(event)[-1])
    out[last] = ("if", taken, ("sqrt", ("-", number(-1), ("^", value(waits(event, 1)), number(2)))), out[last])
    return out


def forgotten(event, holds, value):
    """{memory variable: term} where the trigger of an event that is not persistent may have become false"""
    return {waits(event, k): ("if", holds, value(waits(event, k)), ZERO) for k in slots(event)}
