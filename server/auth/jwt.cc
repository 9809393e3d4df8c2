#include "auth/jwt.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "auth/faults.h"
#include "auth/strict_json.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace curator::auth {
namespace {

constexpr size_t kMostSubjectBytes = 1024;

absl::Status InvalidToken(std::string_view detail) {
  return NotAccepted(Fault::kInvalid, absl::StrCat("a token is invalid: ", std::string(detail)));
}

// The object in one part of a token.
absl::StatusOr<nlohmann::json> ObjectIn(std::string_view part, std::string_view name) {
  const absl::StatusOr<std::string> bytes = DecodeBase64Url(part);
  if (!bytes.ok()) return InvalidToken(absl::StrCat("its ", std::string(name), " is not base64url"));
  absl::StatusOr<nlohmann::json> object = ParseStrictJson(*bytes);
  if (object.ok() && object->is_object()) return object;
  return InvalidToken(absl::StrCat("its ", std::string(name), " is no JSON object"));
}

std::optional<std::string> FindText(const nlohmann::json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

bool IsType(const nlohmann::json& header) {
  if (!header.contains("typ")) return true;
  std::string type = absl::AsciiStrToLower(FindText(header, "typ").value_or("?"));
  if (type.starts_with("application/")) type.erase(0, 12);
  return type == "jwt" || type == "at+jwt";
}

// A time in seconds since 1970; none when it is missing.
absl::StatusOr<std::optional<absl::Time>> TimeIn(const nlohmann::json& claims, const char* member) {
  constexpr double kLatest = 1e11;  // in the year 5138
  const auto found = claims.find(member);
  if (found == claims.end()) return std::optional<absl::Time>();
  const double seconds = found->is_number() ? found->get<double>() : std::nan("");
  if (!(seconds >= 0 && seconds <= kLatest)) return InvalidToken(absl::StrCat(member, " is no time"));
  return std::optional(absl::UnixEpoch() + absl::Seconds(seconds));
}

bool IsFor(const nlohmann::json& claims, const std::vector<std::string>& audiences) {
  const auto found = claims.find("aud");
  if (found == claims.end()) return false;
  const auto is_ours = [&](const nlohmann::json& audience) {
    return audience.is_string() && std::ranges::count(audiences, audience.get<std::string>()) > 0;
  };
  return found->is_array() ? std::ranges::any_of(*found, is_ours) : is_ours(*found);
}

absl::StatusOr<absl::Time> CheckTimes(const nlohmann::json& claims, absl::Time now) {
  ASSIGN_OR_RETURN(const std::optional<absl::Time> expires, TimeIn(claims, "exp"));
  ASSIGN_OR_RETURN(const std::optional<absl::Time> not_before, TimeIn(claims, "nbf"));
  ASSIGN_OR_RETURN(const std::optional<absl::Time> issued, TimeIn(claims, "iat"));
  if (!expires.has_value()) return InvalidToken("exp is missing");
  if (not_before.value_or(now) > now + kLeeway) return InvalidToken("nbf is ahead");
  if (issued.value_or(now) > now + kLeeway) return InvalidToken("iat is ahead");
  if (*expires - issued.value_or(now - kLeeway) > kLongestToken + kLeeway) {
    return InvalidToken("it is valid for more than 24 hours");
  }
  if (*expires + kLeeway > now) return *expires;
  return NotAccepted(Fault::kExpired, absl::StrCat("a token has expired at ", absl::FormatTime(*expires)));
}

// When the person logged in, if the token says it.
std::optional<absl::Time> LoginIn(const nlohmann::json& claims, absl::Time now) {
  const absl::StatusOr<std::optional<absl::Time>> logged_in = TimeIn(claims, "auth_time");
  if (!logged_in.ok() || logged_in->value_or(now) > now + kLeeway) return std::nullopt;
  return *logged_in;
}

}  // namespace

absl::StatusOr<UnverifiedToken> TakeApart(std::string_view token) {
  if (token.size() > kMostTokenBytes) return InvalidToken("it has more than 8 KiB");
  const std::vector<std::string> parts = absl::StrSplit(std::string(token), '.');
  if (parts.size() != 3) return InvalidToken(absl::StrCat("it has ", parts.size(), " parts and not 3"));
  ASSIGN_OR_RETURN(const nlohmann::json header, ObjectIn(parts[0], "header"));
  ASSIGN_OR_RETURN(const nlohmann::json claims, ObjectIn(parts[1], "body"));
  absl::StatusOr<std::string> signature = DecodeBase64Url(parts[2]);
  if (!signature.ok()) return InvalidToken("its signature is not base64url");
  const std::optional<std::string> algorithm = FindText(header, "alg");
  const std::optional<std::string> kid = FindText(header, "kid");
  const std::optional<std::string> issuer = FindText(claims, "iss");
  if (!algorithm || !kid || !issuer) return InvalidToken("alg, kid or iss is missing");
  if (header.contains("crit")) return InvalidToken("crit demands what this server does not do");
  if (!IsType(header)) return InvalidToken("typ is neither JWT nor at+jwt");
  return UnverifiedToken{.issuer = *issuer,
                         .kid = *kid,
                         .algorithm = *algorithm,
                         .signed_text = std::string(token.substr(0, parts[0].size() + 1 + parts[1].size())),
                         .signature = *std::move(signature)};
}

absl::StatusOr<VerifiedToken> VerifyToken(const UnverifiedToken& token, const Issuer& issuer,
                                          const VerificationKey& key, const std::string& name_claim,
                                          absl::Time now) {
  if (token.issuer != issuer.issuer) return InvalidToken("iss is another issuer's");
  if (token.algorithm != NameOf(key.algorithm())) {
    return InvalidToken(absl::StrCat("alg is ", token.algorithm, " and its key is for ",
                                     std::string(NameOf(key.algorithm()))));
  }
  if (std::ranges::count(issuer.algorithms, key.algorithm()) == 0) {
    return InvalidToken(absl::StrCat(token.algorithm, " is not allowed for ", issuer.alias));
  }
  if (!key.Verifies(token.signed_text, token.signature)) return InvalidToken("its signature is wrong");
  const std::string_view body = std::string_view(token.signed_text).substr(token.signed_text.find('.') + 1);
  ASSIGN_OR_RETURN(const nlohmann::json claims, ObjectIn(body, "body"));
  if (!IsFor(claims, issuer.audiences)) return InvalidToken("aud has none of this server's audiences");
  const std::string subject = FindText(claims, "sub").value_or(std::string());
  const bool is_subject = !subject.empty() && subject.size() <= kMostSubjectBytes && IsUtf8(subject) &&
                          !HasControlCharacter(subject);
  if (!is_subject) return InvalidToken("sub is no line of 1 to 1024 bytes");
  ASSIGN_OR_RETURN(const absl::Time expires, CheckTimes(claims, now));
  return VerifiedToken{.issuer = token.issuer,
                       .subject = subject,
                       .name = FindText(claims, name_claim.c_str()).value_or(std::string()),
                       .expires = expires,
                       .logged_in = LoginIn(claims, now),
                       .key_thumbprint = key.thumbprint()};
}

}  // namespace curator::auth
