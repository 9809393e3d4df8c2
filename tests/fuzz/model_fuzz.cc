// The stored models of every synthesizer. The first byte says whose; what is accepted stores itself as the
// same bytes, and draws records of its domain.
#include "dp/kernel/kernel.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/laws.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/testing/seeded_bits.h"

namespace curator::fuzz {
namespace {

const dp::World& SmallWorld() {
  static const dp::World world = dp::WorldOf({2, 3}, 1, dp::RandomRows({2, 3}, 30, 1));
  return world;
}

std::string FittedModel(const dp::Synthesizer& synthesizer) {
  const dp::World& world = SmallWorld();
  const dp::SynthesisPlan plan = synthesizer.Plan(world.input).value();
  seeded::SeededBits bits(1);
  dp::Kernel kernel(world.table, world.input.domain, world.input.unit_bound, dp::Meter(plan.draws), bits);
  dp::Pacer pacer{std::stop_token()};
  return synthesizer.Fit(world.input, kernel, pacer, NoProgress()).value()->Serialize();
}

}  // namespace

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const dp::Synthesizer* const synthesizer : dp::Synthesizers()) {
    seeds.push_back(std::string(1, static_cast<char>(seeds.size())) + FittedModel(*synthesizer));
  }
  return seeds;
}

bool Try(std::string_view input) {
  const auto synthesizers = dp::Synthesizers();
  if (input.empty() || static_cast<unsigned char>(input[0]) >= synthesizers.size()) return false;
  const dp::Domain& domain = SmallWorld().input.domain;
  const std::string_view bytes = input.substr(1);
  const auto model = synthesizers[static_cast<unsigned char>(input[0])]->Restore(domain, bytes);
  if (!model.ok()) {
    if (!absl::IsDataLoss(model.status())) Broken("what is refused is damaged", input);
    return false;
  }
  if ((*model)->records() < 1) Broken("a model has a record", input);
  if ((*model)->Serialize() != bytes) Broken("what is accepted is stored as the same bytes", input);
  const dp::AttributeSet& attributes = (*model)->attributes();
  seeded::SeededBits bits(2);
  (*model)
      ->Sample(bits, 5,
               [&](std::span<const uint32_t> codes) {
                 if (codes.size() != attributes.size())
                   Broken("a record has a code of each attribute", input);
                 for (size_t i = 0; i < codes.size(); ++i) {
                   if (codes[i] >= domain.attributes()[attributes[i]].size())
                     Broken("a code lies in the domain", input);
                 }
                 return absl::OkStatus();
               })
      .IgnoreError();
  if (!attributes.empty()) (*model)->Marginal({attributes[0]}).status().IgnoreError();
  return true;
}

}  // namespace curator::fuzz
