// The canonical encoding of everything that the ledger stores and hashes: one value has one encoding, on
// every machine.
//
// Integers are 8 bytes, big-endian (two's complement). Doubles are their IEEE-754 bits as such an integer.
// Strings are their length followed by their bytes. A document starts with its tag (a short string such as
// "curator.release") and its version. The reader refuses bytes that the writer would not have written: short
// input, trailing bytes, lengths beyond the end.
//
// Thread-safe as plain values are: distinct objects on distinct threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator {

class CanonicalWriter {
 public:
  CanonicalWriter(std::string_view tag, int64_t version);

  void Integer(int64_t value);
  void Real(double value);
  void Text(std::string_view value);

  // Makes place for as many bytes more, so that much that follows is not copied while it grows.
  void Expect(size_t bytes) { bytes_.reserve(bytes_.size() + bytes); }

  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads `bytes`, which must outlive it. After the first error every further read returns zero or an empty
// string, and Finish() reports it: a document is read without checks in between. Loops must be bounded by
// Count().
class CanonicalReader {
 public:
  CanonicalReader(std::string_view bytes, std::string_view tag, int64_t version);

  int64_t Integer();
  double Real();
  std::string Text();
  // The number of items that follow, each at least `least_item_bytes` long; 0, and an error, if the rest is
  // too short for that many.
  int64_t Count(int64_t least_item_bytes = 8);

  bool ok() const { return ok_; }
  // Marks the document as malformed, for values that the writer would not have written.
  void Refuse() { ok_ = false; }

  // DATA_LOSS when anything was malformed or bytes are left over.
  absl::Status Finish() const;

 private:
  std::string_view rest_;
  std::string tag_;
  bool ok_ = true;
};

// SHA-256, 32 bytes.
std::string Sha256(std::string_view bytes);

}  // namespace curator
