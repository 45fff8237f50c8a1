// Compares the codings by a file: what is left of it, and how much time that takes.
//
//   compress_cost FILE
//
// "low" is for bytes that are sent once, "high" for bytes that are kept. "pieces" is low with a
// flush after each 200 bytes, as for events. The time is the CPU's, the best of several rounds.
#include <algorithm>
#include <cstddef>
#include <ctime>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "compress/make_encoder.h"

namespace {

constexpr std::size_t kPiece = 200;

auto ReadAll(const std::string& name) -> std::string {
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    throw std::runtime_error(name + ": can't be opened");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

auto EncodePieces(turtle::Coding coding, std::string_view plain) -> std::string {
  const auto encoder = turtle::MakeEncoder(coding, turtle::Effort::kLow);
  std::string coded;
  for (; !plain.empty(); plain.remove_prefix(std::min(kPiece, plain.size()))) {
    encoder->Encode(plain.substr(0, kPiece), turtle::Flush::kPiece, coded);
  }
  encoder->Encode({}, turtle::Flush::kEnd, coded);
  return coded;
}

template <class Work>
void Show(const char* name, Work encode) {
  constexpr int kRounds = 15;
  std::size_t size = 0;
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < kRounds; ++i) {
    const std::clock_t begin = std::clock();
    size = encode().size();
    best = std::min(best, 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  std::cout << "  " << name << std::setw(9) << size << " bytes" << std::setw(8) << best << " ms";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      throw std::invalid_argument("usage: compress_cost FILE");
    }
    const std::string plain = ReadAll(argv[1]);
    std::cout << std::fixed << std::setprecision(1);
    for (const auto coding :
         {turtle::Coding::kGzip, turtle::Coding::kBrotli, turtle::Coding::kZstd}) {
      std::cout << std::left << std::setw(4) << turtle::NameOf(coding) << std::right;
      Show("low", [&] { return turtle::EncodeAll(coding, turtle::Effort::kLow, plain); });
      Show("high", [&] { return turtle::EncodeAll(coding, turtle::Effort::kHigh, plain); });
      Show("pieces", [&] { return EncodePieces(coding, plain); });
      std::cout << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << "compress_cost: " << error.what() << '\n';
    return 1;
  }
}
