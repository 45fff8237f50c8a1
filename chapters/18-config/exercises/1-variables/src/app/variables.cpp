#include "app/variables.h"

namespace TURTLE_SERVER {

auto ReplaceVariables(std::string_view text, const VariableLookup& /*look_up*/) -> std::string {
  return std::string(text);  // TODO
}

}  // namespace TURTLE_SERVER
