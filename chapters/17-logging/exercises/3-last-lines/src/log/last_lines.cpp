#include "log/last_lines.h"

namespace TURTLE_SERVER {

LastLines::LastLines(std::size_t /*count*/) {}  // TODO

void LastLines::Add(const LogLine& /*line*/) noexcept {}  // TODO

void LastLines::Write(int /*fd*/) const noexcept {}  // TODO

}  // namespace TURTLE_SERVER
