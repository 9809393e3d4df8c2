// Records of a joined model, from which those of synthetic groups take their other attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/attribute_set.h"
#include "dp/noise/bit_source.h"
#include "dp/synthesis/nested/uniform_doubles.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Immutable and thread-safe.
class JoinedRecords {
 public:
  // About `rows` records of `model`, which covers `response`, but no more than memory for 2^22 codes holds;
  // `description` are the attributes of groups, which it covers as well. Errors: the model's own.
  static absl::StatusOr<JoinedRecords> Draw(const SynthesisModel& model, uint32_t response,
                                            AttributeSet description, int64_t rows, BitSource& bits);

  // The records with one description, in the order of their responses.
  struct Alike {
    size_t first = 0;
    size_t last = 0;
  };

  // Those of a group with these codes of the description, or all where there are none.
  Alike Find(std::span<const uint32_t> description) const;

  // The codes of one of these records that has this response, or the nearest that there is; valid while the
  // object lives.
  std::span<const uint32_t> Like(const Alike& alike, uint32_t response, UniformDoubles& uniform) const;

  // Bytes that Draw() takes at most, of a model over `attributes` attributes, and the result.
  static int64_t Bytes(int64_t attributes, bool has_description);

 private:
  JoinedRecords() = default;

  std::span<const uint32_t> At(size_t record) const {
    return std::span(codes_).subspan(record * width_, width_);
  }
  void OrderByDescription();

  // Above or below another description, code by code.
  int Compare(size_t record, std::span<const uint32_t> description) const;

  size_t width_ = 1;
  std::vector<size_t> described_by_;  // positions in a record
  std::vector<uint32_t> codes_;       // record by record, by rising response
  std::vector<uint32_t> responses_;   // of each record
  std::vector<uint32_t> order_;       // of records by description, then response; empty without one
  std::vector<uint32_t> ordered_responses_;
};

}  // namespace curator::dp
