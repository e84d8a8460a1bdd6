/* Is made for a version of the contract that is not there yet. */
#include "frame.h"

CALL {
    UNUSED;
    return CROSSVISOR_CALL_OK;
}
PLUGIN(CROSSVISOR_PLUGIN_MAGIC, 9)
