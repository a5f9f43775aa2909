#include "analysis/launch_queue.h"

#include <gtest/gtest.h>
