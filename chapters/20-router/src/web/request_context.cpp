#include "web/request_context.h"

#include <cxxabi.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace TURTLE_SERVER {

void RequestContext::ThrowMissing(const std::type_info& type) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr), &std::free);
  throw std::out_of_range("the request's context has no " +
                          std::string(name ? name.get() : type.name()));
}

}  // namespace TURTLE_SERVER
