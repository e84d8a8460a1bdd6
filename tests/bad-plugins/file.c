/* Writes to a file, which no plugin may. */
#include "frame.h"
#include <stdio.h>

CALL {
    UNUSED;
    FILE *file = tmpfile();
    if (!file)
        exit(4);
    fputs("x", file);
    fclose(file);
    exit(5);
}
GOOD_PLUGIN
