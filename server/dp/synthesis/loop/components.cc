#include "dp/synthesis/loop/components.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dp/domain/attribute_set.h"

namespace curator::dp {

Components::Components(AttributeSet attributes)
    : attributes_(std::move(attributes)), component_(attributes_.size()) {
  std::iota(component_.begin(), component_.end(), size_t{0});
}

size_t Components::ComponentOf(uint32_t attribute) const {
  return component_[*PositionIn(attributes_, attribute)];
}

bool Components::Separates(const AttributeSet& set) const {
  std::vector<size_t> components;
  for (const uint32_t attribute : set) components.push_back(ComponentOf(attribute));
  std::ranges::sort(components);
  return std::ranges::adjacent_find(components) == components.end();
}

void Components::Join(const AttributeSet& set) {
  for (const uint32_t attribute : set)
    std::ranges::replace(component_, ComponentOf(attribute), ComponentOf(set.front()));
}

}  // namespace curator::dp
