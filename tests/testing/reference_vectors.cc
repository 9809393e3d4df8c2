#include "tests/testing/reference_vectors.h"

#include <fstream>
#include <iterator>

#include "tests/testing/shared_folder.h"

namespace curator::shared {
namespace {

nlohmann::json CasesIn(const std::string& name) {
  std::ifstream in(PathOf(name));
  std::string text(std::istreambuf_iterator<char>(in), {});
  const std::string infinity = ": Infinity";
  for (size_t at = 0; (at = text.find(infinity, at)) != std::string::npos;) {
    text.replace(at, infinity.size(), ": \"inf\"");
  }
  return nlohmann::json::parse(text).at("cases");
}

}  // namespace

nlohmann::json ReferenceCases(const std::string& name) {
  nlohmann::json cases = CasesIn(name);
  const size_t file = name.rfind('/') + 1;
  const std::string held_out = name.substr(0, file) + "heldout_" + name.substr(file);
  if (!Has(held_out)) return cases;
  for (nlohmann::json& more : CasesIn(held_out)) cases.push_back(std::move(more));
  return cases;
}

}  // namespace curator::shared
