// Canonical bytes of sets of statistics and of what was drawn for them, within larger documents.
//
// Thread-safe: pure functions.
#pragma once

#include <vector>

#include "base/canonical_bytes.h"
#include "dp/workload/statistics/asked_statistics.h"
#include "dp/workload/statistics/statistics_answers.h"

namespace curator::codec {

// The statistics, the groups and the way of quantiles; without the words of the condition, which follow from
// the cells.
void WriteStatistics(CanonicalWriter& writer, const dp::AskedStatistics& asked);
dp::AskedStatistics ReadStatistics(CanonicalReader& reader);

// Reads the same without keeping it: the number of the condition's cells.
int64_t SkipStatistics(CanonicalReader& reader);

// The number of draws; of each one what is drawn.
void WriteDraws(CanonicalWriter& writer, const std::vector<dp::StatisticsDraw>& draws);
std::vector<dp::StatisticsDraw> ReadDraws(CanonicalReader& reader);

// What each draw was bought: its noise, or the epsilon of its selections.
void WriteBought(CanonicalWriter& writer, const std::vector<dp::BoughtDraw>& bought);
std::vector<dp::BoughtDraw> ReadBought(CanonicalReader& reader);

}  // namespace curator::codec
