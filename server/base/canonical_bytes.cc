#include "base/canonical_bytes.h"

#include <openssl/evp.h>

#include <bit>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace curator {

CanonicalWriter::CanonicalWriter(std::string_view tag, int64_t version) {
  Text(tag);
  Integer(version);
}

void CanonicalWriter::Integer(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) bytes_.push_back(static_cast<char>((bits >> shift) & 0xff));
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
  std::string digest(32, '\0');
  // A library that cannot hash must not leave us with a digest that equals every other failed one.
  if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
                 EVP_sha256(), nullptr) != 1) {
    std::abort();
  }
  return digest;
}

}  // namespace curator
