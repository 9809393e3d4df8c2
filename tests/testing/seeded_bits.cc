#include "tests/testing/seeded_bits.h"

namespace curator::seeded {

dp::DrawKey SeededKey(uint64_t seed) {
  dp::DrawKey::Bytes bytes{};
  for (int i = 0; i < 8; ++i) bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(seed >> (8 * i));
  return dp::DrawKey(bytes);
}

void ScriptedBits::Fill(std::span<uint64_t> words) {
  for (uint64_t& word : words) {
    if (taken_ < script_.size()) {
      word = script_[taken_];
    } else {
      rest_.Fill(std::span(&word, 1));
    }
    ++taken_;
  }
}

}  // namespace curator::seeded
