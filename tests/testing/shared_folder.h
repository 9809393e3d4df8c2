// Where the reference values and the real data lie: the folder that the environment variable CURATOR_SHARED
// names, ../shared beside the repository otherwise.
#pragma once

#include <string>

namespace curator::shared {

// The path of `name` ("vectors/discrete_noise.json") in that folder, whether or not it exists.
std::string PathOf(const std::string& name);

bool Has(const std::string& name);

// Whether a test of what this machine lacks may be skipped: not where the environment variable CI is set.
bool MaySkip();

}  // namespace curator::shared

// Ends the test when `name` is absent: as skipped on a developer's machine, as failed in continuous
// integration.
#define REQUIRE_SHARED(name)                                                                       \
  do {                                                                                             \
    if (!curator::shared::Has(name)) {                                                             \
      if (curator::shared::MaySkip()) GTEST_SKIP() << "absent: " << curator::shared::PathOf(name); \
      GTEST_FAIL() << "absent: " << curator::shared::PathOf(name) << " (set CURATOR_SHARED)";      \
    }                                                                                              \
  } while (false)
