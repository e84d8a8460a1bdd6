/* Never returns from a call. */
#include "frame.h"

CALL {
    UNUSED;
    for (;;)
        pause();
}
GOOD_PLUGIN
