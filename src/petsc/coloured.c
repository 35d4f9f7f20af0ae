/* coloured.c - the entries of sigma M - J in the pattern of A, computed with one product for each colour of columns.

   Columns of one colour have no row in common.  The product with the sum of their unit vectors therefore contains each
   of their entries separately (Curtis, Powell, Reid, J. Inst. Maths Applics 13 (1974) 117).  Columns of all processes
   are coloured together.  Local rows have entries in columns of other processes; their colours are fetched once. */
#include <stdlib.h>
#include "petsc/petsc.h"

void coloured_free(colours *s)
{
    void *all[] = {s->seed, s->product, s->value, s->column, s->start, s->colour, s->first, s->at, s->row};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    *s = (colours){0};
}

/* the pattern of the local rows of A: s->start, s->column */
static int read_rows(costate_petsc *c, colours *s, PetscInt first_row)
{
    size_t n = (size_t)c->P.n;
    PetscInt count;
    if (!(s->start = calloc(n + 1, sizeof *s->start))) return petsc_fail(c, "No memory for colours.");
    for (size_t i = 0; i < n; i++) {
        ASK(MatGetRow(c->A, first_row + (PetscInt)i, &count, NULL, NULL));
        s->start[i + 1] = s->start[i] + count;
        ASK(MatRestoreRow(c->A, first_row + (PetscInt)i, &count, NULL, NULL));
    }
    if (!(s->column = malloc(((size_t)s->start[n] + 1) * sizeof *s->column)))
        return petsc_fail(c, "No memory for colours.");
    for (size_t i = 0; i < n; i++) {
        const PetscInt *columns;
        ASK(MatGetRow(c->A, first_row + (PetscInt)i, &count, &columns, NULL));
        for (PetscInt k = 0; k < count; k++) s->column[s->start[i] + k] = columns[k];
        ASK(MatRestoreRow(c->A, first_row + (PetscInt)i, &count, &columns, NULL));
    }
    return 0;
}

/* the colour of each local column, as numbers of a Vec */
static int colour_columns(costate_petsc *c, colours *s, Vec colour)
{
    MatColoring how;
    ISColoring is;
    IS *part;
    PetscInt parts, first;
    double *number;
    ASK(MatColoringCreate(c->A, &how));
    ASK(MatColoringSetType(how, MATCOLORINGGREEDY));
    ASK(MatColoringSetDistance(how, 2));
    ASK(MatColoringSetFromOptions(how));
    ASK(MatColoringApply(how, &is));
    ASK(ISColoringGetIS(is, PETSC_USE_POINTER, &parts, &part));
    ASK(VecGetOwnershipRange(colour, &first, NULL));
    ASK(VecGetArray(colour, &number));
    for (PetscInt k = 0; k < parts; k++) {
        const PetscInt *column;
        PetscInt count;
        ASK(ISGetLocalSize(part[k], &count));
        ASK(ISGetIndices(part[k], &column));
        for (PetscInt l = 0; l < count; l++) {
            s->colour[column[l] - first] = (int)k;
            number[column[l] - first] = (double)k;
        }
        ASK(ISRestoreIndices(part[k], &column));
    }
    s->count = (int)parts;
    ASK(VecRestoreArray(colour, &number));
    ASK(ISColoringRestoreIS(is, PETSC_USE_POINTER, &part));
    ASK(ISColoringDestroy(&is));
    return -(int)MatColoringDestroy(&how);
}

/* of[k] = the colour of the column of entry k, which may belong to another process */
static int fetch_colours(const colours *s, PetscInt entries, Vec colour, Vec *of)
{
    IS from;
    VecScatter fetch;
    ASK(VecCreateSeq(PETSC_COMM_SELF, entries, of));
    ASK(ISCreateGeneral(PETSC_COMM_SELF, entries, s->column, PETSC_USE_POINTER, &from));
    ASK(VecScatterCreate(colour, from, *of, NULL, &fetch));
    ASK(VecScatterBegin(fetch, colour, *of, INSERT_VALUES, SCATTER_FORWARD));
    ASK(VecScatterEnd(fetch, colour, *of, INSERT_VALUES, SCATTER_FORWARD));
    ASK(VecScatterDestroy(&fetch));
    return -(int)ISDestroy(&from);
}

/* sorts the entries by colour: s->at, s->row, s->first */
static void sort(colours *s, int n, const double *colour)
{
    PetscInt entries = s->start[n];
    for (PetscInt k = 0; k < entries; k++) s->first[(int)colour[k] + 1]++;
    for (int l = 0; l < s->count; l++) s->first[l + 1] += s->first[l];
    for (int i = 0; i < n; i++)
        for (PetscInt k = s->start[i]; k < s->start[i + 1]; k++) {
            int to = s->first[(int)colour[k]]++;
            s->at[to] = (int)k;
            s->row[to] = i;
        }
    for (int l = s->count; l > 0; l--) s->first[l] = s->first[l - 1];
    s->first[0] = 0;
}

static int petsc_coloured_make(costate_petsc *c, colours *s)
{
    size_t n = (size_t)c->P.n;
    PetscInt first_row;
    Vec colour, of;
    const double *number;
    ASK(MatGetOwnershipRange(c->A, &first_row, NULL));
    TRY(read_rows(c, s, first_row));
    size_t entries = (size_t)s->start[n];
    s->colour = calloc(n + 1, sizeof *s->colour);
    s->seed = calloc(n + 1, sizeof *s->seed);
    s->product = calloc(n + 1, sizeof *s->product);
    s->value = calloc(entries + 1, sizeof *s->value);
    s->at = calloc(entries + 1, sizeof *s->at);
    s->row = calloc(entries + 1, sizeof *s->row);
    if (!s->colour || !s->seed || !s->product || !s->value || !s->at || !s->row)
        return petsc_fail(c, "No memory for colours.");
    ASK(MatCreateVecs(c->A, &colour, NULL));
    TRY(colour_columns(c, s, colour));
    TRY(fetch_colours(s, s->start[n], colour, &of));
    if (!(s->first = calloc((size_t)s->count + 2, sizeof *s->first))) return petsc_fail(c, "No memory for colours.");
    ASK(VecGetArrayRead(of, &number));
    sort(s, c->P.n, number);
    ASK(VecRestoreArrayRead(of, &number));
    ASK(VecDestroy(&of));
    return -(int)VecDestroy(&colour);
}

int coloured_make(costate_petsc *c) { return c->by_colour.count > 0 ? 0 : petsc_coloured_make(c, &c->by_colour); }

/* Computes all products even if one fails, because the products of other processes wait for values from this one. */
int coloured_fill(costate_petsc *c)
{
    colours *s = &c->by_colour;
    int n = c->P.n, failed = 0;
    PetscInt first_row;
    for (int l = 0; l < s->count; l++) {
        for (int i = 0; i < n; i++) s->seed[i] = s->colour[i] == l;
        int code = shell_product(c, 0, s->seed, s->product);
        if (code && !failed) failed = code;
        for (int k = s->first[l]; k < s->first[l + 1]; k++) s->value[s->at[k]] = s->product[s->row[k]];
    }
    if (failed) return failed;
    ASK(MatGetOwnershipRange(c->A, &first_row, NULL));
    for (PetscInt i = 0; i < n; i++) {
        PetscInt row = first_row + i, k = s->start[i], count = s->start[i + 1] - k;
        ASK(MatSetValues(c->A, 1, &row, count, s->column + k, s->value + k, INSERT_VALUES));
    }
    return 0;
}
