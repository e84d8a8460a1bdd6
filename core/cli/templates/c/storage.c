/* A storage plugin: a volume is a copy of the guest's image. It does nothing itself: it answers with steps. */
#include "envelope.h"

#include <stdlib.h>
#include <string.h>

const char manifest[] =
    "{\"name\": \"@name@\", \"version\": \"0.1.0\", \"kind\": \"storage\","
    " \"summary\": \"volumes that are copies of the guest's image\","
    " \"offers\": [{"
    "   \"name\": \"@offer@\", \"summary\": \"a sparse raw file\","
    "   \"options\": [{\"name\": \"cache\", \"type\": \"choice\", \"of\": [\"none\", \"writeback\"],"
    "                  \"default\": \"none\", \"help\": \"host page cache mode of the disk\"}],"
    "   \"host_programs\": [\"cp\", \"stat\"]}]}";

static json_t *on_host(json_t *argv, double timeout_s) { return run(json_string("host"), argv, timeout_s); }

static json_t *create(const struct request *request) {
    const char *golden, *folder, *name, *cache = "none";
    if (json_unpack(request->input, "{s:s, s:s, s:s}", "golden", &golden, "folder", &folder, "name", &name) != 0 ||
        json_unpack(request->options, "{s?s}", "cache", &cache) != 0)
        return refuse("the input of 'create' is not understood");
    json_t *path = json_sprintf("%s/%s.raw", folder, name);
    json_t *copy = json_pack("[s, s, s, s, O]", "cp", "--sparse=always", "--", golden, path);
    json_t *steps = json_pack("[o]", step("copy the image", on_host(copy, 600), remove_file(json_incref(path))));
    json_t *output = json_pack("{s:{s:{s:o}, s:s, s:s}}", "volume", "source", "file", path, "format", "raw",
                               "cache", cache);
    return finish(steps, output);
}

/* The bytes that `stat` printed as a number of blocks and the size of one; null where it printed something else. */
static json_t *allocated(const char *text) {
    char *rest, *end;
    unsigned long long blocks = strtoull(text, &rest, 10);
    unsigned long long size = strtoull(rest, &end, 10);
    if (rest == text || end == rest || strchr(text, '-') != NULL || strcmp(end, "\n") != 0 || size == 0 ||
        blocks > INT64_MAX / size)
        return json_null();
    return json_integer((json_int_t)(blocks * size));
}

static json_t *inspect(const struct request *request) {
    const char *path = NULL, *stat = printed(request);
    if (stat != NULL)
        return finish(json_array(), json_pack("{s:o}", "allocated_bytes", allocated(stat)));
    if (json_unpack(request->input, "{s:{s:{s:s}}}", "volume", "source", "file", &path) != 0)
        return refuse("the volume is not a file");
    json_t *argv = json_pack("[s, s, s, s]", "stat", "--format=%b %B", "--", path);
    return go_on(step("read the volume's size", on_host(argv, 30), NULL));
}

json_t *answer(const struct request *request) {
    if (strcmp(request->offer, "@offer@") != 0)
        return refuse("@name@ has no such offer");
    if (strcmp(request->op, "create") == 0)
        return create(request);
    if (strcmp(request->op, "inspect") == 0)
        return inspect(request);
    return refuse("this operation is not one of a storage plugin");
}

EXPORTED const struct crossvisor_plugin_v1 *crossvisor_plugin_v1_@stem@(void) { return descriptor(); }
