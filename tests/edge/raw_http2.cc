#include "tests/edge/raw_http2.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "absl/strings/numbers.h"

namespace curator::testing {
namespace {

constexpr uint8_t kHeaders = 1;
constexpr uint8_t kReset = 3;
constexpr uint8_t kSettings = 4;
constexpr uint8_t kContinuation = 9;
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kEndHeaders = 4;
constexpr size_t kLargestFrame = 16'384;

// An integer with a prefix of 7 bits (RFC 7541, 5.1).
std::string Length(size_t length) {
  if (length < 127) return std::string(1, static_cast<char>(length));
  std::string text(1, '\x7f');
  for (length -= 127; length >= 128; length /= 128) text.push_back(static_cast<char>(length % 128 + 128));
  text.push_back(static_cast<char>(length));
  return text;
}

// A literal header field that is not added to the table.
std::string Field(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + Length(name.size()) + name + Length(value.size()) + value;
}

std::string BigEndian(uint64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text.push_back(static_cast<char>(value >> shift));
  return text;
}

}  // namespace

struct RawHttp2::Connection {
  int socket = -1;
  SSL_CTX* context = nullptr;
  SSL* tls = nullptr;

  ~Connection() {
    SSL_free(tls);
    SSL_CTX_free(context);
    if (socket >= 0) close(socket);
  }
  bool StartTls() {
    constexpr unsigned char kAlpn[] = "\x02h2";
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_alpn_protos(context, kAlpn, 3);
    tls = SSL_new(context);
    SSL_set_fd(tls, socket);
    return SSL_connect(tls) == 1;
  }
};

RawHttp2::RawHttp2(int port, Transport transport, const std::string& address_of_source)
    : connection_(std::make_unique<Connection>()) {
  connection_->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // A server that reads no more is waited for no longer than that.
  constexpr timeval kPatience = {.tv_sec = 2, .tv_usec = 0};
  setsockopt(connection_->socket, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  sockaddr_in source = {};
  source.sin_family = AF_INET;
  inet_pton(AF_INET, address_of_source.c_str(), &source.sin_addr);
  bind(connection_->socket, reinterpret_cast<const sockaddr*>(&source), sizeof(source));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_connected =
      connect(connection_->socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  if (!is_connected || (transport == Transport::kTls && !connection_->StartTls())) {
    connection_.reset();
    return;
  }
  Write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  SendFrame(kSettings, 0, 0, "");
}

RawHttp2::~RawHttp2() = default;
RawHttp2::RawHttp2(RawHttp2&&) noexcept = default;

bool RawHttp2::is_open() const {
  return connection_ != nullptr;
}

bool RawHttp2::Write(std::string_view bytes) {
  while (is_open() && !bytes.empty()) {
    const auto length = static_cast<int>(std::min(bytes.size(), kLargestFrame));
    const ssize_t written = connection_->tls != nullptr ? SSL_write(connection_->tls, bytes.data(), length)
                                                        : send(connection_->socket, bytes.data(),
                                                               static_cast<size_t>(length), MSG_NOSIGNAL);
    if (written <= 0) connection_.reset();
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return is_open();
}

Headers RawHttp2::CallOf(const std::string& method) {
  return {{":method", "POST"},         {":scheme", "https"}, {":path", method},
          {":authority", "localhost"}, {"te", "trailers"},   {"content-type", "application/grpc"}};
}

void RawHttp2::SendHeaders(uint32_t stream, const Headers& headers, bool is_last) {
  std::string block;
  for (const auto& [name, value] : headers) block += Field(name, value);
  SendBlock(stream, block, is_last);
}

void RawHttp2::SendBlock(uint32_t stream, std::string_view block, bool is_last) {
  uint8_t type = kHeaders;
  do {
    const std::string_view piece = block.substr(0, kLargestFrame);
    block.remove_prefix(piece.size());
    const bool begins = type == kHeaders;
    const uint8_t flags =
        static_cast<uint8_t>((block.empty() ? kEndHeaders : 0) | (begins && is_last ? kEndStream : 0));
    SendFrame(type, flags, stream, piece);
    type = kContinuation;
  } while (!block.empty());
}

void RawHttp2::SendReset(uint32_t stream) {
  constexpr uint64_t kCancel = 8;
  SendFrame(kReset, 0, stream, BigEndian(kCancel, 4));
}

void RawHttp2::SendFrame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string frame = BigEndian(payload.size(), 3);
  frame.push_back(static_cast<char>(type));
  frame.push_back(static_cast<char>(flags));
  frame += BigEndian(stream, 4);
  frame += payload;
  Write(frame);
}

bool RawHttp2::ReadExactly(size_t bytes, int milliseconds, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  text.clear();
  while (is_open() && text.size() < bytes) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const bool has_more = connection_->tls != nullptr && SSL_pending(connection_->tls) > 0;
    pollfd wanted = {.fd = connection_->socket, .events = POLLIN, .revents = 0};
    if (!has_more && poll(&wanted, 1, std::max<int>(0, static_cast<int>(left.count()))) <= 0) return false;
    std::string piece(bytes - text.size(), '\0');
    const ssize_t read = connection_->tls != nullptr
                             ? SSL_read(connection_->tls, piece.data(), static_cast<int>(piece.size()))
                             : recv(connection_->socket, piece.data(), piece.size(), 0);
    if (read <= 0) connection_.reset();
    if (read > 0) text.append(piece, 0, static_cast<size_t>(read));
  }
  return text.size() == bytes;
}

RawHttp2::Frame RawHttp2::ReadFrame(int milliseconds) {
  std::string head;
  if (!ReadExactly(9, milliseconds, head)) return {};
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(head[at])); };
  std::string payload;
  if (!ReadExactly(byte(0) << 16 | byte(1) << 8 | byte(2), milliseconds, payload)) return {};
  return {static_cast<int>(byte(3)), std::move(payload)};
}

int RawHttp2::ReadFrameType(int milliseconds) {
  return ReadFrame(milliseconds).type;
}

// The first field of a response's block is its status: one of the seven that HPACK numbers, or three digits,
// which haproxy does not compress.
int RawHttp2::ReadStatus(int milliseconds) {
  constexpr std::array kNumbered = {200, 204, 206, 304, 400, 404, 500};
  Frame frame;
  do {
    frame = ReadFrame(milliseconds);
    if (frame.type < 0) return -1;
  } while (frame.type != kHeaders);
  const auto first = static_cast<uint8_t>(frame.payload.empty() ? 0 : frame.payload[0]);
  if (first >= 0x88 && first <= 0x8e) return kNumbered[first - 0x88];
  const size_t digits = frame.payload.find('\x03');
  int status = -1;
  if (digits == std::string::npos || !absl::SimpleAtoi(frame.payload.substr(digits + 1, 3), &status))
    return -1;
  return status;
}

bool RawHttp2::AwaitEnd(int milliseconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (is_open() && std::chrono::steady_clock::now() < deadline) ReadFrameType(100);
  return !is_open();
}

}  // namespace curator::testing
