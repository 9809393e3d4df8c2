// An answer put together from the chunks in which it arrives.
//
// Thread-safe: values and one class that belongs to one stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "curator/v1/query.pb.h"

namespace curator {

// The numbers of one marginal or query set, in their order. Either `counts` (measured with noise, or sums of
// such, may be negative) or `estimates` (from a model, by least squares, or after post-processing; in counts)
// has all of them, the other none.
struct AnswerValues {
  std::vector<int64_t> counts;
  std::vector<double> estimates;
  // Of the noise in each, and the half width of its interval at the stated level. As many as there are
  // numbers, or none where the header's noise is that of each number, or where nothing is known.
  std::vector<double> standard_deviations;
  std::vector<double> confidence_half_widths;

  size_t size() const { return counts.empty() ? estimates.size() : counts.size(); }
};

// The cells in the order of the header: the last attribute varies fastest.
struct Marginal : AnswerValues {
  v1::MarginalHeader header;

  size_t cells() const { return size(); }
};

// The answers to the questions of another class.
struct QuerySetAnswer : AnswerValues {
  v1::QuerySetHeader header;
  // For each answer one text for each of the header's columns, answer by answer.
  std::vector<std::string> labels;
};

struct Answer {
  v1::AnswerHeader header;
  std::vector<Marginal> marginals;
  std::vector<QuerySetAnswer> query_sets;
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
  absl::Status StartQuerySet(v1::QuerySetHeader header);
  absl::Status AddCells(const v1::CellSlice& cells);
  absl::Status AddAnswers(const v1::AnswerSlice& slice);
  template <typename Slice>
  absl::Status AddValues(const Slice& slice, AnswerValues& values) const;
  absl::Status CheckLastIsComplete() const;

  enum class Open { kNothing, kMarginal, kQuerySet };  // what came last

  bool has_header_ = false;
  Answer answer_;
  Open open_ = Open::kNothing;
  int64_t expected_ = 0;  // numbers of what came last
};

}  // namespace client
}  // namespace curator
