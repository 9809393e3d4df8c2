// 128-bit integers under names that -Wpedantic accepts.
#pragma once

namespace curator {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

}  // namespace curator
