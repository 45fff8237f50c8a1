// The program itself.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "support/child.h"

namespace TURTLE_SERVER::test {

/// Runs its own `turtle serve`, from its first line on.
class Turtle : public Child {
 public:
  /// @param arguments the arguments after "serve"
  explicit Turtle(std::vector<std::string> arguments)
      : Child(ExamplePath("../turtle"), WithServe(std::move(arguments))), first_line_(ReadLine()) {
    const std::size_t colon = first_line_.rfind(':');
    if (first_line_.rfind("Serving ", 0) == 0) {
      port_ = std::stoi(first_line_.substr(colon + 1));
    }
  }

  /// Returns its first line of output, without the line end.
  [[nodiscard]] auto FirstLine() const -> const std::string& { return first_line_; }

  /// Returns its port; -1: it does not listen.
  [[nodiscard]] auto Port() const -> int { return port_; }

 private:
  static auto WithServe(std::vector<std::string> arguments) -> std::vector<std::string> {
    arguments.insert(arguments.begin(), "serve");
    return arguments;
  }

  std::string first_line_;
  int port_ = -1;
};

}  // namespace TURTLE_SERVER::test
