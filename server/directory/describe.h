// A change of the directory in words, for people who read the history of a server.
//
// Thread-safe: a pure function.
#pragma once

#include <string>

#include "directory/changes.h"

namespace curator::directory {

// One line, without secrets: "bob (PERSON)", "f3k9 for bob: OIDC https://idp.example 91c0, by an
// administrator".
std::string Describe(const Change& change);

}  // namespace curator::directory
