#include "records/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::records {
namespace {

class Plain final : public ByteStream {
 public:
  explicit Plain(ByteSink sink) : sink_(std::move(sink)) {}
  absl::Status Append(std::string_view bytes) override { return sink_(bytes); }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  ByteSink sink_;
};

class Gzip final : public ByteStream {
 public:
  explicit Gzip(ByteSink sink) : sink_(std::move(sink)) {
    constexpr int kGzipOnly = 16;
    is_ready_ = inflateInit2(&state_, MAX_WBITS + kGzipOnly) == Z_OK;
  }
  ~Gzip() override { inflateEnd(&state_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  absl::Status Append(std::string_view bytes) override {
    if (!is_ready_) return absl::ResourceExhaustedError("no memory to read gzip");
    while (!bytes.empty()) {
      const size_t piece = std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      RETURN_IF_ERROR(Inflate(bytes.substr(0, piece)));
      bytes.remove_prefix(piece);
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    if (is_inside_member_) return InvalidField("csv", "the gzip data ends early: the file is incomplete");
    return absl::OkStatus();
  }

 private:
  absl::Status Inflate(std::string_view bytes) {
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib does not write to it
    state_.avail_in = static_cast<uInt>(bytes.size());
    bool has_more_output = false;
    while (state_.avail_in > 0 || has_more_output) {
      is_inside_member_ = true;
      state_.next_out = reinterpret_cast<Bytef*>(output_.data());
      state_.avail_out = static_cast<uInt>(output_.size());
      const int result = inflate(&state_, Z_NO_FLUSH);
      if (result == Z_MEM_ERROR) return absl::ResourceExhaustedError("no memory to read gzip");
      has_more_output = state_.avail_out == 0;
      // Also what came out before damage was found: so the first error is the same in whatever pieces a file
      // comes.
      if (const size_t count = output_.size() - state_.avail_out; count > 0) {
        RETURN_IF_ERROR(sink_(std::string_view(output_.data(), count)));
      }
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        return InvalidField("csv", "is not gzip, or its gzip data is damaged");
      }
      if (result == Z_STREAM_END) {
        is_inside_member_ = false;
        has_more_output = false;
        if (inflateReset(&state_) != Z_OK) return absl::InternalError("zlib cannot be reset");
      }
    }
    return absl::OkStatus();
  }

  ByteSink sink_;
  z_stream state_ = {};
  bool is_ready_ = false;
  bool is_inside_member_ = false;
  std::array<char, 1 << 16> output_;
};

}  // namespace

std::unique_ptr<ByteStream> PlainStream(ByteSink sink) {
  return std::make_unique<Plain>(std::move(sink));
}

std::unique_ptr<ByteStream> GzipStream(ByteSink sink) {
  return std::make_unique<Gzip>(std::move(sink));
}

}  // namespace curator::records
