// std::visit with one lambda for each alternative.
#pragma once

namespace curator::dp {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace curator::dp
