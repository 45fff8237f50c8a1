#include "core/timer_wheel.h"

namespace TURTLE_SERVER {

TimerWheel::TimerWheel(TimePoint /*now*/, Clock::duration /*tick*/) {}  // TODO

void TimerWheel::Arm(WheelTimer& /*timer*/, TimePoint /*when*/) noexcept {}  // TODO

void TimerWheel::Disarm(WheelTimer& /*timer*/) noexcept {}  // TODO

auto TimerWheel::RunDue(TimePoint /*now*/) -> std::size_t { return 0; }  // TODO

}  // namespace TURTLE_SERVER
