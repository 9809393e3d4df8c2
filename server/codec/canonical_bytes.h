// The byte language of stored documents, under the name this room uses it by (see base/canonical_bytes.h).
#pragma once

#include "base/canonical_bytes.h"

namespace curator::codec {

using curator::CanonicalReader;
using curator::CanonicalWriter;
using curator::Sha256;

}  // namespace curator::codec
