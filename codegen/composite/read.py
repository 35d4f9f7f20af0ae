"""The coefficient files of family composite: keys, members, and what holds for all of them."""
from dataclasses import dataclass
from pathlib import Path

from .. import derive
from ..document import FLAG, NUMBER, TEXT, TEXTS, check_kinds, check_place, document, naming
from ..families import HEADER
from ..real import Refused, brief
from ..rkc import read as rkc_read
from .facts import Facts, facts, limits

FAMILY = "composite"
TABLES = ((list,), "a list of tables [[member]]")
KEYS = {key: TEXT for key in TEXTS + ("checked",)} | {"raise": NUMBER, "member": TABLES}
MEMBER = {"method": TEXT, "rtol": NUMBER, "rtol_cheap": NUMBER, "second": FLAG, "calibrated": FLAG,
          "splits": FLAG}
MOST_MEMBERS = 8
LONGEST = 60                         # of a name that is looked up
EXPLICIT = ("erk", "rkc")
SECOND = ("ros",)                    # families whose sweeps need second derivatives
SHIPPED = HEADER.parents[2] / "methods"


@dataclass
class Member:
    facts: Facts                     # what is known of the method
    rtol: float
    second: bool
    calibrated: bool
    splits: bool
    rtol_cheap: float = 0            # as rtol, where factorisations are cheap; 0: rtol
    real: float = 0                  # of explicit members: codegen/composite/facts.py
    settles: float = 0
    waves: float = 0

    @property
    def name(self):
        return self.facts.name

    @property
    def stiff(self):
        return self.facts.family not in EXPLICIT

    @property
    def stabilised(self):
        return self.facts.family == "rkc"

    @property
    def power(self):
        """The member's relative tolerance is 0.1 rtol^power if it is calibrated."""
        return (self.facts.s + 1) / (2 * self.facts.s)


@dataclass
class Method:
    path: str
    keys: dict
    members: list

    @property
    def name(self):
        return self.keys["name"]

    @property
    def raises(self):
        """The order of calibrated members is raised where Newton's iteration contracts by less than this; 0: never."""
        return self.keys.get("raise", 0.0)

    @property
    def general(self):
        """Without those that a problem must have a splitting for, of which nothing is promised"""
        return [x for x in self.members if not x.splits]

    @property
    def stiff(self):
        return [x for x in self.general if x.stiff]

    @property
    def properties(self):
        """Those that hold whenever the composite method is used: of stiff problems only the stiff members are asked."""
        common = set.intersection(*(set(x.facts.properties) for x in self.stiff or self.general))
        return common if all("fsal" in x.facts.properties for x in self.members) else common - {"fsal"}

    @property
    def r_infinity(self):
        """The largest |R(infinity)| of the stiff members, None if one is unbounded or there are none."""
        found = [x.facts.r_infinity for x in self.stiff]
        return None if None in found or not found else max(map(abs, found))

    def least(self, key):
        return min(getattr(x.facts, key) for x in self.general)

    def most(self, key):
        return max(getattr(x.facts, key) for x in self.members)


def unread(path):
    """The method of a file whose members are not looked up: it cannot be a member itself."""
    return Method(str(path), {"name": Path(path).stem}, [])


def method(path, find=None):
    """The method of a file; Refused, with the file's name, when anything in it is wrong.  find(name): the derived
    method of this name, None if there is none; without it, members are looked up beside the file."""
    with naming(path):
        keys = document(path).keys
        check_keys(Path(path), keys)
        members = [member(k, x, find or beside(path)) for k, x in enumerate(keys["member"], 1)]
        together(members)
        if "raise" in keys:
            ladder(keys["raise"], members)
        return Method(str(path), keys, members)


def beside(path):
    """A function that finds a method by its name: in the folders beside that of the file, else among those shipped."""
    def find(name):
        for directory in (Path(path).resolve().parent.parent, SHIPPED):
            for file in sorted(directory.glob(f"*/{name}.toml")):
                if file.parent.name == FAMILY:
                    return unread(file)
                return rkc_read.method(file) if rkc_read.is_rkc(file) else derive.method(file)
        return None
    return find


def check_keys(path, keys):
    check_kinds(keys, KEYS, TEXTS + ("member",))
    if keys["family"] != FAMILY:
        raise Refused(f"family: '{brief(keys['family'])}' is not {FAMILY}")
    check_place(path, keys["name"], keys["family"])
    if not 2 <= len(keys["member"]) <= MOST_MEMBERS:
        raise Refused(f"member: {len(keys['member'])} members, must be from 2 to {MOST_MEMBERS}")
    for k, x in enumerate(keys["member"], 1):
        check_member_keys(f"member {k}", x)


def check_member_keys(place, given):
    if type(given) is not dict:
        raise Refused(f"member: must be {TABLES[1]}")
    check_kinds(given, MEMBER, ("method",), f"{place}: ")
    if not 0 <= given.get("rtol", 0) < 1:
        raise Refused(f"{place}: rtol: must be at least 0 and less than 1")
    if "rtol_cheap" in given and not 0 < given["rtol_cheap"] < given.get("rtol", 0):
        raise Refused(f"{place}: rtol_cheap: must be more than 0 and less than rtol")


def member(k, given, find):
    name = given["method"]
    place = f"member {k}: '{brief(name)}'"
    method = find(name) if name.isidentifier() and len(name) <= LONGEST else None
    if method is None:
        raise Refused(f"{place} is the name of no method: there is no file of this name in the folders of methods/")
    if isinstance(method, Method):
        raise Refused(f"{place} is itself a composite method")
    found = facts(method)
    x = Member(found, float(given.get("rtol", 0)), *(given.get(key, False) for key in ("second", "calibrated",
                                                                                          "splits")))
    x.rtol_cheap = float(given.get("rtol_cheap", 0))
    check_member(place, x)
    if not x.stiff:
        x.real, x.settles, x.waves = limits(method)
    return x


def check_member(place, x):
    family = x.facts.family
    if family == "collocation":
        raise Refused(f"{place} is of the family collocation, whose methods take no steps")
    if not x.facts.embedded:
        raise Refused(f"{place} has no error estimate, which every member needs")
    if x.calibrated and family != "firk":
        raise Refused(f"{place}: calibrated: is for the family firk, not for {family}")
    if x.rtol_cheap and not x.stiff:
        raise Refused(f"{place}: rtol_cheap: is for stiff members, whose matrices are factored")
    if x.splits and "w-method" not in x.facts.properties:
        raise Refused(f"{place}: splits: is for W-methods, which take any matrix")
    if x.second and family not in SECOND:
        raise Refused(f"{place}: second: is for the family {', '.join(SECOND)}; sweeps of {family} need no second "
                      "derivatives")


def together(members):
    names, stiff = [x.name for x in members], [x.stiff for x in members]
    for name in names:
        if names.count(name) > 1:
            raise Refused(f"member: '{name}' is listed {names.count(name)} times")
    if stiff != sorted(stiff):
        k = stiff.index(True)
        late = next(x.name for x in members[k:] if not x.stiff)
        raise Refused(f"member: '{late}' is explicit and must stand before '{names[k]}', which is stiff")
    for words, group in (("explicit", [x for x in members if not x.stiff and not x.stabilised]),
                         ("stabilised", [x for x in members if x.stabilised]),
                         ("stiff", [x for x in members if x.stiff and not x.splits])):
        if group:
            tolerances(words, group)


def tolerances(words, group):
    """For every tolerance and every problem one member of the group is the first; none is always behind another."""
    last = group[-1]
    if last.rtol or last.second:
        fault = f"has rtol = {last.rtol:g}" if last.rtol else "has second = true"
        raise Refused(f"member: '{last.name}', the last {words} one, {fault}: no member would remain for "
                      + ("smaller tolerances" if last.rtol else "problems without second derivatives"))
    always = [x for x in group if not x.second]
    for x, y in zip(always, always[1:]):
        if y.rtol >= x.rtol:
            raise Refused(f"member: '{y.name}': no run would begin with it: rtol must be less than {x.rtol:g}, that of "
                          f"'{x.name}' before it")


def ladder(raises, members):
    """The order is raised by going to the next calibrated member, and lowered by going to the one before."""
    if not 0 < raises < 1:
        raise Refused("raise: must be more than 0 and less than 1")
    steps = [x for x in members if x.calibrated]
    if len(steps) < 2:
        raise Refused(f"raise: needs at least two calibrated members, not {len(steps)}")
    for x, y in zip(steps, steps[1:]):
        if y.facts.order <= x.facts.order:
            raise Refused(f"raise: the orders of calibrated members must ascend, but '{y.name}' has order "
                          f"{y.facts.order} after '{x.name}' with {x.facts.order}")
    first, last = members.index(steps[0]), members.index(steps[-1])
    for x in members[first:last]:
        if not x.calibrated:
            raise Refused(f"raise: '{x.name}' stands between calibrated members and is not calibrated")
