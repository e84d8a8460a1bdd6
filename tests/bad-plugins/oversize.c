/* Replies with 100 MiB and does not care that the sink takes no more. */
#include "frame.h"

CALL {
    (void)request, (void)length;
    char *mib = calloc(1, 1 << 20);
    for (int i = 0; i < 100; i++)
        write_reply(sink, (const uint8_t *)mib, 1 << 20);
    free(mib);
    return CROSSVISOR_CALL_OK;
}
GOOD_PLUGIN
