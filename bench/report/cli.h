/* cli.h - command lines as tables: an option is a row that says where its value goes. */
#ifndef BENCH_CLI_H
#define BENCH_CLI_H

#include <stddef.h>
#include <stdio.h>

/* What they fill: int, int, int, double, text. */
enum cli_kind { CLI_FLAG, CLI_WORD, CLI_COUNT, CLI_POSITIVE, CLI_TEXT };

typedef struct {
    const char *name;
    enum cli_kind kind;
    size_t where;                  /* in the struct that is filled */
    const char *const *words;      /* CLI_WORD: the choices, NULL at the end */
    int first;                     /* the value of the first of them */
    const char *argument, *help;
} cli_option;

/* Fills command; 0, or 2 after a message that names what there is. */
int cli_parse(const char *program, const cli_option *options, int count, void *command, int argc, char **argv);
void cli_usage(FILE *, const char *heading, const cli_option *options, int count);

#endif
