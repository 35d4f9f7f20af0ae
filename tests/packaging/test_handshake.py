"""Options of an earlier header are taken and those of a later one refused with a sentence, by the three calls that take
options; costate_sizeof knows every public struct."""

import ctypes
import os
import re

from external import Skipped, build, cc, folder, library, read, root, run, run_all, sanitized, write

HEADERS = ("costate", "bvp", "ensemble", "accuracy", "operators", "periodic", "pieces",
           "program", "steady")
PROGRAM = r"""
#include <costate/costate.h>
#include <costate/bvp.h>
#include <costate/ensemble.h>
#include <stdio.h>
static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -x->y[0], 0; }
static int g(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] - 1, 0; }
int main(void)
{
    double y = 1;
    costate_problem problem = {.n = 1, .rhs = {.value = f}};
    costate_options options = {.rtol = 1e-6};
    costate_conditions conditions = {.map = {.value = g}, .count = 1};
    costate_bvp_options boundary = {.rtol = 1e-6, .differences = 1};
    costate_members members = {.count = 1, .t1 = 1, .y = &y};
    costate_ensemble_report report;
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    printf("new: %s: %s\n", costate_status_name(costate_status(c)), costate_message(c));
    printf("integrate: %s\n", costate_status_name(costate_integrate(c, 0, 1, &y, NULL, NULL)));
    costate_free(c);
    costate_bvp *b = costate_bvp_new(costate_method_find("gauss2"), &problem, &conditions, &boundary);
    printf("bvp: %s: ", costate_status_name(costate_bvp_solve(b, 0, 1, NULL)));
    printf("%s\n", costate_bvp_message(b));
    costate_bvp_free(b);
    int ran = costate_ensemble(costate_method_find("dopri5"), &problem, &options, &members, &report);
    printf("ensemble: %s: %s\n", costate_status_name(ran), report.text);
    return 0;
}
"""


def compiled(headers, program):
    """what the program prints, when compiled with these texts as headers and run with the library"""
    with folder() as place:
        for name, text in headers.items():
            write(os.path.join(place, "costate", name + ".h"), text)
        exe = os.path.join(place, "program")
        cc(write(os.path.join(place, "program.c"), program), "-o", exe, "-I" + place,
           "-I" + os.path.join(root, "include"), "-L" + build, "-Wl,-rpath," + build, "-lcostate")
        return dict(line.split(": ", 1) for line in run(exe).splitlines())


def changed(change):
    """the headers with this change of the text of options' members"""
    headers = {}
    for name, struct in ("costate", "costate_options"), ("bvp", "costate_bvp_options"):
        text = read("include/costate/%s.h" % name)
        start, members, end = re.search(r"(.*typedef struct \{\n)(.*?)(\n\} %s;.*)" % struct, text, re.S).groups()
        headers[name] = start + change(members) + end
    return headers


def longer(members):
    return members + "\n    double more;"


def shorter(members):
    kept = re.split(r"(?<=;)", re.sub(r"/\*.*?\*/", "", members, flags=re.S))
    return "".join(kept[:-3])


def test_the_options_of_this_header_are_taken():
    accepted(compiled({}, PROGRAM))


def test_earlier_options_are_taken():
    accepted(compiled(changed(shorter), PROGRAM))


def accepted(answers):
    wrong = {call: said for call, said in answers.items() if not said.startswith("COSTATE_OK")}
    assert len(answers) == 4 and not wrong, wrong


def test_later_options_are_refused():
    answers = compiled(changed(longer), PROGRAM)
    assert len(answers) == 4
    for call, said in answers.items():
        assert said.startswith("COSTATE_VERSION_MISMATCH"), (call, said)
        for words in ("options has", "bytes", "compile") if call != "integrate" else ():
            assert words in said, (call, said)


def test_options_do_not_end_in_padding():
    """where a member more would not be seen"""
    size = '#include <costate/bvp.h>\n#include <stdio.h>\nint main(void) { printf("options: %zu\\nbvp: %zu\\n", ' \
           'sizeof(costate_options), sizeof(costate_bvp_options)); return 0; }\n'
    now = compiled({}, size)
    more = compiled(changed(lambda members: members + "\n    char more;"), size)
    assert all(int(now[struct]) < int(more[struct]) for struct in now), (now, more)


def test_every_public_struct_has_a_size():
    """also one that is added later, unless it is only ever seen through a pointer of the library's"""
    structs = []
    for name in HEADERS:
        header = re.sub(r"/\*.*?\*/", "", read("include/costate/%s.h" % name), flags=re.S)
        structs += re.findall(r"^\} (costate_\w+);", header, re.M)
    program = "".join("#include <costate/%s.h>\n" % name for name in HEADERS)
    program += "#include <stdio.h>\nint main(void)\n{\n"
    program += "".join('    printf("%s: %%d\\n", costate_sizeof("%s") == sizeof(%s));\n' % (x, x, x) for x in structs)
    answers = compiled({}, program + "    return 0;\n}\n")
    wrong = [struct for struct in structs if answers[struct] != "1"]
    assert len(structs) > 35 and not wrong, wrong


def test_other_languages_ask():
    """costate_version and costate_sizeof at run time; costate_new is a function, too"""
    if sanitized:
        raise Skipped("Python cannot load a library with a sanitizer in it")
    c = ctypes.CDLL(library())
    c.costate_version.restype = ctypes.c_char_p
    c.costate_sizeof.restype = ctypes.c_size_t
    c.costate_new.restype = c.costate_message.restype = ctypes.c_void_p
    assert 'COSTATE_VERSION "%s"' % c.costate_version().decode() in read("include/costate/costate.h")
    assert c.costate_sizeof(b"costate_options") > 0
    assert c.costate_sizeof(b"costate_nonsense") == 0 and c.costate_sizeof(None) == 0
    solver = ctypes.c_void_p(c.costate_new(None, None, None))
    assert b"problem is NULL" in ctypes.string_at(c.costate_message(solver))
    c.costate_free(solver)


run_all(globals())
