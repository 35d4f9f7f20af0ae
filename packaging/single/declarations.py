"""What a file of C declares outside of functions, by tokens: enough of the grammar for sources of this library.

An item is a token, or a group in brackets; a declaration is specifiers, then declarators separated by commas."""
from dataclasses import dataclass, field

from tokens import OPEN, closing, code, directives

WORDS = {"typedef", "static", "extern", "inline", "const", "volatile", "_Noreturn", "_Thread_local", "restrict", "void",
         "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "_Complex"}
TYPES = {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "_Complex"}
INLINE, ATTRIBUTES = "INLINE", {"SINGLY", "SHORT_LOOPS"}                   # base/inline.h
TAGGED = {"struct", "union", "enum"}
WITH_ARGUMENTS = {"__attribute__", "_Alignas", "__asm__"}


@dataclass
class Declared:
    """Names by kind; prototypes: (place of its first token, names) of declarations that may be functions'."""
    functions: set = field(default_factory=set)             # static ones, inline too
    public: set = field(default_factory=set)                # functions that other files can call
    objects: set = field(default_factory=set)               # static variables
    shared: set = field(default_factory=set)                # variables that other files can read
    types: set = field(default_factory=set)
    opaque: set = field(default_factory=set)                # of these: typedef struct x x;
    enumerators: set = field(default_factory=set)
    tags: set = field(default_factory=set)                  # with a body here
    mentioned: set = field(default_factory=set)             # tags, with a body or without
    macros: dict = field(default_factory=dict)
    mentions: set = field(default_factory=set)              # names in lines of the preprocessor
    pasted: set = field(default_factory=set)                # names that macros make of their arguments
    made: set = field(default_factory=set)                  # arguments of macros that are declared as they are
    members: set = field(default_factory=set)               # places of the names of members
    prototypes: list = field(default_factory=list)

    def local(self):
        """Names that only this file uses."""
        return self.functions | self.objects | self.types | self.enumerators | self.made

    def own(self):
        """The same with those that macros make."""
        return self.local() | (self.pasted - self.public)

    def ordinary(self):
        return self.own() | self.public | self.shared

    def defined(self):
        """What a header defines, so that another one cannot have the same name."""
        return self.functions | self.enumerators | self.objects | (self.types - self.opaque)

    def of_macros(self):
        """Names in the bodies of macros, but of members."""
        return {x for macro in self.macros.values() for _, body in macro for before, x in zip(["", *body], body)
                if before not in (".", "->")}


def groups(found, places, start, end):
    """places[start:end] as items: (place, text, None), or (place, bracket, (first, last)) as indices of places."""
    items, k = [], start
    while k < end:
        text = found[places[k]].text
        if text in OPEN:
            last = closing(found, places, k)
            items.append((places[k], text, (k + 1, last)))
            k = last + 1
        else:
            items.append((places[k], text, None))
            k += 1
    return items


def split(items, mark):
    parts = [[]]
    for item in items:
        if item[1] == mark and item[2] is None:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


def is_name(found, item):
    return item[2] is None and found[item[0]].kind == "name"


def declarators(found, places, items):
    """(words before them, [(place of the name, whether a list of parameters follows)])"""
    words, k, typed = [], 0, False
    while k < len(items):
        _, text, inner = items[k]
        if text in WITH_ARGUMENTS:
            k += 2
        elif text == INLINE:
            words += ["static", "inline"]
            k += 1
        elif text in WORDS:
            words.append(text)
            typed = typed or text in TYPES
            k += 1
        elif text in TAGGED:
            typed = True
            k += 1
            while k < len(items) and items[k][1] in WITH_ARGUMENTS:
                k += 2
            k += is_name(found, items[k])
            k += k < len(items) and items[k][1] == "{"
        elif not typed and is_name(found, items[k]):
            typed = True
            k += 1
        else:
            break
    return words, [one for part in split(items[k:], ",") if (one := declarator(found, places, part))]


def declarator(found, places, items):
    """The name that is declared, and whether parameters follow; None if there is none."""
    items = [x for x in split(items, "=")[0] if x[1] not in ("*", "const", "restrict", "volatile")]
    if not items:
        return None
    if items[0][1] == "(":                                  # (*name)(...)
        inner = declarator(found, places, groups(found, places, *items[0][2]))
        return inner and (inner[0], False)
    if not is_name(found, items[0]):
        return None
    return items[0][0], len(items) > 1 and items[1][1] == "("


def statements(found, places):
    """The declarations of a file: (items, whether the last one is the body of a function)."""
    k = start = 0
    while k < len(places):
        text = found[places[k]].text
        if text == ";":
            yield groups(found, places, start, k), False
            start = k = k + 1
        elif text in OPEN:
            before = found[places[k - 1]].text
            last = closing(found, places, k)
            body = text == "{" and before == ")" and \
                not any(x[1] == "=" for x in groups(found, places, start, k))
            k = last + 1
            if body:
                yield groups(found, places, start, k), True
                start = k
        else:
            k += 1


def bodies(found, places):
    """(keyword, place of the tag or None, indices of the contents) of every struct, union and enum with a body."""
    for k, place in enumerate(places):
        if found[place].text in TAGGED:
            j = k + 1
            while found[places[j]].text in WITH_ARGUMENTS:
                j = closing(found, places, j + 1) + 1
            tag = places[j] if found[places[j]].kind == "name" else None
            j += tag is not None
            inner = (j + 1, closing(found, places, j)) if found[places[j]].text == "{" else None
            yield found[place].text, tag, inner


def tagged(found, places, to):
    for keyword, tag, inner in bodies(found, places):
        if tag is not None:
            to.mentioned.add(found[tag].text)
        if inner is None:
            continue
        if tag is not None:
            to.tags.add(found[tag].text)
        if keyword == "enum":
            continue
        for member in split(groups(found, places, *inner), ";"):
            to.members.update(place for place, _ in declarators(found, places, member)[1])


def enumerated(found, places, items, to):
    """The constants of the enumerations in a declaration outside of functions."""
    for k, (_, text, _) in enumerate(items):
        if text == "enum":
            for _, bracket, inner in items[k + 1:k + 3]:
                if bracket == "{":
                    to.enumerators.update(found[part[0][0]].text
                                          for part in split(groups(found, places, *inner), ",") if part)


def macros(found):
    """{name: its definitions, each (parameters, tokens of the body)} of the macros that a file defines."""
    defined = {}
    for line in directives(found):
        texts = [found[k].text for k in line]
        if len(texts) > 2 and texts[1] == "define":
            end = texts.index(")") if "(" in texts[3:4] and line[3] == line[2] + 1 else 2
            defined.setdefault(texts[2], []).append(([x for x in texts[4:end] if x != ","], texts[end + 1:]))
    return defined


def expanded(found, places, name, inner, to):
    """MACRO(name, ...) outside of functions declares its arguments, or what it pastes together with them."""
    arguments = [found[part[0][0]].text for part in split(groups(found, places, *inner), ",") if part]
    for parameters, body in to.macros[name]:
        given = dict(zip(parameters, arguments))
        joined = [k for k, x in enumerate(body) if x == "##"]
        to.pasted.update(given.get(body[k - 1], body[k - 1]) + given.get(body[k + 1], body[k + 1]) for k in joined)
        partial = {body[k + by] for k in joined for by in (-1, 1)}
        to.made.update(text for x, text in given.items() if x not in partial and x in body)


def named(found, places, items, function, to):
    """One declaration."""
    items = [x for x in items if x[1] not in ATTRIBUTES]
    while len(items) > 1 and items[0][1] in to.macros and items[1][1] == "(":
        expanded(found, places, items[0][1], items[1][2], to)
        items = items[2:]
    if not items or items[0][1] == "_Static_assert":
        return
    enumerated(found, places, items, to)
    words, names = declarators(found, places, items[:-1] if function else items)
    for place, parameters in names:
        name = found[place].text
        if name in to.macros:                               # OF(name)(...)
            before = set(to.pasted)
            for inner in [x[2] for x in items if x[1] == "("][:1]:
                expanded(found, places, name, inner, to)
            if "static" not in words:
                to.public |= to.pasted - before
            continue
        if "typedef" in words:
            to.types.add(name)
            if [x[1] for x in items[:2]] == ["typedef", "struct"] and "{" not in [x[1] for x in items]:
                to.opaque.add(name)
        elif parameters and function:
            (to.functions if "static" in words else to.public).add(name)
        elif parameters and "static" in words:
            to.functions.add(name)
        elif not parameters and "static" in words:
            to.objects.add(name)
        elif not parameters and ("=" in [x[1] for x in items] or "extern" in words):
            to.shared.add(name)
    if names and not function and not {"typedef", "static", "extern"} & set(words):
        to.prototypes.append((items[0][0], [found[place].text for place, _ in names]))


def declared(found):
    places, to = code(found), Declared(macros=macros(found))
    to.mentions = {found[k].text for line in directives(found) for k in line if found[k].kind == "name"}
    tagged(found, places, to)
    for items, function in statements(found, places):
        named(found, places, items, function, to)
    for k, place in enumerate(places):                      # offsetof(type, member)
        if found[place].text == "offsetof":
            to.members.update(x[0] for x in groups(found, places, k + 2, closing(found, places, k + 1))[-1:])
    return to
