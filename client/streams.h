// Reading a server's stream to its end, and sending a file as one.
//
// Internal to the client library.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <istream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/error.h"

namespace curator::client {

inline constexpr size_t kCsvPieceBytes = 256 << 10;

// Hands each message to `take` until the stream ends or `take` fails; the server is told to stop then.
template <typename Message, typename Take>
absl::Status ReadAll(grpc::ClientContext& context, grpc::ClientReader<Message>& reader, const Take& take) {
  Message message;
  while (reader.Read(&message)) {
    if (absl::Status status = take(std::move(message)); !status.ok()) {
      context.TryCancel();
      reader.Finish();
      return status;
    }
  }
  return FromGrpc(reader.Finish());
}

// A CSV file that is sent in pieces, from its present position, as often as attempts are made.
class CsvSource {
 public:
  explicit CsvSource(std::istream& stream) : stream_(stream), start_(stream.tellg()) {}

  absl::Status Rewind() {
    if (!sent_before_) {
      sent_before_ = true;
      return absl::OkStatus();
    }
    stream_.clear();
    if (start_ == std::istream::pos_type(-1) || !stream_.seekg(start_)) {
      return absl::FailedPreconditionError(
          "the connection was lost and the input cannot be read a second time: nothing has been imported "
          "unless the "
          "dataset says so; send it again under the same request id");
    }
    return absl::OkStatus();
  }

  // Sends pieces until the input ends or the server takes no more, and returns what the server says.
  template <typename Request, typename SetPiece>
  absl::Status SendTo(grpc::ClientWriter<Request>& writer, grpc::ClientContext& context,
                      const SetPiece& set_piece) {
    std::vector<char> piece(kCsvPieceBytes);
    bool wanted = true;
    while (wanted && stream_) {
      stream_.read(piece.data(), static_cast<std::streamsize>(piece.size()));
      const size_t length = static_cast<size_t>(stream_.gcount());
      if (length == 0) break;
      Request request;
      set_piece(request, std::string(piece.data(), length));
      wanted = writer.Write(request);
    }
    if (stream_.bad()) {
      context.TryCancel();
      writer.Finish();
      return absl::DataLossError("the input cannot be read to its end");
    }
    writer.WritesDone();
    return FromGrpc(writer.Finish());
  }

 private:
  std::istream& stream_;
  const std::istream::pos_type start_;
  bool sent_before_ = false;
};

}  // namespace curator::client
