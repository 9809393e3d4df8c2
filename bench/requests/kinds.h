// The kinds of requests that are measured, and the clients that send them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/requests/calls.h"
#include "client/client.h"

namespace curator::bench {

enum class Kind {
  kAnswer,   // a marginal of two cells, with noise
  kWide,     // 64 marginals of four cells
  kReplay,   // a marginal of two cells that the same request was answered before
  kFree,     // one that an earlier release answers
  kReserve,  // a reservation
  kCycle,    // a reservation, its start and its commit: three calls
};
inline constexpr std::array kAllKinds = {Kind::kAnswer, Kind::kWide,    Kind::kReplay,
                                         Kind::kFree,   Kind::kReserve, Kind::kCycle};

std::string NameOf(Kind kind);
std::optional<Kind> KindNamed(std::string_view name);

// The dataset that all requests are about: "hot", whose limit is never reached.
inline constexpr char kDataset[] = "hot";
inline constexpr char kOwner[] = "olga";
void MakeDataset(const Client& owner);

// A server bounds what one principal does, so the clients take turns at the names of many principals. They
// begin with the kind, by which the echo knows what is asked of it.
std::string PrincipalOf(Kind kind, int number);
std::optional<Kind> KindOfPrincipal(std::string_view principal);

// The messages that answered one request, as bytes: those of a stream, or one of each call.
using Messages = std::vector<std::string>;

// Sends requests of one kind. Thread-safe but for its construction.
class Traffic {
 public:
  // Grants its principals access, and has those requests answered that the kind needs to have been answered.
  Traffic(Kind kind, const Client& owner, const Connections& server);

  Kind kind() const { return kind_; }
  // Sends a request over the connection of `client`, as the principal whose `turn` it is, and waits until it
  // is answered.
  void Send(const Connections& to, int client, int64_t turn, std::atomic<int64_t>& refusals) const;
  // Sends one and returns what answered it. Ends the program when that is no answer of this kind.
  Messages Record(const Connections& server) const;

 private:
  v1::AnswerWorkloadRequest Question(size_t principal) const;
  Messages RecordAnswer(Caller& caller) const;

  const Kind kind_;
  std::vector<std::string> principals_;
  std::vector<v1::AnswerWorkloadRequest> stored_;  // by principal: what a replay repeats
};

}  // namespace curator::bench
