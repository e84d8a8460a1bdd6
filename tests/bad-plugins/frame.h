/* What the bad plugins in C share: a plugin storage-bad that is good but for the function it is given.
   Compile each with: cc -shared -fPIC -I core/plugin/include -o libcrossvisor_storage_bad.so FILE.c */
#include "crossvisor_plugin.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANIFEST "{\"name\":\"storage-bad\",\"version\":\"1.0\",\"kind\":\"storage\",\"summary\":\"a bad plugin\"," \
                 "\"offers\":[{\"name\":\"bad\",\"summary\":\"nothing good\"}]}"

#define CALL static int32_t call(const uint8_t *request, size_t length, crossvisor_write_fn write_reply, void *sink)
#define UNUSED (void)request, (void)length, (void)write_reply, (void)sink

static inline int32_t say(const char *text, crossvisor_write_fn write_reply, void *sink) {
    return write_reply(sink, (const uint8_t *)text, strlen(text)) ? CROSSVISOR_CALL_SINK : CROSSVISOR_CALL_OK;
}

#define PLUGIN(MAGIC, ABI) \
    const struct crossvisor_plugin_v1 *crossvisor_plugin_v1_storage_bad(void) { \
        static struct crossvisor_plugin_v1 plugin; \
        plugin.magic = MAGIC; \
        plugin.struct_size = sizeof plugin; \
        plugin.abi_major = ABI; \
        plugin.manifest_json = (const uint8_t *)MANIFEST; \
        plugin.manifest_length = strlen(MANIFEST); \
        plugin.call = call; \
        return &plugin; \
    }
#define GOOD_PLUGIN PLUGIN(CROSSVISOR_PLUGIN_MAGIC, CROSSVISOR_PLUGIN_ABI_MAJOR)
