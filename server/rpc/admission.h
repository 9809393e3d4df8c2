// How many calls the server handles at a time. Those beyond are refused at once, before anything is done for
// them: with OverQuota() (base/errors.h) where a principal has its share, and with Overloaded() where all
// places are taken.
//
// Calls, streams from clients and watches have places of their own, so that none takes the places of another
// kind; and one principal holds at most a share of each kind, so that others are served while it asks for
// more: its quotas, or where there are none what the server can bear. A principal with quotas makes so many
// calls a second, too. The limits are public: a refusal reveals how busy the server is and nothing about
// records.
//
// Thread-safe.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/quotas.h"
#include "rpc/call_rate.h"

namespace curator::rpc {

enum class CallKind {
  kCall,    // one request; holds a thread
  kStream,  // messages from the client (an import, a check of a schema); holds a thread
  kWatch,   // waits for news of an operation or of the server's health; holds no thread
  kSend,    // up to kMostKeptBytes (rpc/handle.h) on their way to a client; holds no thread
};
inline constexpr int kCallKinds = 4;

struct Places {
  int in_all = 0;
  int of_one = 0;  // principal; calls without one share these
};
inline constexpr std::array<Places, kCallKinds> kPlaces = {{{192, 96}, {64, 32}, {2048, 512}, {512, 96}}};
// Every call and stream that has a place has a thread.
inline constexpr int kCallThreads = kPlaces[0].in_all + kPlaces[1].in_all;

class Admission {
 public:
  // Without quotas as in development mode.
  explicit Admission(std::optional<QuotaTable> quotas = std::nullopt);

  // The right to be handled, until it is destroyed. Movable. The admission must outlive it.
  class Place {
   public:
    Place(Place&& other) noexcept;
    Place& operator=(Place&&) = delete;
    ~Place();

   private:
    friend class Admission;
    Place(Admission& admission, CallKind kind, std::string principal)
        : admission_(&admission), kind_(kind), principal_(std::move(principal)) {}
    Admission* admission_;
    CallKind kind_;
    std::string principal_;
  };

  // `principal` is empty for a call without one. Errors: OverQuota() when the principal calls too often, and
  // when its share of the places of this kind is taken; Overloaded() when all are, or those for calls without
  // a principal; UNAVAILABLE after Close().
  absl::StatusOr<Place> Admit(CallKind kind, const std::string& principal);

  // What a principal holds now, of calls after a pause as CallRate::Used().
  struct InUse {
    int64_t calls_after_a_pause = 0;
    std::array<int, kCallKinds> places = {};  // by kind
  };
  InUse UsedBy(const std::string& principal) const;
  // How many places of this kind the principal may hold, or the callers without one.
  int MostOf(CallKind kind, const std::string& principal) const;

  // The server is stopping: admits nothing from now on.
  void Close();

 private:
  struct Taken {
    int in_all = 0;
    std::map<std::string, int> by_principal;  // without zeros
  };

  void Free(CallKind kind, const std::string& principal);
  const std::optional<QuotaTable> quotas_;
  CallRate rate_;
  mutable absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::array<Taken, kCallKinds> taken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::rpc
