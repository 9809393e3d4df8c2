// A model that another method made, and which.
//
// Thread-safe, as every model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/noise/bit_source.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class ChosenModel : public SynthesisModel {
 public:
  // `model` is not null, `method` the name of what made it, `why` the first line of the transcript.
  ChosenModel(std::string method, std::string why, std::unique_ptr<SynthesisModel> model)
      : method_(std::move(method)), why_(std::move(why)), model_(std::move(model)) {}

  // The model that Serialize() wrote, which one of `methods` made. Errors: DATA_LOSS for anything else;
  // CANCELLED by the pacer.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain, std::string_view bytes,
                                                                 std::span<const Synthesizer* const> methods,
                                                                 Pacer& pacer);

  // As Synthesizer::ReadingBytes().
  static absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes,
                                              std::span<const Synthesizer* const> methods);

  int64_t records() const override { return model_->records(); }
  const AttributeSet& attributes() const override { return model_->attributes(); }
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override {
    return model_->Marginal(set);
  }
  int64_t MarginalSteps(const AttributeSet& set) const override { return model_->MarginalSteps(set); }
  absl::StatusOr<std::optional<double>> CellNoise(const AttributeSet& set) const override {
    return model_->CellNoise(set);
  }
  absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const override {
    return model_->Sample(bits, rows, sink);
  }
  bool DrawsGroups() const override { return model_->DrawsGroups(); }
  absl::Status SampleGroups(BitSource& bits, int64_t rows, const GroupedRecordSink& sink) const override {
    return model_->SampleGroups(bits, rows, sink);
  }
  std::string Serialize() const override;
  std::vector<std::string> Transcript() const override;

 private:
  std::string method_;
  std::string why_;
  std::unique_ptr<SynthesisModel> model_;
};

// What Serialize() adds to the bytes of the model, at most.
inline constexpr int64_t kMostBytesAroundAChosenModel = 1000;

}  // namespace curator::dp
