#include "client/answer.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace curator::client {
namespace {

absl::Status Malformed(const std::string& what) {
  return absl::DataLossError("the answer cannot be read: " + what);
}

// The product of the sizes; DATA_LOSS when one is not positive or the product exceeds 64 bits.
absl::StatusOr<int64_t> CellsOf(const v1::MarginalHeader& header) {
  int64_t cells = 1;
  for (const int64_t size : header.sizes()) {
    if (size < 1 || cells > std::numeric_limits<int64_t>::max() / size)
      return Malformed("a marginal's sizes are wrong");
    cells *= size;
  }
  return cells;
}

// Appends the errors of `more` numbers, of which `have` came before: one for each, one for all of them, or
// none as before. False where it is none of these.
bool AppendErrors(const google::protobuf::RepeatedField<double>& errors, int64_t have, int64_t more,
                  std::vector<double>& all) {
  if (errors.empty()) return all.empty();
  if (static_cast<int64_t>(all.size()) != have) return false;
  if (errors.size() == more) {
    all.insert(all.end(), errors.begin(), errors.end());
    return true;
  }
  if (errors.size() == 1) all.insert(all.end(), static_cast<size_t>(more), errors[0]);
  return errors.size() == 1;
}

// Appends the intervals of the numbers of a slice, of which `before` came before: two ends for each number,
// or none as before. Neither end is NaN, and they are in order.
template <typename Slice>
absl::Status AppendIntervals(const Slice& slice, size_t before, AnswerValues& values) {
  const auto& lows = slice.interval_lows();
  const auto& highs = slice.interval_highs();
  if (lows.empty() && highs.empty()) {
    if (values.interval_lows.empty() || values.size() == before) return absl::OkStatus();
    return Malformed("intervals of some numbers only");
  }
  const size_t more = values.size() - before;
  if (static_cast<size_t>(lows.size()) != more || static_cast<size_t>(highs.size()) != more ||
      values.interval_lows.size() != before)
    return Malformed("intervals that are not those of the numbers beside them");
  for (int i = 0; i < lows.size(); ++i)
    if (!(lows[i] <= highs[i])) return Malformed("an interval without ends, or with its ends the wrong way");
  values.interval_lows.insert(values.interval_lows.end(), lows.begin(), lows.end());
  values.interval_highs.insert(values.interval_highs.end(), highs.begin(), highs.end());
  return absl::OkStatus();
}

}  // namespace

absl::Status AnswerAssembler::Add(v1::AnswerChunk chunk) {
  if (chunk.part_case() == v1::AnswerChunk::kHeader) {
    if (has_header_) return Malformed("two headers");
    has_header_ = true;
    answer_.header = std::move(*chunk.mutable_header());
    return absl::OkStatus();
  }
  if (!has_header_) return Malformed("it does not start with its header");
  switch (chunk.part_case()) {
    case v1::AnswerChunk::kMarginal:
      return StartMarginal(std::move(*chunk.mutable_marginal()));
    case v1::AnswerChunk::kCells:
      return AddCells(chunk.cells());
    case v1::AnswerChunk::kQuerySet:
      return StartQuerySet(std::move(*chunk.mutable_query_set()));
    case v1::AnswerChunk::kAnswers:
      return AddAnswers(chunk.answers());
    default:
      return Malformed("a part of an unknown kind");
  }
}

absl::Status AnswerAssembler::StartMarginal(v1::MarginalHeader header) {
  if (absl::Status status = CheckLastIsComplete(); !status.ok()) return status;
  if (header.attributes_size() != header.sizes_size())
    return Malformed("a marginal has as many sizes as attributes");
  const absl::StatusOr<int64_t> cells = CellsOf(header);
  if (!cells.ok()) return cells.status();
  open_ = Open::kMarginal;
  expected_ = *cells;
  answer_.marginals.emplace_back().header = std::move(header);
  return absl::OkStatus();
}

absl::Status AnswerAssembler::StartQuerySet(v1::QuerySetHeader header) {
  if (absl::Status status = CheckLastIsComplete(); !status.ok()) return status;
  if (header.answer_count() < 0) return Malformed("a query set has a negative number of answers");
  open_ = Open::kQuerySet;
  expected_ = header.answer_count();
  answer_.query_sets.emplace_back().header = std::move(header);
  return absl::OkStatus();
}

absl::Status AnswerAssembler::AddCells(const v1::CellSlice& cells) {
  if (open_ != Open::kMarginal) return Malformed("cells before their marginal");
  return AddValues(cells, answer_.marginals.back());
}

absl::Status AnswerAssembler::AddAnswers(const v1::AnswerSlice& slice) {
  if (open_ != Open::kQuerySet) return Malformed("answers before their query set");
  QuerySetAnswer& set = answer_.query_sets.back();
  const size_t before = set.size();
  if (absl::Status status = AddValues(slice, set); !status.ok()) return status;
  const size_t columns = static_cast<size_t>(set.header.columns_size());
  if (static_cast<size_t>(slice.labels_size()) != columns * (set.size() - before))
    return Malformed("answers without the labels of their queries");
  set.labels.insert(set.labels.end(), slice.labels().begin(), slice.labels().end());
  return absl::OkStatus();
}

template <typename Slice>
absl::Status AnswerAssembler::AddValues(const Slice& slice, AnswerValues& values) const {
  const bool measured = slice.counts_size() > 0;
  if (measured && (slice.estimates_size() > 0 || !values.estimates.empty()))
    return Malformed("counts and estimates are mixed");
  if (!measured && !values.counts.empty()) return Malformed("counts and estimates are mixed");
  const int64_t have = static_cast<int64_t>(values.size());
  const int64_t more = measured ? slice.counts_size() : slice.estimates_size();
  if (slice.offset() != have)
    return Malformed(absl::StrCat("numbers from ", slice.offset(), " on follow number ", have));
  if (more > expected_ - have) return Malformed("more numbers than were announced");
  values.counts.insert(values.counts.end(), slice.counts().begin(), slice.counts().end());
  values.estimates.insert(values.estimates.end(), slice.estimates().begin(), slice.estimates().end());
  if (!AppendErrors(slice.standard_deviations(), have, more, values.standard_deviations) ||
      !AppendErrors(slice.confidence_half_widths(), have, more, values.confidence_half_widths))
    return Malformed("errors that are not those of the numbers beside them");
  return AppendIntervals(slice, static_cast<size_t>(have), values);
}

absl::Status AnswerAssembler::CheckLastIsComplete() const {
  if (open_ == Open::kNothing) return absl::OkStatus();
  const size_t have =
      open_ == Open::kMarginal ? answer_.marginals.back().size() : answer_.query_sets.back().size();
  if (static_cast<int64_t>(have) == expected_) return absl::OkStatus();
  return Malformed(absl::StrCat(have, " of ", expected_, " numbers have come"));
}

absl::StatusOr<Answer> AnswerAssembler::Finish() {
  if (!has_header_) return Malformed("it is empty");
  if (absl::Status status = CheckLastIsComplete(); !status.ok()) return status;
  const auto check = [](size_t have, int announced, const char* what) {
    if (have == static_cast<size_t>(announced)) return absl::OkStatus();
    return Malformed(absl::StrCat("it has ", have, " of its ", announced, " ", what));
  };
  absl::Status status = check(answer_.marginals.size(), answer_.header.marginal_count(), "marginals");
  status.Update(check(answer_.query_sets.size(), answer_.header.query_set_count(), "query sets"));
  if (!status.ok()) return status;
  return std::move(answer_);
}

}  // namespace curator::client
