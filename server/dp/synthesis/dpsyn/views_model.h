// A synthetic population as consistent views, and, where they were made, records that match them.
//
// Stored are the views' cells (8 bytes each), and the records, each attribute in as few bits as its size
// needs. Records are stored rather than made again, because making them takes far longer than reading them.
// Immutable and thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/dpsyn/record_table.h"
#include "dp/synthesis/dpsyn/view_sampler.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// The source of a marginal's counts.
enum class AnswerFrom {
  kRecords,       // their counts
  kEntropy,       // the table of the largest entropy that agrees with all views
  kLeastSquares,  // the table of the least sum of squares that does
};

struct ViewsModelParts {
  AttributeSet attributes;
  int64_t records = 1;
  AnswerFrom answers = AnswerFrom::kEntropy;
  std::vector<ViewTable> views;  // each attribute in one of them
  std::optional<RecordTable> table;
  std::vector<std::string> transcript;
};

// No answer has more cells.
inline constexpr int64_t kMostAnswerCells = int64_t{1} << 24;

class ViewsModel : public SynthesisModel {
 public:
  // Errors: INVALID_ARGUMENT for parts that do not fit `domain` or each other.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Create(const Domain& domain, ViewsModelParts parts);

  // The model that Serialize() wrote. Errors: DATA_LOSS for anything else.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain,
                                                                 std::string_view bytes);

  // As Synthesizer::ReadingBytes().
  static absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes);

  int64_t records() const override { return parts_.records; }
  const AttributeSet& attributes() const override { return parts_.attributes; }
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override;
  int64_t MarginalSteps(const AttributeSet& set) const override;

  // Of the views that hold the set, combined by inverse variance, as MakeConsistent() averages them. Absent
  // for a set that no view holds: noise of different views adds up in its reconstruction in ways that depend
  // on the counts. Estimators that shrink views towards expectations (estimate_views.h) leave less noise than
  // this, and an error of their own.
  absl::StatusOr<std::optional<double>> CellNoise(const AttributeSet& set) const override;

  // Without stored records, independent draws from the views (view_sampler.h). Stored records are sampled
  // in a random order, each once before any is repeated, so that a sample of records() rows has
  // the views' marginals without an error of sampling.
  absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const override;

  std::string Serialize() const override;
  std::vector<std::string> Transcript() const override { return parts_.transcript; }

 private:
  ViewsModel(const Domain& domain, ViewsModelParts parts);

  absl::Status CheckCovered(const AttributeSet& set) const;
  std::vector<double> CountsOf(const AttributeSet& set) const;
  absl::Status Deal(BitSource& bits, int64_t rows, const RecordSink& sink) const;

  Domain domain_;
  ViewsModelParts parts_;
};

// The stored bytes of a views model.
std::string EncodeViewsModel(const ViewsModelParts& parts);

// Errors: DATA_LOSS for other bytes, or another domain.
absl::StatusOr<ViewsModelParts> DecodeViewsModel(const Domain& domain, std::string_view bytes);

}  // namespace curator::dp
