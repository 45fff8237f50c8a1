// Feeds the parser of heads with rows of bytes in every way that a network could cut them. Compares
// the result of each cut with that of the whole, and that with the reference.
//
//   splits FILE     one row per line, its bytes in hexadecimal; "-" for standard input
#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "targets/head_check.h"

namespace {

using TURTLE_SERVER::ParserLimits;
using Sizes = std::vector<std::size_t>;

constexpr int kRandomCuts = 1000;
// Every cut of a row of some ten thousand bytes would take minutes: this many are tried, evenly.
constexpr std::size_t kMostCuts = 2000;

auto Decode(const std::string& line) -> std::string {
  if (line.size() % 2 != 0 || line.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw std::runtime_error("not hexadecimal: " + line.substr(0, 40));
  }
  std::string bytes;
  for (std::size_t i = 0; i < line.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// Ascending sizes from `step` on, that end with `size`.
auto Steps(std::size_t size, std::size_t step) -> Sizes {
  Sizes sizes;
  for (std::size_t at = step; at < size; at += step) {
    sizes.push_back(at);
  }
  sizes.push_back(size);
  return sizes;
}

auto RandomCuts(std::size_t size, std::mt19937& random) -> Sizes {
  Sizes sizes;
  const std::size_t cuts = random() % 8 + 1;
  for (std::size_t i = 0; i < cuts; ++i) {
    sizes.push_back(random() % (size + 1));
  }
  sizes.push_back(size);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

// @return how many ways there were
auto CheckRow(const std::string& row, std::mt19937& random) -> std::size_t {
  const ParserLimits limits;
  const std::string whole = TURTLE_SERVER::fuzz::ParseWhole(row, limits);
  std::size_t ways = 1;
  const auto check = [&](const Sizes& sizes) {
    TURTLE_SERVER::fuzz::CheckPieces(row, sizes, limits, whole);
    ++ways;
  };
  const std::size_t stride = row.size() / kMostCuts + 1;
  check(Steps(row.size(), stride));  // byte by byte
  for (std::size_t cut = 1; cut < row.size(); cut += stride) {
    check({cut, row.size()});
  }
  for (int i = 0; i < kRandomCuts; ++i) {
    check(RandomCuts(row.size(), random));
  }
  return ways;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      throw std::invalid_argument("usage: splits FILE");
    }
    std::ifstream file;
    if (std::string(argv[1]) != "-") {
      file.open(argv[1]);
      if (!file) {
        throw std::runtime_error(std::string(argv[1]) + ": can't be read");
      }
    }
    std::istream& rows = file.is_open() ? file : std::cin;
    std::mt19937 random(20080);  // the same cuts in every run
    std::size_t count = 0;
    std::size_t ways = 0;
    for (std::string line; std::getline(rows, line); ++count) {
      ways += CheckRow(Decode(line), random);
    }
    if (count == 0) {
      throw std::runtime_error("no rows");
    }
    std::cout << count << " rows, " << ways << " ways to cut them: one verdict each\n";
  } catch (const std::exception& error) {
    std::cerr << "splits: " << error.what() << '\n';
    return 1;
  }
}
