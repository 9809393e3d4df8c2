// Does not compile: there is no principal without a name that was authenticated.
#include "base/principal.h"

const curator::Principal kNobody;
