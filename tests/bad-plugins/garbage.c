/* Replies with something that is not JSON. */
#include "frame.h"

CALL {
    (void)request, (void)length;
    return say("\x01\x02 hello", write_reply, sink);
}
GOOD_PLUGIN
