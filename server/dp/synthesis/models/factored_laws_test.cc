// The laws of every synthesizer, for the factored form of MWEM, and for its other settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dp/synthesis/mwem/mwem.h"
#include "dp/synthesis/testing/laws.h"

namespace curator::dp {
namespace {

using SettingsMap = std::map<std::string, std::string>;

// MWEM with some settings made before the request's own.
class MwemWith : public Synthesizer {
 public:
  explicit MwemWith(SettingsMap settings) : settings_(std::move(settings)) {}

  std::string_view name() const override { return mwem_.name(); }
  std::string_view summary() const override { return mwem_.summary(); }
  const std::vector<Setting>& settings() const override { return mwem_.settings(); }
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override {
    return mwem_.PlanWith(Set(input), pacer);
  }
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override {
    return mwem_.Fit(Set(input), kernel, pacer, progress);
  }
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override {
    return mwem_.RestoreWith(domain, bytes, pacer);
  }
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override {
    return mwem_.ReadingBytes(domain, bytes);
  }

 private:
  SynthesisInput Set(SynthesisInput input) const {
    input.settings.insert(settings_.begin(), settings_.end());
    return input;
  }

  Mwem mwem_;
  SettingsMap settings_;
};

class MwemUnderTheLaws : public testing::TestWithParam<std::tuple<SettingsMap, Law>> {};

TEST_P(MwemUnderTheLaws, ObeysTheLaw) {
  const auto& [settings, law] = GetParam();
  EXPECT_THAT(law.check(MwemWith(settings)), testing::IsEmpty()) << law.name;
}

std::vector<Law> AllBut(std::vector<std::string_view> names) {
  std::vector<Law> laws = SynthesizerLaws();
  std::erase_if(laws, [&](const Law& law) { return std::ranges::find(names, law.name) != names.end(); });
  return laws;
}

INSTANTIATE_TEST_SUITE_P(Factored, MwemUnderTheLaws,
                         testing::Combine(testing::Values(SettingsMap{{"form", "factored"}}),
                                          testing::ValuesIn(SynthesizerLaws())));
INSTANTIATE_TEST_SUITE_P(AfterMarginals, MwemUnderTheLaws,
                         testing::Combine(testing::Values(SettingsMap{{"form", "factored"},
                                                                      {"init", "marginals"}}),
                                          testing::ValuesIn(AllBut({"CopesWithAHundredThousandValues"}))));
// Rounds that may end early leave draws over, so one law is for schedules that are worked off.
INSTANTIATE_TEST_SUITE_P(Adaptive, MwemUnderTheLaws,
                         testing::Combine(testing::Values(SettingsMap{{"adaptive", "yes"}, {"rounds", "1"}}),
                                          testing::ValuesIn(AllBut({"SpendsWhatIsPriced",
                                                                    "CopesWithAHundredThousandValues"}))));

}  // namespace
}  // namespace curator::dp
