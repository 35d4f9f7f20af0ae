/* loaded.c - methods from shared libraries that codegen made from coefficient files (codegen/objects.py): the only file
   that calls dlopen.

   A loaded method is a copy of the descriptor, followed by the handle of its library, whose arrays it points to.  So no
   list of loaded methods is needed. */
#include <stdlib.h>
#include <string.h>
#ifdef COSTATE_HAVE_DLOPEN
#include <dlfcn.h>
#endif
#include "base/verdict.h"
#include "calls/elf.h"
#include "maps/check.h"
#include "step/method.h"

typedef struct {
    costate_method method;          /* first: its address is what the user has */
    void *library;
} loaded;

/* Sentences go to the report, which may be missing. */
#define SAY(status, ...) (report ? check_says(report, status, __VA_ARGS__) : (status))

static int built_in(const costate_method *m)
{
    for (int k = 0; costate_method_table[k]; k++) if (costate_method_table[k] == m) return 1;
    return 0;
}

#ifdef COSTATE_HAVE_DLOPEN

/* Is it one for this library?  Its first two members are those of all versions. */
static int fits(const char *path, const method_object *o, costate_report *report)
{
    const char *made = o->version ? o->version : "unknown";
    if (strcmp(made, COSTATE_VERSION) != 0)
        return SAY(COSTATE_VERSION_MISMATCH, "%s was compiled with the header of costate %s; this library is %s.  Make "
                   "it again from its coefficient file, and compile it with the header of this library.", path, made,
                   COSTATE_VERSION);
    if (!o->layout || strcmp(o->layout, method_layout) != 0 || o->size != sizeof(costate_method))
        return SAY(COSTATE_VERSION_MISMATCH, "%s describes its method in structs that are not those of this "
                   "library (%s, %zu bytes; here %s, %zu bytes): make it again from its coefficient file.", path,
                   o->layout ? o->layout : "no checksum", o->layout ? o->size : 0, method_layout,
                   sizeof(costate_method));
    const costate_method *m = o->method;
    int known = m && m->name && m->s >= 1 && m->s <= STAGES_MOST && m->family >= 0 && m->family <= COSTATE_COMPOSITE;
    if (!known)
        return SAY(COSTATE_BAD_ARGUMENT, "%s holds no method that this library knows.", path);
    if (costate_method_find(m->name))
        return SAY(COSTATE_BAD_ARGUMENT, "%s holds a method of the name %s, which is built in: give the coefficient "
                   "file and its method another name.", path, m->name);
    return COSTATE_OK;
}

/* dlopen looks for a name without a slash in the folders of the system */
static int open_library(const char *path, void **library, costate_report *report)
{
    size_t length = strlen(path), here = strchr(path, '/') ? 0 : 2;
    char *name = malloc(length + 3);
    if (!name) return SAY(COSTATE_NO_MEMORY, "No memory to load %s.", path);
    memcpy(name, "./", 2);
    memcpy(name + here, path, length + 1);
    int status = elf_whole(name, report);
    if (status == COSTATE_OK) *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    free(name);
    if (status != COSTATE_OK) return status;
    return *library ? COSTATE_OK : SAY(COSTATE_IO, "A method cannot be loaded: %s.", dlerror());
}

static int load(const char *path, loaded *to, costate_report *report)
{
    TRY(open_library(path, &to->library, report));
    const method_object *o = dlsym(to->library, "costate_object");
    if (!o)
        return SAY(COSTATE_BAD_ARGUMENT, "%s is a shared library, but not of a method: it has no symbol "
                   "costate_object.", path);
    TRY(fits(path, o, report));
    to->method = *o->method;
    return COSTATE_OK;
}

static void discard(loaded *x)
{
    if (x->library) dlclose(x->library);
    free(x);
}

#else

static int load(const char *path, loaded *to, costate_report *report)
{
    (void)to;
    return SAY(COSTATE_MISSING, "%s cannot be loaded: this library was built without dlopen.", path);
}

static void discard(loaded *x) { free(x); }

#endif

int costate_method_load(const char *path, const costate_method **out, costate_report *report)
{
    if (report) check_clear(report);
    if (out) *out = NULL;
    if (!path || !out) return SAY(COSTATE_BAD_ARGUMENT, "%s is NULL.", path ? "out" : "path");
    loaded *x = calloc(1, sizeof *x);
    if (!x) return SAY(COSTATE_NO_MEMORY, "No memory to load %s.", path);
    int status = load(path, x, report);
    if (status == COSTATE_OK) *out = &x->method;
    else discard(x);
    return status;
}

void costate_method_unload(const costate_method *m)
{
    union { const costate_method *given; loaded *own; } x = {.given = m};
    if (m && !built_in(m)) discard(x.own);
}
