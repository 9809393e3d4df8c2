#include "auth/faults.h"

#include <string>

#include "base/errors.h"

namespace curator::auth {
namespace {

PublicError PublicOf(Fault fault) {
  switch (fault) {
    case Fault::kMissing:
      return {
          "who are you? This server wants a token or a client certificate: log in with `curator login`, or "
          "set CURATOR_TOKEN_FILE or CURATOR_TOKEN_COMMAND",
          "NO_CREDENTIAL"};
    case Fault::kNameGiven:
      return {
          "who are you? This server accepts a proof, not a name: leave out --as, and log in with `curator "
          "login`, or set CURATOR_TOKEN_FILE or CURATOR_TOKEN_COMMAND",
          "NAME_NOT_ACCEPTED"};
    case Fault::kExpired:
      return {"who are you? The token has expired: log in again with `curator login`, or get a new token",
              "TOKEN_EXPIRED"};
    case Fault::kInvalid:
      return {
          "who are you? The token or certificate was not accepted: log in again with `curator login`; an "
          "administrator finds the cause in the server's log",
          "TOKEN_INVALID"};
    case Fault::kUnknownPrincipal:
      return {
          "who are you? Nobody is known here under this identity: enrol with `curator enrol`, or ask an "
          "administrator to link it to a principal",
          "UNKNOWN_PRINCIPAL"};
    case Fault::kDisabled:
      return {"who are you? This principal is disabled: an administrator can enable it", "DISABLED"};
  }
  return {"who are you?", "TOKEN_INVALID"};
}

}  // namespace

absl::Status NotAccepted(Fault fault, std::string_view detail) {
  return ForOperators(absl::UnauthenticatedError(std::string(detail)), PublicOf(fault));
}

absl::Status CannotTell(std::string_view detail) {
  return ForOperators(absl::UnavailableError(std::string(detail)),
                      {"the server cannot tell at present whether this token is valid: ask again, or tell an "
                       "administrator",
                       "CANNOT_AUTHENTICATE"});
}

}  // namespace curator::auth
