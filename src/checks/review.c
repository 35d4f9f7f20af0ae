/* review.c - the findings of a review and the text that they make. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "checks/review.h"

/* ---- the object ---- */

costate_review *costate_review_new(void) { return calloc(1, sizeof(costate_review)); }

void review_clear(costate_review *r)
{
    for (int k = 0; k < r->count; k++) free((char *)r->list[k].text);
    free(r->list);
    free(r->head);
    free(r->text);
    *r = (costate_review){.list = NULL};
}

void costate_review_free(costate_review *r)
{
    if (r) review_clear(r);
    free(r);
}

int costate_review_count(const costate_review *r) { return r ? r->count : 0; }

int costate_review_get(const costate_review *r, int k, costate_finding *out)
{
    if (!r || !out) return COSTATE_BAD_ARGUMENT;
    if (k < 0 || k >= r->count) return COSTATE_OUT_OF_RANGE;
    *out = r->list[k];
    return COSTATE_OK;
}

const char *costate_review_text(const costate_review *r)
{
    return r && r->text ? r->text : "No run has been reviewed: call costate_check_run.";
}

/* ---- findings ---- */

static char *sentence(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = malloc((size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

int review_head(costate_review *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    free(r->head);
    r->head = sentence(format, args);
    va_end(args);
    return r->head ? 0 : COSTATE_NO_MEMORY;
}

static int make_room(costate_review *r)
{
    if (r->count < r->room) return 0;
    int room = 2 * r->room + 8;
    costate_finding *list = realloc(r->list, (size_t)room * sizeof *list);
    if (!list) return COSTATE_NO_MEMORY;
    r->list = list;
    r->room = room;
    return 0;
}

int review_add(costate_review *r, review_about a, const char *format, ...)
{
    TRY(make_room(r));
    va_list args;
    va_start(args, format);
    char *text = sentence(format, args);
    va_end(args);
    if (!text) return COSTATE_NO_MEMORY;
    r->list[r->count++] = (costate_finding){.severity = a.severity, .component = a.component, .topic = a.topic,
                                            .text = text, .t = a.t, .number = a.number};
    return 0;
}

int review_ends(run_review *x, const char *topic, double t, int status, const char *text)
{
    if (status == COSTATE_NO_MEMORY) return status;
    snprintf(x->said, sizeof x->said, "%s", text);
    TRY(review_add(x->r, (review_about){COSTATE_WRONG, -1, topic, t, NAN}, "%s  The review ends here.", text));
    return status;
}

static int how_many(const costate_review *r, int severity)
{
    int count = 0;
    for (int k = 0; k < r->count; k++) count += r->list[k].severity == severity;
    return count;
}

int review_wrong(const costate_review *r) { return how_many(r, COSTATE_WRONG); }

const char *review_remark(const char *message)
{
    static const char no_error[] = "No error.";
    if (strncmp(message, no_error, sizeof no_error - 1) != 0) return message;
    message += sizeof no_error - 1;
    return message + strspn(message, " ");
}

/* ---- the text ---- */

enum { COLUMNS = 100 };

/* Sorted by insertion: findings of one severity stay in the order of the checks. */
static void sort(costate_review *r)
{
    for (int k = 1; k < r->count; k++) {
        costate_finding now = r->list[k];
        int at = k;
        for (; at > 0 && r->list[at - 1].severity < now.severity; at--) r->list[at] = r->list[at - 1];
        r->list[at] = now;
    }
}

/* First its length is found, then it is written: `at` is NULL at first. */
typedef struct { char *at; size_t used, room; } writer;

static void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(w->at ? w->at + w->used : NULL, w->at ? w->room - w->used : 0, format, args);
    va_end(args);
    w->used += (size_t)length;
}

static void put_counts(writer *w, const costate_review *r)
{
    int wrong = review_wrong(r), remarks = how_many(r, COSTATE_REMARK);
    if (wrong) put(w, "%d finding%s of what is wrong", wrong, wrong == 1 ? "" : "s");
    else put(w, "Nothing is wrong");
    if (remarks) put(w, ", %d remark%s", remarks, remarks == 1 ? "" : "s");
    put(w, ".\n");
}

/* Breaks the text into lines of at most COLUMNS.  The first begins at `column`; the others are indented. */
static void put_lines(writer *w, int column, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, " "), blanks = (int)strspn(text + length, " ");
        if (column + length > COLUMNS) { put(w, "\n   "); column = 3; }
        put(w, " %.*s", length, text);
        column += length + 1;
        text += length + blanks;
    }
    put(w, "\n");
}

static void put_all(writer *w, const costate_review *r)
{
    static const char *const words[] = {[COSTATE_RIGHT] = "right", [COSTATE_REMARK] = "remark",
                                        [COSTATE_WRONG] = "WRONG"};
    if (r->head) put(w, "%s\n", r->head);
    put_counts(w, r);
    for (int k = 0; k < r->count; k++) {
        size_t begun = w->used;
        put(w, "%s, %s:", words[r->list[k].severity], r->list[k].topic);
        put_lines(w, (int)(w->used - begun), r->list[k].text);
    }
}

int review_compose(costate_review *r)
{
    writer w = {NULL, 0, 0};
    sort(r);
    put_all(&w, r);
    if (!(w.at = malloc(w.room = w.used + 1))) return COSTATE_NO_MEMORY;
    w.used = 0;
    put_all(&w, r);
    free(r->text);
    r->text = w.at;
    return 0;
}
