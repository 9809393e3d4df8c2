#include "base/canonical_bytes.h"

#include <openssl/evp.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"

namespace curator {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

CanonicalWriter::CanonicalWriter(std::string_view tag, int64_t version) {
  Text(tag);
  Integer(version);
}

void CanonicalWriter::Integer(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  std::array<char, 8> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>((bits >> (56 - 8 * i)) & 0xff);
  bytes_.append(bytes.data(), bytes.size());
}

void CanonicalWriter::Real(double value) {
  Integer(std::bit_cast<int64_t>(value));
}

void CanonicalWriter::Text(std::string_view value) {
  Integer(static_cast<int64_t>(value.size()));
  bytes_.append(value);
}

CanonicalReader::CanonicalReader(std::string_view bytes, std::string_view tag, int64_t version)
    : rest_(bytes), tag_(tag) {
  if (Text() != tag_ || Integer() != version) ok_ = false;
}

int64_t CanonicalReader::Integer() {
  if (!ok_ || rest_.size() < 8) {
    ok_ = false;
    return 0;
  }
  uint64_t bits = 0;
  for (size_t i = 0; i < 8; ++i) bits = (bits << 8) | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(8);
  return static_cast<int64_t>(bits);
}

double CanonicalReader::Real() {
  return std::bit_cast<double>(Integer());
}

std::string CanonicalReader::Text() {
  const int64_t length = Integer();
  if (!ok_ || length < 0 || static_cast<uint64_t>(length) > rest_.size()) {
    ok_ = false;
    return {};
  }
  std::string value(rest_.substr(0, static_cast<size_t>(length)));
  rest_.remove_prefix(static_cast<size_t>(length));
  return value;
}

int64_t CanonicalReader::Count(int64_t least_item_bytes) {
  const int64_t count = Integer();
  if (!ok_ || count < 0 || count > static_cast<int64_t>(rest_.size()) / least_item_bytes) {
    ok_ = false;
    return 0;
  }
  return count;
}

absl::Status CanonicalReader::Finish() const {
  if (ok_ && rest_.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("stored bytes are not a valid ", tag_, " document"));
}

std::string Sha256(std::string_view bytes) {
  // Found once and kept: looking an algorithm up, and making a context, takes longer than hashing an entry.
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  std::string digest(32, '\0');
  // A library that cannot hash must not leave us with a digest that equals every other failed one.
  if (sha256 == nullptr || context == nullptr || EVP_DigestInit_ex2(context.get(), sha256, nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr) != 1) {
    std::abort();
  }
  return digest;
}

}  // namespace curator
