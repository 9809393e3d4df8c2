#include "ledger/pseudonyms/pseudonym.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"

namespace curator::ledger {
namespace {

constexpr char kMark = '~';
constexpr size_t kHashBytes = 16;
constexpr size_t kPseudonymBytes = 1 + 2 * kHashBytes;

bool IsLowerHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Calls `found` for each pseudonym within `text`, and `between` for what lies around them, in order.
template <typename Between, typename Found>
void Split(std::string_view text, const Between& between, const Found& found) {
  size_t begin = 0;
  size_t mark = text.find(kMark);
  while (mark != std::string_view::npos) {
    const std::string_view candidate = text.substr(mark, kPseudonymBytes);
    if (!IsPseudonym(candidate)) {
      mark = text.find(kMark, mark + 1);
      continue;
    }
    between(text.substr(begin, mark - begin));
    found(std::string(candidate));
    begin = mark + kPseudonymBytes;
    mark = text.find(kMark, begin);
  }
  between(text.substr(begin));
}

}  // namespace

std::string MakePseudonym(std::string_view key, std::string_view name) {
  CanonicalWriter writer("curator.ledger.pseudonym", 1);
  writer.Text(name);
  const std::string document = std::move(writer).Take();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(document.data()), document.size(), digest.data(),
           nullptr) == nullptr) {
    std::abort();  // not covered: without memory there is nothing to go on with
  }
  return absl::StrCat(std::string(1, kMark), absl::BytesToHexString(absl::string_view(
                                                 reinterpret_cast<const char*>(digest.data()), kHashBytes)));
}

bool IsPseudonym(std::string_view text) {
  return text.size() == kPseudonymBytes && text.front() == kMark &&
         std::ranges::all_of(text.substr(1), IsLowerHexDigit);
}

absl::Status CheckPseudonymRow(const PseudonymRow& row) {
  const bool is_right =
      row.key.empty() ? row.pseudonym == row.name : row.pseudonym == MakePseudonym(row.key, row.name);
  if (is_right) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "the table of pseudonyms was changed: ", row.pseudonym,
      " is not the pseudonym of the name beside it, so nobody can say whose rights and charges these are"));
}

std::vector<std::string> PseudonymsIn(std::string_view text) {
  std::vector<std::string> pseudonyms;
  Split(
      text, [](std::string_view) {},
      [&](std::string pseudonym) { pseudonyms.push_back(std::move(pseudonym)); });
  return pseudonyms;
}

std::string WithNames(std::string_view text, const NameOfPseudonym& name_of) {
  std::string named;
  Split(
      text, [&](std::string_view part) { named.append(part); },
      [&](const std::string& pseudonym) { named.append(name_of(pseudonym)); });
  return named;
}

}  // namespace curator::ledger
