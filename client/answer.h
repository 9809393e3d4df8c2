// An answer, and its assembly from the chunks of a stream.
//
// Thread-safe: plain values; AnswerAssembler belongs to one stream and one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "curator/v1/query.pb.h"

namespace curator {

// The numbers of one marginal or query set, in order. Exactly one of the two vectors has them: `counts`
// (noisy measurements or sums of them; may be negative), or `estimates` (from a model, by least squares, or
// after post-processing; in counts).
struct AnswerValues {
  std::vector<int64_t> counts;
  std::vector<double> estimates;
  // The standard deviation of the noise in each number, and the half width of its interval at the stated
  // level. As many as numbers; empty where the header's noise is that of each number, or where the errors are
  // unknown.
  std::vector<double> standard_deviations;
  std::vector<double> confidence_half_widths;
  // Of statistics and of post-processed numbers, instead of half widths: the ends of each one's interval,
  // those of statistics may be infinite. As many as numbers, or none. A statistic that is no number, as the
  // mean of an empty group, is NaN in `estimates`.
  std::vector<double> interval_lows;
  std::vector<double> interval_highs;

  size_t size() const { return counts.empty() ? estimates.size() : counts.size(); }
};

// A marginal; the cells are in the order of the header, in which the last attribute varies fastest.
struct Marginal : AnswerValues {
  v1::MarginalHeader header;

  size_t cells() const { return size(); }
};

// The answers of a query set of another class.
struct QuerySetAnswer : AnswerValues {
  v1::QuerySetHeader header;
  // Row by row: for each answer one text for each of the header's columns.
  std::vector<std::string> labels;
};

struct Answer {
  v1::AnswerHeader header;
  std::vector<Marginal> marginals;
  std::vector<QuerySetAnswer> query_sets;
};

namespace client {

// Takes the chunks of one stream in order. DATA_LOSS for a chunk that does not fit the earlier ones, and when
// the stream ends early: an incomplete answer is never returned.
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

  enum class Open { kNothing, kMarginal, kQuerySet };  // the table whose numbers are expected

  bool has_header_ = false;
  Answer answer_;
  Open open_ = Open::kNothing;
  int64_t expected_ = 0;  // numbers of that table
};

}  // namespace client
}  // namespace curator
