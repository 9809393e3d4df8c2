// The global operator new of a test program, which fails when it is asked to and counts what is held. Linking
// it replaces the usual one.
#pragma once

#include <cstdint>

namespace curator {

// The allocation number `at` of this thread from now on, from 0, throws std::bad_alloc; those after it do
// not.
void FailAllocation(int64_t at);

// No further allocation fails. Whether one has failed since FailAllocation().
bool StopFailing();

// Starts counting what all threads hold again.
void StartCounting();

// The most bytes that were held at once since StartCounting(), beside what was held then.
int64_t MostHeld();

}  // namespace curator
