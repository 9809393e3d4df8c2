// Randomness from the operating system: the only root of every key, id and nonce in this program.
#pragma once

#include <cstdint>
#include <span>

#include "dp/noise/bit_source.h"

namespace curator::host {

// Fills `bytes` from the kernel's generator (getrandom), waiting for it to be seeded. Cannot fail: where the
// kernel gives no entropy the process ends. Thread-safe.
void FillWithEntropy(std::span<uint8_t> bytes);

// A fresh key for one release's draws.
dp::DrawKey NewDrawKey();

}  // namespace curator::host
