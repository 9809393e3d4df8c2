#include "fitting.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "dp/accounting/rule.h"
#include "dp/kernel/kernel.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"

namespace curator::dp {
double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

Drbg BitsOf(int repetition) {
  DrawKey::Bytes key{};
  key[0] = static_cast<uint8_t>(repetition);
  return Drbg{DrawKey(key)};
}

void SetBudget(const std::string& rule, const std::string& epsilon, SynthesisInput& input) {
  const Epsilon amount = Epsilon::Parse(epsilon, "epsilon").value();
  const Delta delta(kDeltaUnitsPerOne / 1'000'000'000);
  input.rule.epsilon = Epsilon(std::max<int64_t>(amount.units(), kEpsilonUnitsPerOne) * 100);
  if (rule == "pure") {
    input.rule.kind = RuleKind::kPure;
    input.spend = {.epsilon = amount};
  } else if (rule == "certified") {
    input.rule.kind = RuleKind::kAdvanced;
    input.rule.delta = Delta(2 * delta.units());
    input.spend = {.epsilon = amount, .delta = delta};
  } else {
    input.rule.kind = RuleKind::kZcdp;
    input.rule.epsilon = amount;
    input.rule.delta = delta;
    input.spend = {.rho = Rho(LimitsOf(input.rule).value()[0].amount)};
  }
}

Fitted FitOnce(const std::string& method, const SynthesisInput& input, const SealedTableHandle& table,
               int repetition) {
  Drbg bits = BitsOf(repetition);
  const double start = CpuSeconds();
  Fitted fitted;
  if (method == "direct") {
    const std::vector<AttributeSet> sets = SetsOf(input.workload);
    const Sensitivity sensitivity =
        MarginalsSensitivity(input.unit_bound, static_cast<int64_t>(sets.size())).value();
    const NoisePurchase bought =
        BuyNoise(input.rule, input.spend, sensitivity, sensitivity, std::nullopt).value();
    Kernel kernel(table, input.domain, input.unit_bound, Meter(bought.draws), bits);
    fitted.answers = kernel.NoisyCounts(sets, bought.noise).value();
  } else {
    const Synthesizer& synthesizer = *FindSynthesizer(method);
    SynthesisPlan plan = synthesizer.Plan(input).value();
    Kernel kernel(table, input.domain, input.unit_bound, Meter(std::move(plan.draws)), bits);
    Pacer pacer{std::stop_token()};
    fitted.model = synthesizer.Fit(input, kernel, pacer, NoProgress()).value();
  }
  fitted.cpu_seconds = CpuSeconds() - start;
  return fitted;
}

SynthesisInput InputFor(const bench::RealTable& table, const std::vector<AttributeSet>& workload, int argc,
                        char** argv, int first) {
  SynthesisInput input{.domain = table.domain,
                       .unit_bound = {},
                       .rule = {},
                       .spend = {},
                       .workload = WholeMarginals(workload),
                       .settings = {},
                       .assume_records = std::nullopt};
  for (int i = first; i < argc; ++i) {
    const std::string setting = argv[i];
    const size_t equals = setting.find('=');
    const std::string value = setting.substr(equals + 1);
    if (setting.substr(0, equals) == "assume_records") {
      input.assume_records = std::atoll(value.c_str());
    } else {
      input.settings[setting.substr(0, equals)] = value;
    }
  }
  return input;
}

}  // namespace curator::dp
