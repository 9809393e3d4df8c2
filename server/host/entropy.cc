#include "host/entropy.h"

#include <openssl/crypto.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace curator::host {

void FillWithEntropy(std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = getrandom(bytes.data(), bytes.size(), 0);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<size_t>(count));
    } else if (errno != EINTR) {
      std::fputs("curator: the operating system gives no entropy\n", stderr);
      std::abort();
    }
  }
}

std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  FillWithEntropy({reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
  return bytes;
}

dp::DrawKey NewDrawKey() {
  dp::DrawKey::Bytes bytes;
  FillWithEntropy(bytes);
  const dp::DrawKey key(bytes);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return key;
}

std::string NewUuid() {
  std::array<uint8_t, 16> bytes;
  FillWithEntropy(bytes);
  return UuidText(bytes, 4);
}

}  // namespace curator::host
