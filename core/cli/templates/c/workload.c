/* A workload plugin: copies bytes in memory with dd and reads the rate it prints. It runs nothing itself. */
#include "envelope.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char manifest[] =
    "{\"name\": \"@name@\", \"version\": \"0.1.0\", \"kind\": \"workload\","
    " \"summary\": \"bytes copied in memory\","
    " \"offers\": [{"
    "   \"name\": \"@offer@\", \"summary\": \"dd from /dev/zero to /dev/null\","
    "   \"options\": [{\"name\": \"size\", \"type\": \"size\", \"min\": 1048576, \"max\": 1099511627776,"
    "                  \"default\": 1073741824, \"help\": \"how much is copied\"}],"
    "   \"metrics\": [{\"name\": \"rate\", \"label\": \"bytes copied\", \"unit\": \"MiB/s\", \"better\": \"higher\","
    "                  \"headline\": true}],"
    "   \"guest_programs\": [\"dd\"]}]}";

#define MIB 1048576.0

/* One run of dd for an instance, at its place. */
static json_t *copy(json_t *instance, json_int_t mib) {
    json_t *place = json_incref(json_object_get(instance, "place"));
    json_t *argv = json_pack("[s, s, s, s, o]", "dd", "if=/dev/zero", "of=/dev/null", "bs=1M",
                             json_sprintf("count=%lld", (long long)mib));
    return run(place, argv, 3600);
}

static json_t *work(const struct request *request) {
    json_t *instances = json_object_get(request->input, "instances"), *instance;
    json_int_t size = json_integer_value(json_object_get(request->options, "size"));
    size_t index;
    if (json_array_size(instances) == 0)
        return refuse("the input of 'work' has no instances");
    json_t *runs = json_array();
    json_array_foreach(instances, index, instance) {
        json_t *one = copy(instance, size / (json_int_t)MIB);
        json_object_del(one, "do"); /* a run is a program, not an action of its own */
        json_array_append_new(runs, one);
    }
    json_t *together = json_pack("{s:s, s:s, s:[], s:o}", "do", "together", "round", "copy", "servers", "runs", runs);
    return finish(json_pack("[o]", step("copy bytes", together, NULL)), json_null());
}

/* The line `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.25 s, 4.3 GB/s`; 0 where there is none. */
static double rate(const char *text) {
    const char *copied = strstr(text, " copied, ");
    const char *line = copied;
    double bytes, seconds;
    if (copied == NULL)
        return 0;
    while (line > text && line[-1] != '\n')
        line--;
    if (sscanf(line, "%lf bytes", &bytes) != 1 || sscanf(copied, " copied, %lf s", &seconds) != 1 || seconds <= 0)
        return 0;
    return bytes / seconds / MIB;
}

static json_t *parse(const struct request *request) {
    const char *text = json_string_value(json_object_get(request->input, "stderr"));
    json_t *exit = json_object_get(request->input, "exit");
    double value = text == NULL ? 0 : rate(text);
    if (!json_is_integer(exit) || json_integer_value(exit) != 0)
        return refuse("dd failed: what it said is in the run directory");
    if (value <= 0)
        return refuse("dd printed no rate: what it said is in the run directory");
    return finish(json_array(), json_pack("{s:[{s:s, s:f}]}", "samples", "metric", "rate", "measured", value));
}

json_t *answer(const struct request *request) {
    if (strcmp(request->offer, "@offer@") != 0)
        return refuse("@name@ has no such offer");
    if (strcmp(request->op, "prepare") == 0 && json_is_array(json_object_get(request->input, "instances")))
        return finish(json_array(), json_null());
    if (strcmp(request->op, "work") == 0)
        return work(request);
    if (strcmp(request->op, "parse") == 0)
        return parse(request);
    return refuse("this operation is not one of a workload plugin");
}

EXPORTED const struct crossvisor_plugin_v1 *crossvisor_plugin_v1_@stem@(void) { return descriptor(); }
