// --max-rejected: how many rows of a file may be rejected before a command counts as failed.
//
// Thread-safe: plain values and pure functions, but for AddMaxRejected().
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "curator/v1/dataset.pb.h"

namespace curator::cli {

// A number of rows, or a share of the rows that were read.
struct MostRejected {
  std::string text = "1%";  // as it was written
  int64_t rows = 0;
  int64_t millionths = 10'000;  // of the rows; where it is a share
  bool is_share = true;

  // Whether more rows were rejected.
  bool IsExceededBy(const v1::ImportRecordsResponse& import) const;
  // "14 of 100 rows were rejected, more than 1% (--max-rejected)."
  std::string Complaint(const v1::ImportRecordsResponse& import) const;
};

// "5%", "0.5%" or "12"; none for anything else.
std::optional<MostRejected> ParseMostRejected(const std::string& text);

void AddMaxRejected(CLI::App* command, MostRejected& most);

}  // namespace curator::cli
