#include "dp/noise/bit_source.h"

#include <openssl/crypto.h>

namespace curator::dp {

DrawKey::~DrawKey() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

}  // namespace curator::dp
