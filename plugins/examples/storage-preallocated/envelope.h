/* The JSON envelope of a Crossvisor plugin: requests in, replies out. Needs jansson 2.10 or later. */
#ifndef ENVELOPE_H
#define ENVELOPE_H

#include <jansson.h>
#include <stddef.h>

#include "crossvisor_plugin.h"

/* A request, read. Everything in it lives until the answer is returned. */
struct request {
    const char *op;    /* the operation */
    const char *offer; /* the offer it is about */
    json_t *options;   /* by name; sizes are bytes, durations are seconds */
    json_t *input;     /* as the operation has it */
    json_t *state;     /* what the plugin gave with its last turn; null at the first */
    json_t *results;   /* what came of the steps of its last turn, in order; empty at the first */
};

/* What the plugin itself brings. `answer` returns a reply made by the functions below, and keeps nothing: it is
 * called from several threads, and the same request always gets the same answer. */
extern const char manifest[];
json_t *answer(const struct request *request);

/* Replies. NULL arguments, and those that were made from NULL, end in an error: nothing has to be checked before. */
json_t *refuse(const char *message);
json_t *finish(json_t *steps, json_t *output);     /* the operation is over after these steps */
json_t *go_on(json_t *step);                       /* ask again with this step's result */

/* A program to run: `argv` is an array of strings and never a line for a shell. `on` is "host", "controller" or an
 * instance's place. */
json_t *run(json_t *on, json_t *argv, double timeout_s);
json_t *remove_file(json_t *path);
/* An action with a few words for people, and what undoes it (NULL: it makes nothing that stays). */
json_t *step(const char *say, json_t *action, json_t *undo);

/* Standard output of the first result; NULL at the first turn or where it is not a program's. */
const char *printed(const struct request *request);

/* The descriptor that the entry function returns. */
const struct crossvisor_plugin_v1 *descriptor(void);

#if defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

#endif
