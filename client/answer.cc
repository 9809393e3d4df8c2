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
    default:
      return Malformed("a part of an unknown kind");
  }
}

absl::Status AnswerAssembler::StartMarginal(v1::MarginalHeader header) {
  if (absl::Status status = CheckLastMarginalIsComplete(); !status.ok()) return status;
  if (header.attributes_size() != header.sizes_size())
    return Malformed("a marginal has as many sizes as attributes");
  const absl::StatusOr<int64_t> cells = CellsOf(header);
  if (!cells.ok()) return cells.status();
  expected_cells_ = *cells;
  answer_.marginals.push_back({std::move(header), {}, {}});
  return absl::OkStatus();
}

absl::Status AnswerAssembler::AddCells(const v1::CellSlice& cells) {
  if (answer_.marginals.empty()) return Malformed("cells before their marginal");
  Marginal& marginal = answer_.marginals.back();
  const bool measured = cells.counts_size() > 0;
  if (measured && (cells.estimates_size() > 0 || !marginal.estimates.empty())) {
    return Malformed("a marginal mixes counts and estimates");
  }
  if (!measured && !marginal.counts.empty()) return Malformed("a marginal mixes counts and estimates");
  const int64_t have = static_cast<int64_t>(marginal.cells());
  const int64_t more = measured ? cells.counts_size() : cells.estimates_size();
  if (cells.offset() != have)
    return Malformed(absl::StrCat("cells from ", cells.offset(), " on follow cell ", have));
  if (more > expected_cells_ - have) return Malformed("a marginal has more cells than its sizes say");
  marginal.counts.insert(marginal.counts.end(), cells.counts().begin(), cells.counts().end());
  marginal.estimates.insert(marginal.estimates.end(), cells.estimates().begin(), cells.estimates().end());
  return absl::OkStatus();
}

absl::Status AnswerAssembler::CheckLastMarginalIsComplete() const {
  if (answer_.marginals.empty()) return absl::OkStatus();
  const int64_t have = static_cast<int64_t>(answer_.marginals.back().cells());
  if (have == expected_cells_) return absl::OkStatus();
  return Malformed(absl::StrCat("a marginal has ", have, " of its ", expected_cells_, " cells"));
}

absl::StatusOr<Answer> AnswerAssembler::Finish() {
  if (!has_header_) return Malformed("it is empty");
  if (absl::Status status = CheckLastMarginalIsComplete(); !status.ok()) return status;
  const size_t announced = static_cast<size_t>(answer_.header.marginal_count());
  if (answer_.marginals.size() != announced) {
    return Malformed(absl::StrCat("it has ", answer_.marginals.size(), " of its ", announced, " marginals"));
  }
  return std::move(answer_);
}

}  // namespace curator::client
