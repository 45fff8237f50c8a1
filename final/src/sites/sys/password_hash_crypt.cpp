// HashPassword() over crypt_r(3): libxcrypt on Linux, libcrypt on FreeBSD.
#if !defined(__APPLE__) && !defined(TURTLE_WITHOUT_CRYPT)

#if __has_include(<crypt.h>)
#include <crypt.h>
#endif
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <new>

#include "sites/password_hash.h"

namespace TURTLE_SERVER {

auto HashPassword(const std::string& password, const std::string& setting) -> std::string {
  const auto memory = std::make_unique<crypt_data>();  // 32 KiB: too much for a loop's stack
  errno = 0;
  const char* const hash = crypt_r(password.c_str(), setting.c_str(), memory.get());
  if (hash == nullptr || *hash == '*') {  // "*0" is a failure token of crypt(3)
    if (errno == ENOMEM) {
      throw std::bad_alloc();
    }
    return "";
  }
  return hash;
}

}  // namespace TURTLE_SERVER

#endif  // crypt_r(3)
