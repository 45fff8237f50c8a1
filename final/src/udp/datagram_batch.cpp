#include "udp/datagram_batch.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace TURTLE_SERVER {

namespace {

// Checked before the allocation: a product that overflows would be a small number.
auto CheckedBytes(std::size_t count, std::size_t max_payload) -> std::size_t {
  if (count == 0 || max_payload == 0 ||
      max_payload > std::numeric_limits<std::size_t>::max() / count) {
    throw std::invalid_argument("a batch of " + std::to_string(count) + " datagrams of " +
                                std::to_string(max_payload) + " bytes");
  }
  return count * max_payload;
}

}  // namespace

DatagramBatch::DatagramBatch(std::size_t count, std::size_t max_payload)
    : max_payload_(max_payload),
      slots_(CheckedBytes(count, max_payload) / max_payload),
      memory_(new char[count * max_payload]) {}  // not make_unique, which would zero it

auto DatagramBatch::operator[](std::size_t index) const noexcept -> Datagram {
  const std::size_t place = Place(index);
  const Slot& slot = slots_[place];
  return {{memory_.get() + place * max_payload_, slot.bytes},
          slot.size,
          slot.truncated,
          slot.peer,
          slot.local};
}

auto DatagramBatch::Add(std::string_view payload, const NetAddress& peer,
                        const NetAddress& local) noexcept -> bool {
  if (Full() || payload.size() > max_payload_) {
    return false;
  }
  if (!payload.empty()) {  // an empty view may have no address, and memcpy requires one
    std::memcpy(MemoryAt(size_), payload.data(), payload.size());
  }
  SlotAt(size_) = {peer, local, payload.size(), payload.size(), false};
  ++size_;
  return true;
}

void DatagramBatch::DropFront(std::size_t count) noexcept {
  count = std::min(count, size_);
  size_ -= count;
  first_ = size_ == 0 ? 0 : Place(count);
}

}  // namespace TURTLE_SERVER
