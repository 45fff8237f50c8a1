#include "core/stop_signals.h"

namespace TURTLE_SERVER {

StopSignals::StopSignals(TurtleServer& /*server*/) {}  // TODO

StopSignals::~StopSignals() = default;  // TODO

}  // namespace TURTLE_SERVER
