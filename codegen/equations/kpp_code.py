"""Code that is inlined in a mechanism, #INLINE F90_RCONST and others: its plain assignments, and what is not read.

Code is Fortran 90, Fortran 77, C or MATLAB.  A statement NAME = EXPRESSION that is always executed is an Assignment.
Names that other statements change, in branches and loops, are assigned None: their values are not known.  Functions of
Fortran whose statements are assignments can be called in rates.  Of a module that is used, USE NAME, these functions
are read, its constants, and subroutines without arguments whose statements are assignments: they stand for CALL NAME.
Everything else is kept as text."""
import re
from dataclasses import dataclass, field, replace

LANGUAGES = ("F90", "C", "F77", "MATLAB")    # the first one with code is taken, if #LANGUAGE names no other
PARTS = ("INIT", "GLOBAL", "DATA", "DECL", "RATES", "RCONST")        # in the order of their execution
TYPES = {
    "F": r"(?:KPP_REAL|REAL|INTEGER|DOUBLE\s*PRECISION|LOGICAL|CHARACTER|TYPE)\b(?:\s*\*\s*\d+|\s*\([^)]*\))?",
    "C": r"(?:(?:static|const|extern|register|unsigned|signed|long|short|double|float|int|char)\b\s*)+",
}
IGNORED = re.compile(r"(?:IMPLICIT|INTRINSIC|EXTERNAL|SAVE|RETURN|CONTINUE|CONTAINS|GLOBAL|PUBLIC|PRIVATE)\b", re.I)
USE = re.compile(r"^[ \t]*USE\b(?:[ \t]*,[ \t]*\w+)?(?:[ \t]*::)?[ \t]*(\w+)[^\n]*", re.I | re.M)
SUBROUTINE = re.compile(r"SUBROUTINE\s+(\w+)\s*(?:\(\s*\))?$", re.I)
CALL = re.compile(r"CALL\s+(\w+)\s*(?:\(\s*\))?$", re.I)
FUNCTION = re.compile(r"(?:[\w\s*]|\([^()]*\))*?\bFUNCTION\s+(\w+)\s*\(([^()]*)\)(?:\s*RESULT\s*\(\s*(\w+)\s*\))?$",
                      re.I)
OPENS = {
    "F": re.compile(r"(?:IF\s*\(.*\)\s*THEN|DO\b|SELECT\b|WHERE\s*\(.*\)\s*$|SUBROUTINE\b|MODULE\b|INTERFACE\b"
                    r"|(?:[\w\s*]|\([^()]*\))*\bFUNCTION\b)", re.I | re.S),
    "M": re.compile(r"(?:if|for|while|switch|function)\b"),
}
CLOSES = {"F": re.compile(r"END(?:\s*(?:IF|DO|SELECT|WHERE|SUBROUTINE|MODULE|INTERFACE|FUNCTION))?\b", re.I),
          "M": re.compile(r"end\b")}
ASSIGNMENT = re.compile(r"(\w+)\s*(?:[(\[]\s*(\w+)\s*[)\]])?\s*=(?!=)\s*(?=\S)", re.S)
INSIDE = re.compile(r"\b(\w+)\s*(?:\([^()]*\)|\[[^]]*\])?\s*[-+*/]?=(?!=)")


@dataclass
class Assignment:
    """NAME = the text from start to end, or NAME(index) = ...; start None: by a statement that is not read"""
    name: str
    index: str
    source: object
    start: object = None
    end: int = 0
    initial: bool = False                    # executed once, before the run


@dataclass
class Function:
    name: str
    arguments: list
    result: str
    body: list                               # of Assignments


@dataclass
class Code:
    assignments: list = field(default_factory=list)
    functions: dict = field(default_factory=dict)
    subroutines: dict = field(default_factory=dict)      # name: its Assignments
    declared: set = field(default_factory=set)           # names of variables, in lower case
    unread: list = field(default_factory=list)           # (source, place, text)


def read(blocks, language, modules):
    """blocks: [(kind, source, start, end)], with comments; language: that of #LANGUAGE, or ''; modules: {name: source}
    of the files of modules that the code uses"""
    families = [language] if any(kind.startswith(language + "_") for kind, *_ in blocks) and language else []
    families += [f for f in LANGUAGES if any(kind in (f + "_INIT", f + "_RCONST", f + "_RATES") for kind, *_ in blocks)]
    code = Code()
    if not families:
        return code
    for source in modules.values() if families[0] == "F90" else ():
        Block(code, "F90", "MODULE", source, 0, len(source.text)).module()
    for part in PARTS:
        for kind, source, start, end in blocks:
            if kind == f"{families[0]}_{part}":
                Block(code, families[0], part, source, start, end).read()
    for kind, source, start, end in blocks:
        language, _, part = kind.partition("_")
        if language == families[0] and part not in PARTS:
            unused(source, modules, start, end)
            Block(code, families[0], part, source, start, end).whole(None, start, [], end)
    return code


def used_modules(text):
    """Names of the modules of statements USE NAME"""
    return [name.lower() for name in USE.findall(fortran(text))]


def unused(source, modules, start, end):
    """Blanks the statements USE of modules that are read"""
    text = USE.sub(lambda m: blank(m) if m[1].lower() in modules else m.group(), source.text[start:end])
    source.text = source.text[:start] + text + source.text[end:]


class Block:
    """One #INLINE; the text of its Source is blanked where it is no code, with places unchanged"""

    def __init__(self, code, language, part, source, start, end):
        self.code, self.part, self.source, self.start, self.end = code, part, source, start, end
        self.language = {"F90": "F", "F77": "F", "C": "C", "MATLAB": "M"}[language]
        clean = {"F90": fortran, "F77": lambda text: fortran(fixed_form(text)), "C": c_code, "MATLAB": matlab}[language]
        self.text = source.text[:start] + clean(source.text[start:end]) + source.text[end:]
        source.text = self.text

    def read(self):
        statements, inside, depth, function = self.statements(), None, 0, None
        for start, end in statements:
            text = self.text[start:end].strip()
            opens, closes = self.opens(text), self.closes(text)
            if depth == 0 and self.language == "F" and FUNCTION.match(" ".join(text.split())):
                function, inside, depth = self.function(text), (start, []), 1
                continue
            if depth == 0 and not opens:
                self.one(start, end, text)
                continue
            if inside is None:
                inside = (start, [])
            inside[1].append((start, end))
            depth += opens - closes
            if depth <= 0:
                self.whole(function, *inside, end)
                inside, depth, function = None, 0, None
        if inside:
            self.whole(None, *inside, self.end)

    def module(self):
        """Its constants, functions, and subroutines without arguments; what else is in it is left out"""
        part, inside, depth = None, [], 0
        for start, end in self.statements():
            text = " ".join(self.text[start:end].split())
            if re.match(r"(?:END\s*)?MODULE\b", text, re.I):
                continue
            opens, closes = self.opens(text), self.closes(text)
            if depth == 0 and opens:
                function, called = FUNCTION.match(text), SUBROUTINE.match(text)
                part = self.function(text) if function else Function(called[1].lower(), [], "", []) if called else None
                inside = []
            elif depth == 0 and re.match(TYPES["F"], text, re.I) and re.search(r"\bPARAMETER\b.*::", text, re.I):
                self.declaration(start, end, False)
            inside.append((start, end))
            depth += opens - closes
            if part and depth == 0 and self.body(part, inside[1:-1]):
                if part.result:
                    self.code.functions.setdefault(part.name, part)
                else:
                    self.code.subroutines[part.name] = part.body
            part = part if depth else None

    def statements(self):
        """(start, end) of each, without blank ones"""
        split = {"F": r"[^;\n]+", "M": r"[^;\n]+", "C": r"[^;{}]*\{|\}|[^;{}]+"}[self.language]
        found = [m.span() for m in re.compile(split).finditer(self.text, self.start, self.end)]
        return [(start, end) for start, end in found if self.text[start:end].strip()]

    def opens(self, text):
        if self.language == "C":
            return text.endswith("{")
        return bool(OPENS[self.language].match(text)) and not self.closes(text)

    def closes(self, text):
        return text == "}" if self.language == "C" else bool(CLOSES[self.language].match(text))

    # ---- one statement that is always executed ----

    def one(self, start, end, text):
        start += len(self.text[start:end]) - len(self.text[start:end].lstrip())
        if IGNORED.match(text) or self.closes(text):
            return
        called = CALL.match(text)
        if called and called[1].lower() in self.code.subroutines:
            self.code.assignments += [replace(a, initial=self.part != "RCONST")
                                      for a in self.code.subroutines[called[1].lower()]]
            return
        declaration = re.match(TYPES.get(self.language, r"(?!)"), text, re.I)
        constants = re.match(r"PARAMETER\s*\(", text, re.I) if self.language == "F" else None
        if declaration or constants:
            self.declaration(start + (declaration or constants).end(), end, bool(constants))
        elif not self.assignment(start, end, self.code.assignments):
            self.not_read(start, text)

    def declaration(self, start, end, constants):
        """A, B = 3, C, behind the type; attributes stand before ::"""
        colons = self.text.find("::", start, end)
        start = colons + 2 if colons >= 0 else start
        end = self.text.rfind(")", start, end) if constants else end
        depth, first = 0, start
        for at in range(start, end + 1):
            c = self.text[at] if at < end else ","
            depth += (c in "([") - (c in ")]")
            if c == "," and depth <= 0:
                word = re.compile(r"\s*\*?\s*(\w+)").match(self.text, first, at)
                if word:
                    self.code.declared.add(word[1].lower())
                    self.assignment(word.start(1), at, self.code.assignments)
                first = at + 1

    def assignment(self, start, end, into):
        m = ASSIGNMENT.match(self.text, start, end)
        if not m or not m[1][0].isalpha() and m[1][0] != "_":
            return False
        into.append(Assignment(m[1].lower(), m[2] and m[2].lower(), self.source, m.end(), end, self.part != "RCONST"))
        return True

    def not_read(self, start, text):
        self.code.unread.append((self.source, start, " ".join(text.split())))
        for name in INSIDE.findall(text):
            self.code.assignments.append(Assignment(name.lower(), None, self.source, initial=self.part != "RCONST"))

    # ---- blocks ----

    def function(self, text):
        m = FUNCTION.match(" ".join(text.split()))
        arguments = [a.strip().lower() for a in m[2].split(",") if a.strip()]
        return Function(m[1].lower(), arguments, (m[3] or m[1]).lower(), [])

    def whole(self, function, start, statements, end):
        """A function that is read, or a text that is not"""
        if function and self.body(function, statements[:-1]):
            self.code.functions[function.name] = function
            return
        text = self.text[start:end]
        lines = [line for line in text.split("\n") if line.strip()]
        if not lines:
            return
        start += len(text) - len(text.lstrip())
        more = f" ... ({len(lines)} lines)" if len(lines) > 1 else ""
        self.code.unread.append((self.source, start, " ".join(lines[0].split()) + more))
        if not function and self.part in ("INIT", "RCONST"):
            for name in dict.fromkeys(INSIDE.findall(text)):
                self.code.assignments.append(Assignment(name.lower(), None, self.source, initial=self.part != "RCONST"))

    def body(self, function, statements):
        for start, end in statements:
            text = self.text[start:end].strip()
            start += len(self.text[start:end]) - len(self.text[start:end].lstrip())
            declaration = re.match(TYPES["F"], text, re.I)
            if declaration:
                at = self.text.find("::", start, end)
                if "=" in text and at >= 0:
                    for m in re.compile(r"(\w+)\s*=").finditer(self.text, at, end):
                        if not self.assignment(m.start(1), end, function.body):
                            return False
            elif not IGNORED.match(text) and not self.assignment(start, end, function.body):
                return False
        return True


# ---- texts without comments, with the same places ----

def blank(m):
    return re.sub(r"[^\n]", " ", m.group())


def fortran(text):
    """Comments go, lines that are continued become one: their ends become blanks"""
    text = re.sub(r"![^\n]*", blank, text)
    text = re.sub(r"^[ \t]*#[^\n]*", blank, text, flags=re.M)
    return re.sub(r"&[ \t\r]*\n(?:[ \t\r]*\n)*([ \t]*&)?", lambda m: " " * len(m.group()), text)


def fixed_form(text):
    """The columns of Fortran 77: comments by their first one, continuations by the sixth"""
    text = re.sub(r"^[Cc*][^\n]*", blank, text, flags=re.M)
    return re.sub(r"\n {5}[^ 0\n]", lambda m: " " * len(m.group()), text)


def c_code(text):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#[^\n]*", blank, text, flags=re.M)


def matlab(text):
    text = re.sub(r"%[^\n]*", blank, text)
    return re.sub(r"\.\.\.[ \t\r]*\n", lambda m: " " * len(m.group()), text)
