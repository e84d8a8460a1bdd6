/* The JSON envelope of a Crossvisor plugin. */
#include "envelope.h"

#include <stdlib.h>
#include <string.h>

#define ENVELOPE_VERSION 1

json_t *refuse(const char *message) {
    return json_pack("{s:i, s:{s:s, s:s}}", "v", ENVELOPE_VERSION, "error", "message", message, "left", "nothing");
}

json_t *finish(json_t *steps, json_t *output) {
    return json_pack("{s:i, s:{s:b, s:o, s:o}}", "v", ENVELOPE_VERSION, "ok", "done", 1, "steps", steps,
                     "output", output);
}

json_t *go_on(json_t *step) {
    return json_pack("{s:i, s:{s:b, s:[o]}}", "v", ENVELOPE_VERSION, "ok", "done", 0, "steps", step);
}

json_t *run(json_t *on, json_t *argv, double timeout_s) {
    return json_pack("{s:s, s:o, s:o, s:f}", "do", "exec", "on", on, "argv", argv, "timeout_s", timeout_s);
}

json_t *remove_file(json_t *path) {
    return json_pack("{s:s, s:s, s:o}", "do", "remove_file", "on", "host", "path", path);
}

json_t *step(const char *say, json_t *action, json_t *undo) {
    if (json_object_set_new(action, "say", json_string(say)) != 0 ||
        (undo != NULL && json_object_set_new(action, "undo", undo) != 0)) {
        json_decref(action);
        return NULL;
    }
    return action;
}

const char *printed(const struct request *request) {
    json_t *exec = json_object_get(json_array_get(request->results, 0), "exec");
    return json_string_value(json_object_get(exec, "stdout"));
}

static json_t *answer_any(const uint8_t *bytes, size_t length) {
    struct request request = {0};
    json_int_t version = 0;
    json_t *root = json_loadb((const char *)bytes, length, JSON_ALLOW_NUL, NULL);
    json_t *reply;
    if (json_unpack(root, "{s:I, s:s, s:s, s:o, s:o, s?o, s?o}", "v", &version, "op", &request.op, "offer",
                    &request.offer, "options", &request.options, "input", &request.input, "state",
                    &request.state, "results", &request.results) != 0 ||
        !json_is_object(request.options) || !json_is_object(request.input))
        reply = refuse("the request is not one of envelope version 1");
    else if (version != ENVELOPE_VERSION)
        reply = refuse("the request is of another envelope version than 1");
    else
        reply = answer(&request);
    json_decref(root);
    return reply;
}

static int32_t call(const uint8_t *request, size_t length, crossvisor_write_fn write, void *sink) {
    json_t *reply = answer_any(request, length);
    char *text = json_dumps(reply, JSON_COMPACT);
    int32_t code = CROSSVISOR_CALL_INTERNAL;
    if (text != NULL)
        code = write(sink, (const uint8_t *)text, strlen(text)) == 0 ? CROSSVISOR_CALL_OK : CROSSVISOR_CALL_SINK;
    free(text);
    json_decref(reply);
    return code;
}

/* Filled at every call with the same values: several threads may do it at once. */
const struct crossvisor_plugin_v1 *descriptor(void) {
    static struct crossvisor_plugin_v1 plugin = {
        .magic = CROSSVISOR_PLUGIN_MAGIC,
        .struct_size = sizeof(struct crossvisor_plugin_v1),
        .abi_major = CROSSVISOR_PLUGIN_ABI_MAJOR,
        .abi_minor = CROSSVISOR_PLUGIN_ABI_MINOR,
        .manifest_json = (const uint8_t *)manifest,
        .call = call,
    };
    plugin.manifest_length = strlen(manifest);
    return &plugin;
}
