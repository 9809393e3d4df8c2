// Synthesizers broken on purpose, made by changing the first one in the list: the law that each of them
// violates catches it, and every law catches one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/laws.h"

namespace curator::dp {
namespace {

using ModelOr = absl::StatusOr<std::unique_ptr<SynthesisModel>>;

class Altered : public Synthesizer {
 public:
  std::string_view name() const override { return "altered"; }
  std::string_view summary() const override { return "Broken on purpose."; }
  const std::vector<Setting>& settings() const override { return sound().settings(); }
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override {
    return sound().PlanWith(input, pacer);
  }
  ModelOr Fit(const SynthesisInput& input, PrivateQueries& kernel, Pacer& pacer,
              const Progress& progress) const override {
    return sound().Fit(input, kernel, pacer, progress);
  }
  ModelOr RestoreWith(const Domain& domain, std::string_view bytes, Pacer& pacer) const override {
    return sound().RestoreWith(domain, bytes, pacer);
  }
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override {
    return sound().ReadingBytes(domain, bytes);
  }

 protected:
  static const Synthesizer& sound() { return *FindSynthesizer("mwem"); }
};

class OneUnpaidDraw : public Altered {
 public:
  ModelOr Fit(const SynthesisInput& input, PrivateQueries& kernel, Pacer& pacer,
              const Progress& progress) const override {
    auto model = sound().Fit(input, kernel, pacer, progress);
    auto unpaid = kernel.NoisyRecordCount({Mechanism::kDiscreteLaplace, {10, 1}});
    return unpaid.ok() ? std::move(model) : unpaid.status();
  }
};

class ForgetsToSplit : public Altered {
 public:
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override {
    auto plan = sound().PlanWith(input, pacer);
    for (CountedEvent& draw : plan->draws) draw.count *= 2;
    return plan;
  }
};

class StatesOnlyItsFirstStep : public Altered {
 public:
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override {
    auto plan = sound().PlanWith(input, pacer);
    plan->drawn_from.resize(1);
    return plan;
  }
};

class ForgetsConstraints : public Altered {
 public:
  ModelOr Fit(const SynthesisInput& input, PrivateQueries& kernel, Pacer& pacer,
              const Progress& progress) const override {
    SynthesisInput without = input;
    without.domain = input.domain.WithConstraints({}).value();
    return sound().Fit(without, kernel, pacer, progress);
  }
};

class PricesByWhatItSaw : public Altered {
 public:
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override {
    auto plan = sound().PlanWith(input, pacer);
    plan->schedule.push_back(absl::StrCat("about ", records_, " records"));
    return plan;
  }
  ModelOr Fit(const SynthesisInput& input, PrivateQueries& kernel, Pacer& pacer,
              const Progress& progress) const override {
    auto model = sound().Fit(input, kernel, pacer, progress);
    if (model.ok()) records_ = (*model)->records();
    return model;
  }

 private:
  mutable int64_t records_ = 0;
};

class TellsProgressByWhatItSaw : public Altered {
 public:
  ModelOr Fit(const SynthesisInput& input, PrivateQueries& kernel, Pacer& pacer,
              const Progress& progress) const override {
    auto model = sound().Fit(input, kernel, pacer, NoProgress());
    if (model.ok()) progress(1 / static_cast<double>((*model)->records()));
    progress(1);
    return model;
  }
};

class LooksTooRarely : public Altered {
 public:
  ModelOr Fit(const SynthesisInput& input, PrivateQueries& kernel, Pacer& pacer,
              const Progress& progress) const override {
    if (absl::Status go_on = pacer.Advance(int64_t{1} << 21); !go_on.ok()) return go_on;
    return sound().Fit(input, kernel, pacer, progress);
  }
};

class NeverLooks : public Altered {
 public:
  ModelOr Fit(const SynthesisInput& input, PrivateQueries& kernel, Pacer&,
              const Progress& progress) const override {
    Pacer deaf{std::stop_token()};
    return sound().Fit(input, kernel, deaf, progress);
  }
};

class RestoresOn : public Altered {
 public:
  ModelOr RestoreWith(const Domain& domain, std::string_view bytes, Pacer&) const override {
    Pacer deaf{std::stop_token()};
    return sound().RestoreWith(domain, bytes, deaf);
  }
};

class PlansOn : public Altered {
 public:
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer&) const override {
    Pacer deaf{std::stop_token()};
    return sound().PlanWith(input, deaf);
  }
};

class ForgetsAStop : public Altered {
 public:
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override {
    RETURN_IF_ERROR(pacer.Check());
    (void)pacer.Check();
    Pacer deaf{std::stop_token()};
    return sound().PlanWith(input, deaf);
  }
};

enum class Fault {
  kNone,
  kNoRecords,
  kNotANumber,
  kNegativeCell,
  kWrongTotal,
  kBeyondTheDomain,
  kOneRecordForEver,
  kHiddenInput,
  kNoSteps
};

class FaultyModel : public SynthesisModel {
 public:
  FaultyModel(std::unique_ptr<SynthesisModel> sound, Fault fault, int64_t hidden)
      : sound_(std::move(sound)), fault_(fault), hidden_(hidden) {}

  int64_t records() const override { return fault_ == Fault::kNoRecords ? 0 : sound_->records(); }
  const AttributeSet& attributes() const override { return sound_->attributes(); }
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override {
    auto cells = sound_->Marginal(set);
    if (fault_ == Fault::kNotANumber) cells->front() = std::numeric_limits<double>::quiet_NaN();
    if (fault_ == Fault::kWrongTotal) cells->front() += 1;
    if (fault_ == Fault::kNegativeCell) {
      cells->back() += 1 + cells->front();
      cells->front() = -1;
    }
    return cells;
  }
  int64_t MarginalSteps(const AttributeSet& set) const override {
    return fault_ == Fault::kNoSteps ? 0 : sound_->MarginalSteps(set);
  }
  absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const override {
    if (fault_ == Fault::kOneRecordForEver) {
      const std::vector<uint32_t> codes(attributes().size());
      for (int64_t row = 0; row < rows; ++row) RETURN_IF_ERROR(sink(codes));
      return absl::OkStatus();
    }
    if (fault_ != Fault::kBeyondTheDomain) return sound_->Sample(bits, rows, sink);
    return sink(std::vector<uint32_t>(attributes().size(), uint32_t{1} << 30));
  }
  std::string Serialize() const override {
    return fault_ == Fault::kHiddenInput ? absl::StrCat(sound_->Serialize(), hidden_) : sound_->Serialize();
  }
  std::vector<std::string> Transcript() const override { return sound_->Transcript(); }

 private:
  std::unique_ptr<SynthesisModel> sound_;
  Fault fault_;
  int64_t hidden_;
};

// Makes faulty models of the requests that `when` picks.
class FaultyOn : public Altered {
 public:
  FaultyOn(Fault fault, std::function<bool(const SynthesisInput&)> when)
      : fault_(fault), when_(std::move(when)) {}
  ModelOr Fit(const SynthesisInput& input, PrivateQueries& kernel, Pacer& pacer,
              const Progress& progress) const override {
    auto model = sound().Fit(input, kernel, pacer, progress);
    if (!model.ok()) return model;
    const Fault fault = when_(input) ? fault_ : Fault::kNone;
    return std::make_unique<FaultyModel>(*std::move(model), fault, ++fits_);
  }

 private:
  Fault fault_;
  std::function<bool(const SynthesisInput&)> when_;
  mutable int64_t fits_ = 0;  // stands for anything but the draws, such as the table
};

struct Broken {
  std::string_view law;
  std::shared_ptr<const Synthesizer> synthesizer;
};

bool HasSize(const SynthesisInput& input, int64_t size) {
  for (const Attribute& attribute : input.domain.attributes()) {
    if (attribute.size() == size) return true;
  }
  return false;
}

const std::vector<Broken>& AllBroken() {
  const auto faulty = [](Fault fault, std::function<bool(const SynthesisInput&)> when) {
    return std::make_shared<FaultyOn>(fault, std::move(when));
  };
  const auto always = [](const SynthesisInput&) { return true; };
  const auto small = [](const SynthesisInput& input) { return input.domain.size() == 2; };
  static const std::vector<Broken> broken = {
      {"SpendsWhatIsPriced", std::make_shared<OneUnpaidDraw>()},
      {"PricesNoMoreThanTheSpend", std::make_shared<ForgetsToSplit>()},
      {"SpendsWhatIsPriced", std::make_shared<ForgetsToSplit>()},
      {"PricesFromPublicFacts", std::make_shared<PricesByWhatItSaw>()},
      {"IsAFunctionOfTheTranscript", faulty(Fault::kHiddenInput, always)},
      {"DrawsFromWhatItPlans", std::make_shared<StatesOnlyItsFirstStep>()},
      {"ReportsProgressFromTheSchedule", std::make_shared<TellsProgressByWhatItSaw>()},
      {"LooksForAStop", std::make_shared<LooksTooRarely>()},
      {"LooksForAStop", std::make_shared<NeverLooks>()},
      {"StopsPlanning", std::make_shared<PlansOn>()},
      {"StopsPlanning", std::make_shared<ForgetsAStop>()},
      {"StopsRestoring", std::make_shared<RestoresOn>()},
      {"CountsTheStepsOfItsAnswers", faulty(Fault::kNoSteps, always)},
      {"SamplesWhatItAnswers", faulty(Fault::kOneRecordForEver, always)},
      {"KeepsConstraintsOrWarns", std::make_shared<ForgetsConstraints>()},
      {"CopesWithNoRecords", faulty(Fault::kNoRecords, small)},
      {"CopesWithNoRecords", faulty(Fault::kNotANumber, small)},
      {"CopesWithOneRecord", faulty(Fault::kNegativeCell, small)},
      {"CopesWithEqualRecords", faulty(Fault::kWrongTotal, always)},
      {"CopesWithOneAttribute",
       faulty(Fault::kBeyondTheDomain, [](const SynthesisInput& input) { return input.domain.size() == 1; })},
      {"CopesWithAttributesOfSizeOne",
       faulty(Fault::kBeyondTheDomain, [](const SynthesisInput& input) { return HasSize(input, 1); })},
      {"CopesWithAHundredThousandValues",
       faulty(Fault::kBeyondTheDomain, [](const SynthesisInput& input) { return HasSize(input, 100'000); })},
  };
  return broken;
}

TEST(SynthesizerLawsCanary, EveryBrokenMethodIsCaughtByItsLaw) {
  for (size_t i = 0; i < AllBroken().size(); ++i) {
    const Broken& broken = AllBroken()[i];
    EXPECT_THAT(ViolationsOf(broken.law, *broken.synthesizer), testing::Not(testing::IsEmpty()))
        << broken.law << ", broken method " << i;
  }
}

TEST(SynthesizerLawsCanary, EveryLawCatchesABrokenMethod) {
  std::set<std::string_view> tried;
  for (const Broken& broken : AllBroken()) tried.insert(broken.law);
  for (const Law& law : SynthesizerLaws()) EXPECT_TRUE(tried.contains(law.name)) << law.name;
}

TEST(EverySynthesizerCanary, APlanThatStatesOnlyItsFirstStepIsCaught) {
  EXPECT_THAT(ViolationsOf("DrawsFromWhatItPlans", StatesOnlyItsFirstStep()),
              testing::Not(testing::IsEmpty()));
}

TEST(SynthesizerLawsCanary, OneUnpaidDrawIsRefusedByTheMeter) {
  EXPECT_THAT(ViolationsOf("SpendsWhatIsPriced", OneUnpaidDraw()), testing::Not(testing::IsEmpty()));
}

// The method knows something beside its draws, such as the exact number of records through a hole in the
// wall.
TEST(SynthesizerLawsCanary, AFitThatUsesTheExactNumberOfRecordsIsCaughtByReplay) {
  const FaultyOn broken(Fault::kHiddenInput, [](const SynthesisInput&) { return true; });
  EXPECT_THAT(ViolationsOf("IsAFunctionOfTheTranscript", broken), testing::Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace curator::dp
