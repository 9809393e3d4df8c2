#include "client/gate/random_text.h"

#include <openssl/sha.h>
#include <sys/random.h>

#include <array>
#include <cstdlib>

#include "absl/strings/escaping.h"

namespace curator::gate {
namespace {

std::string Base64Url(const std::array<char, 32>& bytes) {
  std::string text = absl::WebSafeBase64Escape(absl::string_view(bytes.data(), bytes.size()));
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

}  // namespace

std::string RandomText() {
  std::array<char, 32> bytes = {};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  return Base64Url(bytes);
}

std::string Digest(std::string_view text) {
  std::array<char, 32> bytes = {};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(bytes.data()));
  return Base64Url(bytes);
}

}  // namespace curator::gate
