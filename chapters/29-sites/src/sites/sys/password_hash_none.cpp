// HashPassword() for macOS, which has no crypt_r(3), and for a library that was built without it.
#if defined(__APPLE__) || defined(TURTLE_WITHOUT_CRYPT)

#include <cerrno>
#include <system_error>

#include "sites/password_hash.h"

namespace TURTLE_SERVER {

auto HashPassword(const std::string& /*password*/, const std::string& /*setting*/) -> std::string {
  throw std::system_error(ENOTSUP, std::generic_category(),
                          "passwords: this system has no crypt_r(3), or the server was built "
                          "without it");
}

}  // namespace TURTLE_SERVER

#endif  // no crypt_r(3)
