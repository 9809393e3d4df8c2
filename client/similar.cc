#include "client/similar.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace curator {
namespace {

bool AreSameLetter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Whether one text becomes the other by at most `changes` letters that are added, removed or replaced, and
// neighbours that are exchanged.
bool AreNear(std::string_view a, std::string_view b, size_t changes) {
  while (!a.empty() && !b.empty() && AreSameLetter(a.front(), b.front())) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() || b.empty()) return std::max(a.size(), b.size()) <= changes;
  if (changes == 0) return false;
  const bool are_exchanged =
      a.size() > 1 && b.size() > 1 && AreSameLetter(a[0], b[1]) && AreSameLetter(a[1], b[0]);
  if (are_exchanged && AreNear(a.substr(2), b.substr(2), changes - 1)) return true;
  return AreNear(a.substr(1), b, changes - 1) || AreNear(a, b.substr(1), changes - 1) ||
         AreNear(a.substr(1), b.substr(1), changes - 1);
}

}  // namespace

std::string DidYouMean(std::string_view typed, const std::vector<std::string>& names) {
  constexpr size_t kMostNames = 3;
  constexpr size_t kLongest = 40;  // of what is compared
  constexpr size_t kLettersForEachChange = 4;
  if (typed.empty() || typed.size() > kLongest) return "";
  const size_t changes = std::min<size_t>(3, 1 + typed.size() / kLettersForEachChange);
  std::vector<std::string> near;
  for (const std::string& name : names) {
    if (near.size() < kMostNames && AreNear(typed, name, changes)) near.push_back(name);
  }
  return near.empty() ? "" : absl::StrCat("; did you mean ", absl::StrJoin(near, " or "), "?");
}

}  // namespace curator
