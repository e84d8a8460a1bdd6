/* Has another magic number. */
#include "frame.h"

CALL {
    UNUSED;
    return CROSSVISOR_CALL_OK;
}
PLUGIN(7, CROSSVISOR_PLUGIN_ABI_MAJOR)
