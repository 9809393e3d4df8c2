#include "service/datasets/schema_check.h"

#include <gmpxx.h>

namespace curator::service {

std::string DomainSize(const dp::Domain& domain) {
  mpz_class cells = 1;
  for (const dp::Attribute& attribute : domain.attributes())
    cells *= static_cast<unsigned long>(attribute.size());
  return cells.get_str();
}

}  // namespace curator::service
