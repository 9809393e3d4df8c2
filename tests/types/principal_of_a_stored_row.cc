// Compiles: the control of principal_made_elsewhere.cc, which differs in one word.
#include "base/principal.h"

const curator::Principal kAna = curator::Principal::OfStoredRow("ana");
