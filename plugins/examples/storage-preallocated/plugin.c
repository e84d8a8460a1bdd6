/* Backing `preallocated`: a raw file whose blocks are all allocated before the image is copied into it, so that no
 * write of the guest has to wait for the host's file system to find room. It runs nothing itself. */
#include "envelope.h"

#include <stdlib.h>
#include <string.h>

const char manifest[] =
    "{\"name\": \"storage-preallocated\", \"version\": \"1.0.0\", \"kind\": \"storage\","
    " \"summary\": \"volumes that are files with all blocks allocated\","
    " \"offers\": [{"
    "   \"name\": \"preallocated\", \"summary\": \"a raw file, allocated by fallocate, then filled\","
    "   \"options\": ["
    "     {\"name\": \"cache\", \"type\": \"choice\","
    "      \"of\": [\"none\", \"writeback\", \"writethrough\", \"directsync\", \"unsafe\"],"
    "      \"default\": \"none\", \"help\": \"host page cache mode of the disk\"},"
    "     {\"name\": \"fill\", \"type\": \"boolean\", \"default\": false,"
    "      \"help\": \"write the image's zeros as well, so that no block is left marked as unwritten\"}],"
    "   \"host_programs\": [\"fallocate\", \"dd\", \"stat\"]}]}";

#define FALLOCATE_TIMEOUT_S 300
#define COPY_TIMEOUT_S 1800
#define STAT_TIMEOUT_S 30

static json_t *on_host(json_t *argv, double timeout_s) { return run(json_string("host"), argv, timeout_s); }

static json_t *create(const struct request *request) {
    const char *golden, *folder, *name, *cache = "none";
    json_int_t bytes;
    int fill = 0;
    if (json_unpack(request->input, "{s:s, s:I, s:s, s:s}", "golden", &golden, "golden_bytes", &bytes, "folder",
                    &folder, "name", &name) != 0 ||
        json_unpack(request->options, "{s?s, s?b}", "cache", &cache, "fill", &fill) != 0)
        return refuse("the input of 'create' is not understood");
    json_t *path = json_sprintf("%s/%s.raw", folder, name);
    json_t *fallocate = json_pack("[s, s, o, s, O]", "fallocate", "--length",
                                  json_sprintf("%" JSON_INTEGER_FORMAT, bytes), "--", path);
    json_t *dd = json_pack("[s, o, o, s, s, s]", "dd", json_sprintf("if=%s", golden),
                           json_sprintf("of=%s", json_string_value(path)), "bs=1M",
                           fill ? "conv=notrunc,fsync" : "conv=notrunc,sparse,fsync", "status=none");
    json_t *steps = json_pack(
        "[o, o]",
        step("allocate the blocks", on_host(fallocate, FALLOCATE_TIMEOUT_S), remove_file(json_incref(path))),
        step("copy the image into them", on_host(dd, COPY_TIMEOUT_S), NULL));
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
    return go_on(step("read the volume's size", on_host(argv, STAT_TIMEOUT_S), NULL));
}

json_t *answer(const struct request *request) {
    if (strcmp(request->offer, "preallocated") != 0)
        return refuse("storage-preallocated has no such offer");
    if (strcmp(request->op, "create") == 0)
        return create(request);
    if (strcmp(request->op, "inspect") == 0)
        return inspect(request);
    return refuse("this operation is not one of a storage plugin");
}

EXPORTED const struct crossvisor_plugin_v1 *crossvisor_plugin_v1_storage_preallocated(void) { return descriptor(); }
