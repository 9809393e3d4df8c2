// Whose records a sealed part holds: what the bound of a person or group needs to hold in all parts together.
//
// Kept beside the snapshot of each part of a partitioned dataset, as long as parts may be added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator::records {

// A person's or group's id, as stored: the first bytes of its keyed hash.
using UnitKey = std::array<char, 16>;

// The units of one part, by the numbers that its table gives them, and how many records each has there.
struct UnitCounts {
  std::vector<UnitKey> keys;
  std::vector<uint32_t> records;  // as many
  bool operator==(const UnitCounts&) const = default;
};

// Durable on return; replaces an earlier one.
absl::Status WriteUnitCounts(const std::filesystem::path& path, const UnitCounts& counts);

// NOT_FOUND when there is no file, DATA_LOSS when it is not what WriteUnitCounts() wrote.
absl::StatusOr<UnitCounts> ReadUnitCounts(const std::filesystem::path& path);

// Keys are bytes of a keyed hash already: any eight of them are as good as a hash of all.
struct UnitKeyHash {
  size_t operator()(const UnitKey& key) const;
};
template <typename Value>
using ByUnit = absl::flat_hash_map<UnitKey, Value, UnitKeyHash>;

}  // namespace curator::records
