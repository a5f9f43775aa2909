#include "replay/step_graph.h"

#include <gtest/gtest.h>
