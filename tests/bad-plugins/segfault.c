/* Reads what is not there. */
#include "frame.h"

CALL {
    UNUSED;
    return *(volatile int32_t *)8;
}
GOOD_PLUGIN
