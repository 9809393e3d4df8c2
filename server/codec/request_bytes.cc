#include "codec/request_bytes.h"

namespace curator::codec {
namespace {

template <typename Units>
void WriteUnits(CanonicalWriter& writer, const std::optional<Units>& amount) {
  WriteOptional(writer, amount ? std::optional<int64_t>(amount->units()) : std::nullopt);
}

}  // namespace

void WriteNumbers(CanonicalWriter& writer, const std::vector<int64_t>& numbers) {
  writer.Integer(static_cast<int64_t>(numbers.size()));
  for (const int64_t number : numbers) writer.Integer(number);
}

void WriteOptional(CanonicalWriter& writer, const std::optional<int64_t>& value) {
  writer.Integer(value ? 1 : 0);
  if (value) writer.Integer(*value);
}

void WriteSpend(CanonicalWriter& writer, const dp::Spend& spend) {
  WriteUnits(writer, spend.epsilon);
  WriteUnits(writer, spend.delta);
  WriteUnits(writer, spend.rho);
}

void WriteSettings(CanonicalWriter& writer, const std::map<std::string, std::string>& settings) {
  writer.Integer(static_cast<int64_t>(settings.size()));
  for (const auto& [key, value] : settings) {
    writer.Text(key);
    writer.Text(value);
  }
}

}  // namespace curator::codec
