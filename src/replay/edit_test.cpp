#include "replay/edit.h"

#include <gtest/gtest.h>
