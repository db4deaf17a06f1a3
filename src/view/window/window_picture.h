/* What a live frame shows, decoded into pixels of one cell or one camera pixel each: the costly
 * half of a picture, independent of window, zoom and mouse. window_image.h draws it. */
#ifndef BEV_WINDOW_PICTURE_H
#define BEV_WINDOW_PICTURE_H

#include "src/view/bev/bev_picture.h"

typedef struct {
    uint64_t content; /* of the frame it was made from */
    int colormap;     /* position in the state's menu */
    int64_t channel;
    bool lock; /* the state asks for the range that was there before */
    Compare compare;
    Strip strip;
    uint64_t strip_content; /* of the frame: what its cameras see */
    BevPicture bev;
    int camera_count;
    Image cameras[RIG_MAX_CAMERAS]; /* the strip */
    ValueRange camera_range;        /* of a strip with a colour bar; else lo == hi */
} WindowPicture;

/* Decodes. `previous` (may be NULL) gives a locked range, and whatever is unchanged is not done
 * again: then true is returned with *same set and `picture` untouched. False with nothing to free:
 * an error; or given up between two steps, which leaves `err` as it is. */
bool window_picture(const State *state, const LiveData *live, const WindowPicture *previous,
                    const GiveUp *give_up, WindowPicture *picture, bool *same, Err *err);
void window_picture_free(WindowPicture *picture);

#endif
