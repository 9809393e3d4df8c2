#include "dp/synthesis/auto/auto.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/auto/auto_plan.h"
#include "dp/synthesis/auto/chosen_model.h"

namespace curator::dp {
namespace {

// The same steps whatever the method reports, of which the first is the choice.
class Steps {
 public:
  explicit Steps(const Progress& progress) : progress_(progress) {}
  void Reach(double share) {
    constexpr int kSteps = 10;
    while (reached_ < kSteps && share * kSteps >= reached_ + 1)
      progress_(static_cast<double>(++reached_) / kSteps);
  }

 private:
  const Progress& progress_;
  int reached_ = 0;
};

constexpr double kShareOfTheChoice = 0.1;

absl::StatusOr<std::unique_ptr<SynthesisModel>> FitBranch(const Branch& branch, std::string why,
                                                          PrivateQueries& kernel, Pacer& pacer,
                                                          Steps& steps) {
  steps.Reach(kShareOfTheChoice);
  ASSIGN_OR_RETURN(std::unique_ptr<SynthesisModel> model,
                   branch.method->Fit(branch.input, kernel, pacer, [&](double share) {
                     steps.Reach(kShareOfTheChoice + (1 - kShareOfTheChoice) * share);
                   }));
  steps.Reach(1);
  return std::make_unique<ChosenModel>(std::string(branch.method->name()), std::move(why), std::move(model));
}

}  // namespace

std::string_view Auto::summary() const {
  return "Counts the records, then chooses a method and its settings by their number and by public facts.";
}

int64_t Auto::version() const {
  int64_t version = 3;
  for (const Synthesizer* method : methods_) version += method->version() - 1;
  return version;
}

const std::vector<Setting>& Auto::settings() const {
  static const auto* const none = new std::vector<Setting>();
  return *none;
}

// One plan is made after the other, and of each is kept what it is drawn from.
int64_t Auto::PlanningBytes(const SynthesisInput& input) const {
  int64_t most = 0;
  for (const Synthesizer* method : methods_) {
    SynthesisInput of_method = input;
    of_method.settings.clear();
    most = std::max(most, method->PlanningBytes(of_method));
  }
  return 2 * most;
}

absl::StatusOr<SynthesisPlan> Auto::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  RETURN_IF_ERROR(pacer.Check());
  RETURN_IF_ERROR(SettingsReader(settings(), input.settings).Finish());
  if (!input.assume_records) return PlanOfBranches(input, methods_, pacer);
  ASSIGN_OR_RETURN(Branch branch, DeclaredBranch(input, methods_, pacer));
  branch.plan.settings.clear();
  branch.plan.schedule.insert(branch.plan.schedule.begin(),
                              absl::StrCat("method: ", std::string(branch.method->name())));
  return std::move(branch.plan);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Auto::Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                          Pacer& pacer, const Progress& progress) const {
  RETURN_IF_ERROR(pacer.Check());
  Steps steps(progress);
  if (input.assume_records) {
    ASSIGN_OR_RETURN(const Branch branch, DeclaredBranch(input, methods_, pacer));
    std::string why = absl::StrCat("by the declared number of records: ", std::string(branch.method->name()));
    return FitBranch(branch, std::move(why), kernel, pacer, steps);
  }
  ASSIGN_OR_RETURN(const CountFirst first, SplitOffCount(input));
  ASSIGN_OR_RETURN(const int64_t noisy, kernel.NoisyRecordCount(first.noise));
  const int64_t records = RoundedRecords(noisy - static_cast<int64_t>(DeviationForFit(first.noise)));
  ASSIGN_OR_RETURN(const Branch branch, BranchFor(input, first.rest, records, methods_, pacer));
  RETURN_IF_ERROR(kernel.SpendAs(branch.plan.draws));
  std::string why = absl::StrCat("noisy number of records: ", noisy, ", rounded to ", records, ": ",
                                 std::string(branch.method->name()));
  return FitBranch(branch, std::move(why), kernel, pacer, steps);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Auto::RestoreWith(const Domain& domain,
                                                                  std::string_view bytes,
                                                                  Pacer& pacer) const {
  RETURN_IF_ERROR(pacer.Check());
  return ChosenModel::Restore(domain, bytes, methods_, pacer);
}

absl::StatusOr<int64_t> Auto::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return ChosenModel::ReadingBytes(domain, bytes, methods_);
}

}  // namespace curator::dp
