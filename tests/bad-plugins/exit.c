/* Ends its process in a call. */
#include "frame.h"

CALL {
    UNUSED;
    exit(3);
}
GOOD_PLUGIN
