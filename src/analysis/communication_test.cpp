#include "analysis/communication.h"

#include <gtest/gtest.h>
