#!/bin/sh
# Usage: tests/no_seed_symbol.sh BINARY
#
# Says whether the randomness of a server binary can come from anything but the operating system: fails when the binary
# holds a bit source of the tests, a generator or a seeding function of the C or C++ library, a seed of OpenSSL's generator,
# or anything of ours that is named after a seed. A binary without symbols cannot be judged and fails too, and so does one
# that does not hold the generator that it should.
set -u

binary=${1:?usage: $0 BINARY}
symbols=$(mktemp) || exit 2
trap 'rm -f "$symbols"' EXIT
{ nm --demangle "$binary"; nm --demangle --dynamic "$binary"; } >"$symbols" 2>/dev/null

if ! grep -q 'curator::dp::Drbg::Fill(' "$symbols"; then
  echo "$binary: cannot be judged: no symbol of the random bit generator (stripped, or not the server?)" >&2
  exit 1
fi
if ! grep -Eq ' U getrandom(@|$)' "$symbols"; then
  echo "$binary: does not ask the operating system for entropy (getrandom)" >&2
  exit 1
fi

status=0
forbid() { # what it is, pattern of symbols
  if found=$(grep -E "$2" "$symbols"); then
    echo "$binary: $1:" >&2
    echo "$found" | head -5 >&2
    status=1
  fi
}
forbid "a bit source of the tests" 'curator::seeded::|ScriptedBits|SeededBits'
forbid "something of ours named after a seed" '[^a-zA-Z]curator::[^(]*[sS]eed([^a-z]|ed|$)'
forbid "a pseudorandom generator of the C++ library" 'std::(mersenne_twister_engine|linear_congruential_engine|subtract_with_carry_engine)<'
forbid "a pseudorandom generator of the C library" ' U (s?rand|s?random|rand_r|[dejlmn]?rand48|s(eed|rand)48)(@|$)'
forbid "a seed for OpenSSL's generator" ' U (RAND_seed|RAND_add|RAND_set_rand_method|RAND_load_file)(@|$)'
exit $status
