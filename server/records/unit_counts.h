// The units of a sealed part with their numbers of records, needed to bound a unit's records over all parts.
//
// Stored beside the snapshot of each part of a partitioned dataset, because further parts may be added.
// Thread-safe but for the file: plain values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator::records {

// A person's or group's id, as stored: the first bytes of its keyed hash.
using UnitKey = std::array<char, 16>;

// The units of one part, indexed by their numbers in the part's table, with their numbers of records there.
struct UnitCounts {
  std::vector<UnitKey> keys;
  std::vector<uint32_t> records;  // one for each key
  bool operator==(const UnitCounts&) const = default;
};

// Durable on return; replaces an earlier one.
absl::Status WriteUnitCounts(const std::filesystem::path& path, const UnitCounts& counts);

// NOT_FOUND when there is no file, DATA_LOSS when it is not what WriteUnitCounts() wrote.
absl::StatusOr<UnitCounts> ReadUnitCounts(const std::filesystem::path& path);

// Keys are bytes of a keyed hash already, so any eight of them serve as the hash.
struct UnitKeyHash {
  size_t operator()(const UnitKey& key) const;
};
// Abseil's maps do not survive an allocation that fails.
template <typename Value>
using ByUnit = std::unordered_map<UnitKey, Value, UnitKeyHash>;

}  // namespace curator::records
