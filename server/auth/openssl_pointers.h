// OpenSSL's objects in std::unique_ptr. Internal to this folder.
#pragma once

#include <memory>
#include <string_view>

namespace curator::auth {

template <auto kFree>
struct OpensslFree {
  template <typename Object>
  void operator()(Object* object) const {
    kFree(object);
  }
};

// An object that `kFree` frees.
template <typename Object, auto kFree>
using OpensslPointer = std::unique_ptr<Object, OpensslFree<kFree>>;

inline const unsigned char* OpensslBytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace curator::auth
