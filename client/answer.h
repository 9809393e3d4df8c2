// An answer put together from the chunks in which it arrives.
//
// Thread-safe: values and one class that belongs to one stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "curator/v1/query.pb.h"

namespace curator {

// The cells of one marginal in the order of its header: the last attribute varies fastest. Either `counts`
// (measured with noise, may be negative) or `estimates` (from a model, in counts) has all cells, the other
// none.
struct Marginal {
  v1::MarginalHeader header;
  std::vector<int64_t> counts;
  std::vector<double> estimates;

  size_t cells() const { return counts.empty() ? estimates.size() : counts.size(); }
};

struct Answer {
  v1::AnswerHeader header;
  std::vector<Marginal> marginals;
};

namespace client {

// Takes the chunks of one stream in order. Any chunk that does not fit what came before, and an end before
// everything has arrived, is DATA_LOSS: an incomplete answer is never handed out.
class AnswerAssembler {
 public:
  absl::Status Add(v1::AnswerChunk chunk);

  // The whole answer. Call once, at the end of the stream.
  absl::StatusOr<Answer> Finish();

 private:
  absl::Status StartMarginal(v1::MarginalHeader header);
  absl::Status AddCells(const v1::CellSlice& cells);
  absl::Status CheckLastMarginalIsComplete() const;

  bool has_header_ = false;
  Answer answer_;
  int64_t expected_cells_ = 0;  // of the last marginal
};

}  // namespace client
}  // namespace curator
