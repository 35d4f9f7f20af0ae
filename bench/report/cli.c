/* cli.c - command lines as tables: values are checked, and a message says what there is instead of a wrong one. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static void print_words(FILE *file, const char *const *words)
{
    for (int w = 0; words[w]; w++) fprintf(file, " %s", words[w]);
    fputc('\n', file);
}

void cli_usage(FILE *file, const char *heading, const cli_option *options, int count)
{
    fprintf(file, "usage: %s\n", heading);
    for (int k = 0; k < count; k++) {
        fprintf(file, "  %-17s %-5s %s\n", options[k].name, options[k].argument, options[k].help);
        if (!options[k].words) continue;
        fprintf(file, "%26sone of:", "");
        print_words(file, options[k].words);
    }
}

static int word(const char *program, const cli_option *o, const char *value, int *at)
{
    int w = 0;
    while (o->words[w] && strcmp(o->words[w], value) != 0) w++;
    *at = o->first + w;
    if (o->words[w]) return 0;
    fprintf(stderr, "%s: %s cannot be \"%s\"; it is one of:", program, o->name, value);
    print_words(stderr, o->words);
    return 2;
}

static int number(const char *program, const cli_option *o, const char *value, void *at)
{
    char *end;
    double x = strtod(value, &end);
    int count = o->kind == CLI_COUNT;
    if (end == value || *end || !(x > 0) || x > 1e9 || (count && x != (int)x)) {
        fprintf(stderr, "%s: %s needs a positive %s, not \"%s\"\n", program, o->name, count ? "whole number" : "number",
                value);
        return 2;
    }
    if (count) *(int *)at = (int)x;
    else *(double *)at = x;
    return 0;
}

static int assign(const char *program, const cli_option *o, void *command, const char *value)
{
    void *at = (char *)command + o->where;
    if (o->kind == CLI_WORD) return word(program, o, value, at);
    if (o->kind == CLI_COUNT || o->kind == CLI_POSITIVE) return number(program, o, value, at);
    if (o->kind == CLI_FLAG) *(int *)at = 1;
    else *(const char **)at = value;
    return 0;
}

int cli_parse(const char *program, const cli_option *options, int count, void *command, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int k = 0, flag, status;
        while (k < count && strcmp(options[k].name, argv[i]) != 0) k++;
        if (k == count) {
            fprintf(stderr, "%s: no option \"%s\"; --help lists them\n", program, argv[i]);
            return 2;
        }
        flag = options[k].kind == CLI_FLAG;
        if (!flag && i + 1 == argc) {
            fprintf(stderr, "%s: %s needs a value\n", program, argv[i]);
            return 2;
        }
        if ((status = assign(program, &options[k], command, flag ? NULL : argv[++i])) != 0) return status;
    }
    return 0;
}
