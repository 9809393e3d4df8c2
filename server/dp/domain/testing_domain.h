// Domains of coded attributes for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// Attributes "a0", "a1", ... of the given sizes.
inline Domain CodedDomain(const std::vector<int64_t>& sizes) {
  std::vector<Attribute> attributes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    attributes.push_back(Attribute::Create("a" + std::to_string(i), CodedKind{sizes[i]}).value());
  }
  return Domain::Create(std::move(attributes)).value();
}

}  // namespace curator::dp
