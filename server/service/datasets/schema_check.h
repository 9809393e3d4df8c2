// Facts about a schema for whoever is writing one.
#pragma once

#include <string>

#include "dp/domain/domain.h"

namespace curator::service {

// The product of all sizes as a decimal, exact however large. Thread-safe: a pure function.
std::string DomainSize(const dp::Domain& domain);

}  // namespace curator::service
