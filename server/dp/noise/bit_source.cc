#include "dp/noise/bit_source.h"

#include <openssl/crypto.h>

namespace curator::dp {

DrawKey::~DrawKey() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

BitBuffer::~BitBuffer() {
  OPENSSL_cleanse(words_.data(), end_ * sizeof(uint64_t));
  OPENSSL_cleanse(&bits_, sizeof(bits_));
}

void BitBuffer::Refill() {
  source_.Fill(std::span(words_).first(block_));
  next_ = 0;
  end_ = block_;
}

}  // namespace curator::dp
