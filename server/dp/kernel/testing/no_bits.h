// A source of bits that must not be asked: for tests of what is refused before anything is drawn.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>

#include "dp/noise/bit_source.h"

namespace curator::dp {

class NoBits : public BitSource {
 public:
  void Fill(std::span<uint64_t>) override { ADD_FAILURE() << "noise was drawn"; }
};

}  // namespace curator::dp
