#include "dp/data/coded_columns.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::dp {
namespace {

template <typename Code>
Code CodeAt(const std::byte* codes, int64_t row) {
  Code code;
  std::memcpy(&code, codes + row * static_cast<int64_t>(sizeof(Code)), sizeof(Code));
  return code;
}

template <typename Code>
uint32_t LargestCode(std::span<const std::byte> codes) {
  Code largest = 0;
  const int64_t rows = static_cast<int64_t>(codes.size() / sizeof(Code));
  for (int64_t row = 0; row < rows; ++row) largest = std::max(largest, CodeAt<Code>(codes.data(), row));
  return largest;
}

uint32_t LargestCode(CodeWidth width, std::span<const std::byte> codes) {
  if (width == CodeWidth::kOneByte) return LargestCode<uint8_t>(codes);
  if (width == CodeWidth::kTwoBytes) return LargestCode<uint16_t>(codes);
  return LargestCode<uint32_t>(codes);
}

}  // namespace

CodeWidth WidthFor(int64_t size) {
  if (size <= int64_t{1} << 8) return CodeWidth::kOneByte;
  if (size <= int64_t{1} << 16) return CodeWidth::kTwoBytes;
  return CodeWidth::kFourBytes;
}

uint32_t ColumnView::operator[](int64_t row) const {
  if (width == CodeWidth::kOneByte) return CodeAt<uint8_t>(codes, row);
  if (width == CodeWidth::kTwoBytes) return CodeAt<uint16_t>(codes, row);
  return CodeAt<uint32_t>(codes, row);
}

std::vector<int64_t> SizesOf(const Domain& domain) {
  std::vector<int64_t> sizes = AttributeSizesOf(domain);
  for (const Measure& measure : domain.measures()) sizes.push_back(measure.size());
  return sizes;
}

std::vector<int64_t> AttributeSizesOf(const Domain& domain) {
  std::vector<int64_t> sizes;
  for (const Attribute& attribute : domain.attributes()) sizes.push_back(attribute.size());
  return sizes;
}

CodedColumns::CodedColumns(std::vector<int64_t> sizes) : sizes_(std::move(sizes)), codes_(sizes_.size()) {}

absl::Status CodedColumns::AppendRow(std::span<const uint32_t> codes) {
  if (codes.size() != sizes_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a row of ", codes.size(), " codes for a table of ", sizes_.size(), " columns"));
  }
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] >= sizes_[i]) {
      return absl::InvalidArgumentError(
          absl::StrCat("a code of column ", i, " is not below its size, ", sizes_[i]));
    }
  }
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&codes[i]);  // the low bytes: little-endian
    codes_[i].insert(codes_[i].end(), bytes, bytes + BytesOf(width(i)));
  }
  return absl::OkStatus();
}

void CodedColumns::AppendCodes(size_t column, std::span<const std::byte> codes) {
  codes_[column].insert(codes_[column].end(), codes.begin(), codes.end());
}

absl::Status CodedColumns::Check() const {
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const size_t bytes = BytesOf(width(i));
    if (codes_[i].size() % bytes != 0 || static_cast<int64_t>(codes_[i].size() / bytes) != rows()) {
      return absl::InvalidArgumentError(absl::StrCat("column ", i, " has another length than the first"));
    }
    if (!codes_[i].empty() && LargestCode(width(i), codes_[i]) >= sizes_[i]) {
      return absl::InvalidArgumentError(
          absl::StrCat("a code of column ", i, " is not below its size, ", sizes_[i]));
    }
  }
  if (rows() > kMaxRows) return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxRows, " rows"));
  return absl::OkStatus();
}

int64_t CodedColumns::rows() const {
  return sizes_.empty() ? 0 : static_cast<int64_t>(codes_[0].size() / BytesOf(width(0)));
}

ColumnsView CodedColumns::View() const {
  ColumnsView view{.rows = rows(), .columns = {}};
  for (size_t i = 0; i < sizes_.size(); ++i) {
    view.columns.push_back({.codes = codes_[i].data(), .width = width(i), .size = sizes_[i]});
  }
  return view;
}

void CodedColumns::Drop(size_t column) {
  codes_[column] = std::vector<std::byte>();
}

}  // namespace curator::dp
