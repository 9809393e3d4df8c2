// Records of a model, at hand by their response: what is joined to a synthetic response.
//
// Not thread-safe while drawn from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/noise/bit_source.h"
#include "dp/synthesis/nested/response_law.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class JoinedRecords {
 public:
  // Some records of `model`, which covers `response`: at most about as many as `rows`, and no more than
  // memory for 2^22 codes holds. Errors: the model's own.
  static absl::StatusOr<JoinedRecords> Draw(const SynthesisModel& model, uint32_t response, int64_t rows,
                                            BitSource& bits);

  // One of the records with this response, or with the nearest that there is. Codes of all attributes of the
  // model; they stay valid while it lives.
  std::span<const uint32_t> Like(uint32_t response, UniformDoubles& uniform) const;

 private:
  JoinedRecords() = default;

  size_t width_ = 1;
  std::vector<uint32_t> codes_;      // record by record, by rising response
  std::vector<uint32_t> responses_;  // of each record
};

}  // namespace curator::dp
