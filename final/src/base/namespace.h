// The library's namespace and its short alias.
//
// TURTLE_SERVER is the real namespace and turtle the alias, not the other way round: C++ lets users
// reopen a namespace, but not an alias, to forward-declare a class.
#pragma once

/// Everything in Turtle.
namespace TURTLE_SERVER {}

/// The short name: `turtle::Socket` is `TURTLE_SERVER::Socket`.
namespace turtle = TURTLE_SERVER;
