// Whether deadlines may follow a reading of the database's clock. After a failover, or when it is set, the
// clock may jump, and what a jump forward expires is spent for good.
//
// A reading that is more than an hour ahead of where this process's steady clock expects it is a jump. It is
// trusted from the first later reading that confirms it: at least a minute later, and within an hour of where
// the jump put it. A jump backward expires nothing, so it needs no confirmation.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

namespace curator::ledger::sql {

class ClockWatch {
 public:
  enum class Verdict { kTrusted, kJumped, kUnconfirmed };  // kJumped: seen for the first time

  // Readings of the database's clock and of a steady clock at the same moment, both in microseconds.
  Verdict Judge(int64_t database_us, int64_t steady_us);

 private:
  struct Reading {
    int64_t database_us = 0;
    int64_t steady_us = 0;
  };
  // How far a reading is ahead of what `before` lets expect.
  static int64_t AheadUs(const Reading& reading, const Reading& before) {
    return (reading.database_us - before.database_us) - (reading.steady_us - before.steady_us);
  }

  std::optional<Reading> last_trusted_;
  std::optional<Reading> jump_;
};

}  // namespace curator::ledger::sql
