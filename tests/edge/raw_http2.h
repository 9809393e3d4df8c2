// An HTTP/2 client of a few frames, for what no proper client sends. Over TLS, or in clear. To a server that
// counts by source it is another client than those of the test, unless it is told to be the same.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace curator::testing {

using Headers = std::vector<std::pair<std::string, std::string>>;

class RawHttp2 {
 public:
  enum class Transport { kTls, kClear };

  // Connects to 127.0.0.1 from this address, and sends the preface and empty settings. Check is_open().
  RawHttp2(int port, Transport transport, const std::string& source = "127.0.0.2");
  ~RawHttp2();
  RawHttp2(RawHttp2&&) noexcept;
  RawHttp2& operator=(RawHttp2&&) = delete;

  bool is_open() const;

  // The headers of a gRPC call of this method, without anything that proves who calls.
  static Headers CallOf(const std::string& method);

  // HEADERS, and CONTINUATION where they are long; names and values as they are, without compression.
  void SendHeaders(uint32_t stream, const Headers& headers, bool is_last = false);
  void SendReset(uint32_t stream);
  // A header block in its wire form.
  void SendBlock(uint32_t stream, std::string_view block, bool is_last);
  void SendFrame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload);

  // The type of the next frame that arrives within the time; -1 when none does, or the connection ends.
  int ReadFrameType(int milliseconds);
  // The status of the next response; -1 when none arrives within the time.
  int ReadStatus(int milliseconds);
  // Reads until the connection ends or the time is over. Whether it has ended.
  bool AwaitEnd(int milliseconds);

 private:
  struct Connection;

  struct Frame {
    int type = -1;
    std::string payload;
  };
  Frame ReadFrame(int milliseconds);
  bool Write(std::string_view bytes);
  bool ReadExactly(size_t bytes, int milliseconds, std::string& text);

  std::unique_ptr<Connection> connection_;
};

}  // namespace curator::testing
