/* Ends its process when it is opened. */
#include "frame.h"

__attribute__((constructor)) static void leave(void) { _exit(0); }

CALL {
    UNUSED;
    return CROSSVISOR_CALL_OK;
}
GOOD_PLUGIN
