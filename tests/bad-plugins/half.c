/* Writes half a reply past the sink, closes every pipe and stays. */
#include "frame.h"

CALL {
    UNUSED;
    for (int descriptor = 3; descriptor < 64; descriptor++) {
        ssize_t ignored = write(descriptor, "\0\0\0", 3);
        (void)ignored;
    }
    for (int descriptor = 0; descriptor < 64; descriptor++)
        close(descriptor);
    for (;;)
        pause();
}
GOOD_PLUGIN
