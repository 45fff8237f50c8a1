// Encodes the text files of a site in advance, for a server that compresses.
//
//   encode_ahead [--remove-orphans] DIRECTORY
//
// The exit status is 1 if something could not be encoded.
#include "files/encode_ahead.h"

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    turtle::EncodeAheadOptions options;
    options.remove_orphans = arguments.size() == 2 && arguments[0] == "--remove-orphans";
    if (arguments.empty() || arguments.size() > (options.remove_orphans ? 2 : 1)) {
      throw std::invalid_argument("usage: encode_ahead [--remove-orphans] DIRECTORY");
    }
    const turtle::EncodeAheadResult result = turtle::EncodeAhead(arguments.back(), options);
    std::cout << result.written << " written, " << result.kept << " kept, " << result.removed
              << " removed\n";
    for (const std::string& each : result.failures) {
      std::cerr << "encode_ahead: " << each << '\n';
    }
    return result.failures.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "encode_ahead: " << error.what() << '\n';
    return 1;
  }
}
