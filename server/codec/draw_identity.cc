#include "codec/draw_identity.h"

#include "base/canonical_bytes.h"
#include "codec/accounting_codec.h"
#include "codec/query_bytes.h"
#include "codec/request_bytes.h"

namespace curator::codec {

std::string HashOf(const DrawIdentity& identity) {
  CanonicalWriter writer("curator.draw", 1);
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
  return Sha256(std::move(writer).Take());
}

}  // namespace curator::codec
