/* seaboard.h: all of the public interface. Each part can be included by itself as well. */
#ifndef SEABOARD_SEABOARD_H
#define SEABOARD_SEABOARD_H

#include "seaboard/checkpoint.h"
#include "seaboard/profile.h"
#include "seaboard/reader.h"
#include "seaboard/status.h"
#include "seaboard/train.h"
#include "seaboard/types.h"
#include "seaboard/version.h"
#include "seaboard/writer.h"

#endif
