#include "client/cli/schema/csv_columns.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/output/files.h"
#include "dp/domain/numbers.h"
#include "records/byte_stream.h"

namespace curator::cli {
namespace {

constexpr size_t kBytesAtOnce = size_t{1} << 16;

absl::Status InFile(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  return {status.code(), absl::StrCat(path, ": ", status.message())};
}

using TakeBytes = std::function<absl::Status(std::string_view bytes)>;

// Passes the bytes of the file to `raw` and, decompressed, to `plain`, until one of them returns an error.
absl::Status ReadBytes(const std::string& path, const TakeBytes& raw, const TakeBytes& plain) {
  ASSIGN_OR_RETURN(InputFile file, OpenInput(path));
  const std::unique_ptr<records::ByteStream> bytes = file.compression == Client::Compression::kGzip
                                                         ? records::GzipStream(plain)
                                                         : records::PlainStream(plain);
  std::string piece(kBytesAtOnce, '\0');
  while (file.stream.read(piece.data(), static_cast<std::streamsize>(piece.size())),
         file.stream.gcount() > 0) {
    const std::string_view got(piece.data(), static_cast<size_t>(file.stream.gcount()));
    RETURN_IF_ERROR(raw(got));
    RETURN_IF_ERROR(bytes->Append(got));
  }
  if (file.stream.bad()) return absl::UnavailableError("cannot be read to its end");
  return bytes->Finish();
}

// Where the first line that is not blank ends, outside of quotes; none before that has arrived.
size_t EndOfHeader(std::string_view text) {
  bool in_quotes = false;
  bool is_blank = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool ends_line = !in_quotes && (c == '\n' || c == '\r');
    if (ends_line && !is_blank) return i + 1;
    if (c == '"') in_quotes = !in_quotes;
    is_blank = is_blank && (ends_line || c == ' ' || c == '\t');
  }
  return std::string_view::npos;
}

// The header and nothing behind it.
absl::StatusOr<std::string> HeaderText(const std::string& path) {
  std::string text;
  bool is_complete = false;
  const auto ignore = [](std::string_view) { return absl::OkStatus(); };
  const absl::Status read = ReadBytes(path, ignore, [&](std::string_view bytes) -> absl::Status {
    text.append(bytes);
    const size_t end = EndOfHeader(text);
    is_complete = end != std::string::npos;
    if (is_complete) {
      text.resize(end);
      return absl::CancelledError();  // the rest is not read
    }
    if (text.size() <= records::kMaxHeaderBytes) return absl::OkStatus();
    return absl::InvalidArgumentError("its first line is too long for a header");
  });
  if (!is_complete) RETURN_IF_ERROR(read);
  return text;
}

char SeparatorOf(std::string_view header) {
  constexpr std::string_view kSeparators = ",;|\t";
  std::array<int, kSeparators.size()> counts = {};
  bool in_quotes = false;
  for (const char c : header) {
    if (c == '"') in_quotes = !in_quotes;
    const size_t which = in_quotes ? std::string_view::npos : kSeparators.find(c);
    if (which != std::string_view::npos) ++counts[which];
  }
  return kSeparators[static_cast<size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

class TakesHeader final : public records::CsvSink {
 public:
  absl::Status TakeHeader(const std::vector<std::string>& columns) override {
    for (const std::string& column : columns) columns_.emplace_back(dp::TrimBlanks(column));
    return absl::OkStatus();
  }
  void TakeField(size_t /*column*/, std::string_view /*text*/) override {}
  absl::Status TakeRow(int64_t /*line*/) override { return absl::OkStatus(); }

  std::vector<std::string> columns() && { return std::move(columns_); }

 private:
  std::vector<std::string> columns_;
};

absl::Status CheckNamedOnce(const std::vector<std::string>& columns) {
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto [found, is_new] = places.try_emplace(columns[i], i);
    if (is_new || columns[i].empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat("columns ", found->second + 1, " and ", i + 1,
                                                   " have the same name, \"", columns[i],
                                                   "\": rename one of them in the file's first line"));
  }
  return absl::OkStatus();
}

absl::StatusOr<CsvHeader> HeaderIn(const std::string& text) {
  CsvHeader header{.separator = SeparatorOf(text)};
  TakesHeader sink;
  records::CsvReader reader(sink, header.separator);
  RETURN_IF_ERROR(reader.Append(text));
  RETURN_IF_ERROR(reader.Finish());
  header.columns = std::move(sink).columns();
  RETURN_IF_ERROR(CheckNamedOnce(header.columns));
  return header;
}

class FileDigest {
 public:
  FileDigest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    is_good_ = context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }

  void Add(std::string_view bytes) {
    is_good_ = is_good_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
  }
  absl::StatusOr<std::string> Finish() {
    std::string digest(32, '\0');
    is_good_ = is_good_ && EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()),
                                              nullptr) == 1;
    if (!is_good_) return absl::InternalError("its SHA-256 cannot be computed");
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
  bool is_good_;
};

}  // namespace

absl::StatusOr<CsvHeader> ReadCsvHeader(const std::string& path) {
  absl::StatusOr<std::string> text = HeaderText(path);
  RETURN_IF_ERROR(InFile(path, text.status()));
  absl::StatusOr<CsvHeader> header = HeaderIn(*text);
  RETURN_IF_ERROR(InFile(path, header.status()));
  return header;
}

absl::StatusOr<std::string> ReadCsvRows(const std::string& path, char separator, records::CsvSink& sink) {
  FileDigest digest;
  records::CsvReader reader(sink, separator);
  const auto add = [&digest](std::string_view bytes) {
    digest.Add(bytes);
    return absl::OkStatus();
  };
  absl::Status read =
      ReadBytes(path, add, [&reader](std::string_view bytes) { return reader.Append(bytes); });
  if (read.ok()) read = reader.Finish();
  RETURN_IF_ERROR(InFile(path, read));
  absl::StatusOr<std::string> hash = digest.Finish();
  RETURN_IF_ERROR(InFile(path, hash.status()));
  return hash;
}

}  // namespace curator::cli
