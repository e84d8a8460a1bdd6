/* Aborts in a call, as a panic does that nobody catches. */
#include "frame.h"
#include <stdio.h>

CALL {
    UNUSED;
    fputs("assertion failed: volume is good\n", stderr);
    abort();
}
GOOD_PLUGIN
