#include "client/sql/translate.h"

#include <gtest/gtest.h>
