#include "dp/synthesis/dpsyn/views_codec.h"

#include <utility>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "dp/synthesis/dense/product_component.h"
#include "dp/synthesis/dpsyn/view_noise.h"

namespace curator::dp {
namespace {

constexpr std::string_view kViewsTag = "curator.views_model";
constexpr int64_t kViewsVersion = 1;

ViewTable ReadView(CanonicalReader& reader, const Domain& domain) {
  const AttributeSet set = ReadSet(reader, domain);
  const double variance = reader.Real();
  const int64_t cells = reader.Count();
  if (cells != CellsOf(domain, set)) {
    reader.Refuse();
    return {};
  }
  ViewTable view = MakeView(domain, set, 0, variance);
  for (double& cell : view.cells) cell = reader.Real();
  return view;
}

}  // namespace

std::string EncodeViewsModel(const ViewsModelParts& parts) {
  CanonicalWriter writer(kViewsTag, kViewsVersion);
  WriteSet(writer, parts.attributes);
  writer.Integer(parts.records);
  writer.Integer(static_cast<int64_t>(parts.answers));
  writer.Integer(static_cast<int64_t>(parts.views.size()));
  for (const ViewTable& view : parts.views) {
    WriteSet(writer, view.set);
    writer.Real(view.variance);
    writer.Integer(static_cast<int64_t>(view.cells.size()));
    for (const double cell : view.cells) writer.Real(cell);
  }
  writer.Integer(parts.table ? parts.table->rows() : 0);
  writer.Text(parts.table ? parts.table->Packed() : "");
  writer.Integer(static_cast<int64_t>(parts.transcript.size()));
  for (const std::string& line : parts.transcript) writer.Text(line);
  return std::move(writer).Take();
}

absl::StatusOr<ViewsModelParts> DecodeViewsModel(const Domain& domain, std::string_view bytes) {
  CanonicalReader reader(bytes, kViewsTag, kViewsVersion);
  ViewsModelParts parts;
  parts.attributes = ReadSet(reader, domain);
  parts.records = reader.Integer();
  const int64_t answers = reader.Integer();
  if (answers < 0 || answers > static_cast<int64_t>(AnswerFrom::kLeastSquares)) reader.Refuse();
  parts.answers = static_cast<AnswerFrom>(answers);
  const int64_t views = reader.Count();
  for (int64_t i = 0; i < views && reader.ok(); ++i) parts.views.push_back(ReadView(reader, domain));
  const int64_t rows = reader.Integer();
  const std::string packed = reader.Text();
  if (rows == 0 && !packed.empty()) reader.Refuse();
  const int64_t lines = reader.Count();
  for (int64_t i = 0; i < lines && reader.ok(); ++i) parts.transcript.push_back(reader.Text());
  RETURN_IF_ERROR(reader.Finish());
  if (rows != 0) {
    ASSIGN_OR_RETURN(parts.table, RecordTable::Unpacked(parts.attributes, SizesOf(domain, parts.attributes),
                                                        rows, packed));
  }
  return parts;
}

}  // namespace curator::dp
