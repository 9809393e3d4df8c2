// Does not compile: only an authenticator makes a principal.
#include "base/principal.h"

const curator::Principal kAna = curator::Principal("ana");
