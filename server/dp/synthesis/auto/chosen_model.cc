#include "dp/synthesis/auto/chosen_model.h"

#include <algorithm>
#include <utility>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::dp {
namespace {

constexpr std::string_view kChosenTag = "curator.chosen_model";
constexpr int64_t kChosenVersion = 1;

// A stored model, still in the bytes of the method that made it.
struct StoredChoice {
  const Synthesizer* method = nullptr;
  std::string why;
  std::string model;
};

absl::StatusOr<StoredChoice> ReadChoice(std::string_view bytes, std::span<const Synthesizer* const> methods) {
  CanonicalReader reader(bytes, kChosenTag, kChosenVersion);
  const std::string name = reader.Text();
  StoredChoice read{.why = reader.Text(), .model = reader.Text()};
  RETURN_IF_ERROR(reader.Finish());
  const auto method = std::ranges::find(methods, name, &Synthesizer::name);
  if (method == methods.end()) return absl::DataLossError("the model is of no method that could be chosen");
  read.method = *method;
  return read;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SynthesisModel>> ChosenModel::Restore(
    const Domain& domain, std::string_view bytes, std::span<const Synthesizer* const> methods, Pacer& pacer) {
  ASSIGN_OR_RETURN(StoredChoice read, ReadChoice(bytes, methods));
  ASSIGN_OR_RETURN(std::unique_ptr<SynthesisModel> model,
                   read.method->RestoreWith(domain, read.model, pacer));
  return std::make_unique<ChosenModel>(std::string(read.method->name()), std::move(read.why),
                                       std::move(model));
}

absl::StatusOr<int64_t> ChosenModel::ReadingBytes(const Domain& domain, std::string_view bytes,
                                                  std::span<const Synthesizer* const> methods) {
  ASSIGN_OR_RETURN(const StoredChoice read, ReadChoice(bytes, methods));
  ASSIGN_OR_RETURN(const int64_t reading, read.method->ReadingBytes(domain, read.model));
  // The bytes of the model are copied out of ours.
  return reading + std::ssize(bytes);
}

std::string ChosenModel::Serialize() const {
  CanonicalWriter writer(kChosenTag, kChosenVersion);
  writer.Text(method_);
  writer.Text(why_);
  writer.Text(model_->Serialize());
  return std::move(writer).Take();
}

std::vector<std::string> ChosenModel::Transcript() const {
  std::vector<std::string> lines = {why_};
  for (std::string& line : model_->Transcript()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace curator::dp
