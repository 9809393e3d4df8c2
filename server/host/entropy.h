// Randomness from the operating system: the only root of every key, id and nonce in this program.
//
// Thread-safe. No function can fail: where the kernel gives no entropy the process aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dp/noise/bit_source.h"

namespace curator::host {

// Fills `bytes` from the kernel's generator (getrandom), waiting for it to be seeded.
void FillWithEntropy(std::span<uint8_t> bytes);

// `size` such bytes.
std::string RandomBytes(size_t size);

// A new key for one release's draws.
dp::DrawKey NewDrawKey();

// A version 4 UUID (RFC 9562) of 122 random bits, in lower case: "f81d4fae-7dec-4cd0-a765-00a0c91e6bf6".
std::string NewUuid();

}  // namespace curator::host
