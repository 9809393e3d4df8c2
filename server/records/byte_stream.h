// The stream of bytes from the wire to the CSV reader, plain or decompressed from gzip.
//
// Memory stays below a fixed bound, independent of the input: decompressed bytes are passed on in small
// pieces and not kept.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"

namespace curator::records {

// Takes decompressed bytes; an error ends the stream.
using ByteSink = std::function<absl::Status(std::string_view bytes)>;

// Not thread-safe.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Errors: INVALID_ARGUMENT (field "csv") for malformed gzip; any error of the sink.
  virtual absl::Status Append(std::string_view bytes) = 0;

  // INVALID_ARGUMENT (field "csv") when the compressed data ends early.
  virtual absl::Status Finish() = 0;
};

std::unique_ptr<ByteStream> PlainStream(ByteSink sink);

// Reads the members of a gzip file one after the other (RFC 1952), with their checksums.
std::unique_ptr<ByteStream> GzipStream(ByteSink sink);

}  // namespace curator::records
