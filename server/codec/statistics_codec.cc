#include "codec/statistics_codec.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "codec/query_bytes.h"
#include "codec/request_bytes.h"

namespace curator::codec {
namespace {

std::optional<int64_t> ReadOptional(CanonicalReader& reader) {
  const int64_t present = reader.Integer();
  if (present != 0 && present != 1) reader.Refuse();
  return present == 1 ? std::optional(reader.Integer()) : std::nullopt;
}

uint32_t ReadUnsigned(CanonicalReader& reader) {
  const int64_t value = reader.Integer();
  if (value < 0 || value > UINT32_MAX) reader.Refuse();
  return static_cast<uint32_t>(value);
}

std::optional<uint32_t> ReadColumn(CanonicalReader& reader) {
  const std::optional<int64_t> column = ReadOptional(reader);
  if (!column) return std::nullopt;
  if (*column < 0 || *column > UINT32_MAX) reader.Refuse();
  return static_cast<uint32_t>(*column);
}

void WriteColumn(CanonicalWriter& writer, const std::optional<uint32_t>& column) {
  WriteOptional(writer, column ? std::optional<int64_t>(*column) : std::nullopt);
}

int32_t ReadThousandths(CanonicalReader& reader) {
  const int64_t thousandths = reader.Integer();
  if (thousandths < 1 || thousandths > 999) reader.Refuse();
  return static_cast<int32_t>(thousandths);
}

// As runs of consecutive cells: the first and the last of each in one number.
void WriteCells(CanonicalWriter& writer, const std::vector<uint32_t>& cells) {
  std::vector<int64_t> runs;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t first = i;
    while (i + 1 < cells.size() && cells[i + 1] == cells[i] + 1) ++i;
    runs.push_back(int64_t{cells[first]} << 32 | cells[i]);
  }
  WriteValues(writer, runs);
}

// Calls `visit` with the first and the last cell of each run.
template <typename Visit>
void ReadRuns(CanonicalReader& reader, const Visit& visit) {
  int64_t next = 0;  // at least, for runs that do not touch
  for (int64_t left = reader.Count(); left > 0; --left) {
    const auto run = static_cast<uint64_t>(reader.Integer());
    const auto first = static_cast<int64_t>(run >> 32);
    const auto last = static_cast<int64_t>(run & UINT32_MAX);
    if (first < next || last < first || last >= dp::kMostGroupCells) return reader.Refuse();
    visit(first, last);
    next = last + 2;
  }
}

void WriteDraw(CanonicalWriter& writer, const dp::SumDraw& draw) {
  writer.Integer(draw.blocks ? 1 : 0);
  if (draw.blocks) {
    writer.Integer(draw.blocks->column);
    writer.Integer(draw.blocks->width);
  }
  writer.Integer(static_cast<int64_t>(draw.value.kind));
  WriteColumn(writer, draw.value.column);
  writer.Integer(draw.value.centre);
}

void WriteDraw(CanonicalWriter& writer, const dp::QuantileDraw& draw) {
  writer.Integer(draw.column);
  writer.Integer(draw.thousandths);
}

void WriteDraw(CanonicalWriter& /*writer*/, const dp::UnitsDraw& /*draw*/) {}

dp::SumDraw ReadSum(CanonicalReader& reader) {
  dp::SumDraw draw;
  const int64_t has_blocks = reader.Integer();
  if (has_blocks != 0 && has_blocks != 1) reader.Refuse();
  if (has_blocks == 1) {
    draw.blocks = dp::CodeBlocks{.column = ReadUnsigned(reader)};
    draw.blocks->width = reader.Integer();
    if (draw.blocks->width < 1) reader.Refuse();
  }
  draw.value.kind = ReadEnum(reader, dp::SummedValue::Kind::kSquare);
  draw.value.column = ReadColumn(reader);
  draw.value.centre = reader.Integer();
  return draw;
}

dp::StatisticsDraw ReadDraw(CanonicalReader& reader) {
  dp::StatisticsDraw draw;
  draw.set = ReadUnsigned(reader);
  draw.shares_of_share = reader.Integer();
  if (draw.shares_of_share < 1) reader.Refuse();
  switch (reader.Integer()) {
    case 0:
      draw.what = ReadSum(reader);
      break;
    case 1: {
      const uint32_t column = ReadUnsigned(reader);
      draw.what = dp::QuantileDraw{.column = column, .thousandths = ReadThousandths(reader)};
      break;
    }
    case 2:
      draw.what = dp::UnitsDraw();
      break;
    default:
      reader.Refuse();
  }
  return draw;
}

// All but the cells, whose runs `visit` gets.
template <typename Visit>
dp::AskedStatistics ReadAround(CanonicalReader& reader, const Visit& visit) {
  dp::AskedStatistics asked;
  constexpr int64_t kLeastBytes = 3 * 8;
  for (int64_t left = reader.Count(kLeastBytes); left > 0; --left) {
    dp::Statistic statistic{.kind = ReadEnum(reader, dp::StatisticKind::kDistinctUnits)};
    statistic.column = ReadColumn(reader);
    statistic.thousandths = ReadThousandths(reader);
    asked.statistics.push_back(statistic);
  }
  if (asked.statistics.empty()) reader.Refuse();
  asked.by = ReadSet(reader);
  asked.where = ReadSet(reader);
  ReadRuns(reader, visit);
  asked.quantiles = ReadEnum(reader, dp::QuantileWay::kSelection);
  return asked;
}

}  // namespace

void WriteStatistics(CanonicalWriter& writer, const dp::AskedStatistics& asked) {
  writer.Integer(static_cast<int64_t>(asked.statistics.size()));
  for (const dp::Statistic& statistic : asked.statistics) {
    writer.Integer(static_cast<int64_t>(statistic.kind));
    WriteColumn(writer, statistic.column);
    writer.Integer(statistic.thousandths);
  }
  WriteSet(writer, asked.by);
  WriteSet(writer, asked.where);
  WriteCells(writer, asked.cells);
  writer.Integer(static_cast<int64_t>(asked.quantiles));
}

dp::AskedStatistics ReadStatistics(CanonicalReader& reader) {
  std::vector<uint32_t> cells;
  dp::AskedStatistics asked = ReadAround(reader, [&](int64_t first, int64_t last) {
    for (int64_t cell = first; cell <= last; ++cell) cells.push_back(static_cast<uint32_t>(cell));
  });
  asked.cells = std::move(cells);
  return asked;
}

int64_t SkipStatistics(CanonicalReader& reader) {
  int64_t cells = 0;
  ReadAround(reader, [&](int64_t first, int64_t last) { cells += last - first + 1; });
  return cells;
}

void WriteDraws(CanonicalWriter& writer, const std::vector<dp::StatisticsDraw>& draws) {
  writer.Integer(static_cast<int64_t>(draws.size()));
  for (const dp::StatisticsDraw& draw : draws) {
    writer.Integer(static_cast<int64_t>(draw.set));
    writer.Integer(draw.shares_of_share);
    writer.Integer(static_cast<int64_t>(draw.what.index()));
    std::visit([&](const auto& what) { WriteDraw(writer, what); }, draw.what);
  }
}

std::vector<dp::StatisticsDraw> ReadDraws(CanonicalReader& reader) {
  constexpr int64_t kLeastBytes = 3 * 8;
  std::vector<dp::StatisticsDraw> draws(static_cast<size_t>(reader.Count(kLeastBytes)));
  for (dp::StatisticsDraw& draw : draws) draw = ReadDraw(reader);
  return draws;
}

void WriteBought(CanonicalWriter& writer, const std::vector<dp::BoughtDraw>& bought) {
  writer.Integer(static_cast<int64_t>(bought.size()));
  for (const dp::BoughtDraw& draw : bought) {
    WriteNoise(writer, draw.noise);
    writer.Integer(draw.epsilon.units());
  }
}

std::vector<dp::BoughtDraw> ReadBought(CanonicalReader& reader) {
  constexpr int64_t kBytes = 4 * 8;
  std::vector<dp::BoughtDraw> bought(static_cast<size_t>(reader.Count(kBytes)));
  for (dp::BoughtDraw& draw : bought) {
    draw.noise = ReadNoise(reader);
    draw.epsilon = dp::Epsilon(reader.Integer());
    if (draw.epsilon.units() < 0) reader.Refuse();
  }
  return bought;
}

}  // namespace curator::codec
