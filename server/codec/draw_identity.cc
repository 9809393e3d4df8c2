#include "codec/draw_identity.h"

#include "base/canonical_bytes.h"
#include "codec/accounting_codec.h"
#include "codec/query_bytes.h"
#include "codec/request_bytes.h"
#include "codec/residual_codec.h"
#include "codec/statistics_codec.h"

namespace curator::codec {

namespace {

int64_t VersionOf(const DrawIdentity& identity) {
  constexpr int64_t kFirstVersion = 1;
  constexpr int64_t kStatisticsVersion = 2;
  constexpr int64_t kResidualVersion = 3;
  if (identity.residual) return kResidualVersion;
  return identity.statistics.empty() ? kFirstVersion : kStatisticsVersion;
}

}  // namespace

std::string HashOf(const DrawIdentity& identity) {
  CanonicalWriter writer("curator.draw", VersionOf(identity));
  writer.Text(identity.dataset_id);
  writer.Integer(identity.dataset_version);
  WriteNumbers(writer, identity.parts);
  writer.Text(identity.method);
  writer.Integer(identity.method_version);
  writer.Integer(static_cast<int64_t>(identity.draws.size()));
  for (const dp::CountedEvent& draw : identity.draws) {
    writer.Text(EncodeEvent(draw.event));
    writer.Integer(draw.count);
  }
  writer.Integer(static_cast<int64_t>(identity.drawn_from.size()));
  for (const std::vector<dp::QueryGroup>& groups : identity.drawn_from) WriteGroups(writer, groups);
  WriteSettings(writer, identity.settings);
  WriteGroups(writer, identity.workload);
  WriteSpend(writer, identity.spend);
  WriteOptional(writer, identity.assume_records);
  writer.Text(identity.prior);
  if (!identity.statistics.empty()) {
    writer.Integer(static_cast<int64_t>(identity.statistics.size()));
    for (const dp::AskedStatistics& asked : identity.statistics) WriteStatistics(writer, asked);
    WriteDraws(writer, identity.statistics_draws);
  }
  if (identity.residual) WriteResidual(writer, *identity.residual);
  return Sha256(std::move(writer).Take());
}

}  // namespace curator::codec
