// Which attributes sets have joined so far: a forest grows by sets whose attributes it does not join yet.
//
// Not thread-safe, but for const functions.
#pragma once

#include <cstddef>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

class Components {
 public:
  explicit Components(AttributeSet attributes);

  // Whether the attributes of `set`, which are among the attributes, lie in different components.
  bool Separates(const AttributeSet& set) const;
  void Join(const AttributeSet& set);

 private:
  size_t ComponentOf(uint32_t attribute) const;

  AttributeSet attributes_;
  std::vector<size_t> component_;  // of each of attributes_
};

}  // namespace curator::dp
