/* Takes memory without end. */
#include "frame.h"

CALL {
    UNUSED;
    for (;;) {
        char *more = malloc(64 << 20);
        if (!more)
            abort();
        memset(more, 1, 4096);
    }
}
GOOD_PLUGIN
