/* Hangs when it is opened. */
#include "frame.h"

__attribute__((constructor)) static void hang(void) {
    for (;;)
        pause();
}

CALL {
    UNUSED;
    return CROSSVISOR_CALL_OK;
}
GOOD_PLUGIN
