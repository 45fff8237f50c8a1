#include "core/source_cookie.h"

namespace TURTLE_SERVER {

SourceCookie::SourceCookie(const HashKey& /*key*/, std::chrono::seconds /*life*/) {}

void SourceCookie::Renew(const HashKey& /*key*/) {}

auto SourceCookie::Make(const NetAddress& /*peer*/, TimePoint /*now*/) const noexcept -> Bytes {
  return {};  // TODO: the time and a hash
}

auto SourceCookie::IsGood(std::string_view /*cookie*/, const NetAddress& /*peer*/,
                          TimePoint /*now*/) const noexcept -> bool {
  return true;  // TODO: every source is trusted
}

}  // namespace TURTLE_SERVER
