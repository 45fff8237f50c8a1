// The part of the floors that comes before serving.
//
// Interface:
//  * RunFloor() is the main() of a floor.
//
// Thread: main.
#pragma once

#include "floor_options.h"
#include "replies.h"

namespace TURTLE_SERVER {

/// Serves the clients of one listener forever, on its own thread; throws on failure.
using ServeFloor = void (*)(const FloorOptions& options, const Replies& replies, int listener);

/// Reads the command line and the pages, opens a listener for each thread and serves it.
/// @param argc as of main()
/// @param argv as of main()
/// @param name of the program, for its messages
/// @param socket_flags of the listeners: SOCK_NONBLOCK or 0
/// @param serve ends the program if it throws
/// @return the exit code
auto RunFloor(int argc, char** argv, const char* name, int socket_flags, ServeFloor serve) -> int;

}  // namespace TURTLE_SERVER
