#include "analysis/source_line.h"

#include <gtest/gtest.h>
