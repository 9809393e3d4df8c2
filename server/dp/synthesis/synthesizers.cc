#include "dp/synthesis/synthesizers.h"

#include <array>

#include "dp/synthesis/aim/aim.h"
#include "dp/synthesis/auto/auto.h"
#include "dp/synthesis/dpsyn/dpsyn.h"
#include "dp/synthesis/mst/mst.h"
#include "dp/synthesis/mwem/mwem.h"
#include "dp/synthesis/nested/nested.h"
#include "dp/synthesis/prior/prior.h"
#include "dp/synthesis/rap/rap.h"
#include "dp/synthesis/swift/swift.h"

namespace curator::dp {

std::span<const Synthesizer* const> Synthesizers() {
  static const Mwem mwem;
  static const PriorAware prior;
  static const Rap rap;
  static const Dpsyn dpsyn;
  static const Priview priview;
  static const Nested nested({&mwem, &dpsyn, &rap});
  static const Aim aim;
  static const Mst mst;
  static const Swift swift;
  static const Auto automatic({&aim, &dpsyn, &priview, &mwem, &rap});
  static const std::array<const Synthesizer*, 10> all = {&automatic, &mwem, &aim,   &swift,   &mst,
                                                         &prior,     &rap,  &dpsyn, &priview, &nested};
  return all;
}

const Synthesizer* FindSynthesizer(std::string_view name) {
  for (const Synthesizer* synthesizer : Synthesizers()) {
    if (synthesizer->name() == name) return synthesizer;
  }
  return nullptr;
}

}  // namespace curator::dp
