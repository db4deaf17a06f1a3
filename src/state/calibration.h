/* Wrong calibration: what the map believes about a camera that hangs elsewhere. */
#ifndef BEV_CALIBRATION_H
#define BEV_CALIBRATION_H

#include "src/scene/geometry.h"
#include "src/state/state.h"

/* Turns the camera by yaw about the ego's z axis and by pitch about its own right axis (up is
 * positive), and lifts it. */
void camera_bend(Camera *camera, const CameraError *error);

/* What is wrong with a camera of the job: ", dirty, yaw +3.0 deg"; "" and false where all is well.
 */
bool camera_faults(const Job *job, int camera, char *text, size_t size);

bool camera_error_is_zero(const CameraError *error);

#endif
