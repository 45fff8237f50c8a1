// A ring of slots for many datagrams, used again and again.
//
// A datagram is a message: it arrives completely or not at all, and two of them never merge. So
// instead of a Buffer there are slots, each with an address and room for one payload.
//
// Interface:
//  * UdpSocket::ReceiveMany() refills a batch; Size() and operator[] return the datagrams.
//  * Add() queues a datagram to be sent; UdpSocket::SendMany() sends from the front.
//
// The memory is allocated once, in the constructor. It is not zeroed, so the kernel never
// provides pages that no datagram has reached. The slots are a ring, and an empty batch starts
// at its first slot again. So a server that keeps up uses the same few pages, whatever its bound
// is.
//
// Thread: one at a time for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/namespace.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// The largest payload of an IPv4 datagram: 65535 bytes without the headers of IP (20) and UDP (8).
/// With IPv6 it is 65527, because its header does not count (RFC 768, RFC 8200).
inline constexpr std::size_t kMaxUdpPayload = 65507;

/// One datagram. The payload is a view into the batch: valid until the batch is filled or cleared.
struct Datagram {
  std::string_view payload;  ///< may be empty: a datagram can have length zero
  std::size_t size;          ///< its real length in bytes, if the system reports it (Linux)
  bool truncated;            ///< the payload is only its beginning
  NetAddress peer;           ///< its sender, or its receiver; empty: the connected peer
  /// The address that it was sent to, with the port; empty unless UdpSocket::ReportDestination()
  /// was called. With IPv6 link-local addresses it includes the scope.
  NetAddress local;
};

/// A ring of datagrams.
class DatagramBatch {
 public:
  /// The data of one datagram. For the files that make the system calls.
  struct Slot {
    NetAddress peer;         ///< as Datagram::peer
    NetAddress local;        ///< as Datagram::local
    std::size_t bytes = 0;   ///< in the slot's memory
    std::size_t size = 0;    ///< before truncation
    bool truncated = false;  ///< as Datagram::truncated
  };

  /// Allocates the memory, `count` × `max_payload` bytes.
  /// @param count how many datagrams fit, at least 1
  /// @param max_payload bytes kept of each, at least 1; kMaxUdpPayload is always enough for IPv4
  /// @throws std::invalid_argument if one of them is 0, std::bad_alloc
  DatagramBatch(std::size_t count, std::size_t max_payload);

  /// Returns how many datagrams fit.
  [[nodiscard]] auto Capacity() const noexcept -> std::size_t { return slots_.size(); }

  /// Returns how many bytes of each datagram are kept.
  [[nodiscard]] auto MaxPayload() const noexcept -> std::size_t { return max_payload_; }

  /// Returns how many datagrams there are.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return size_; }

  /// Returns true if there are no datagrams.
  [[nodiscard]] auto Empty() const noexcept -> bool { return size_ == 0; }

  /// Returns true if there is no room for another.
  [[nodiscard]] auto Full() const noexcept -> bool { return size_ == slots_.size(); }

  /// Returns the datagram at `index`, less than Size(), counted from the oldest.
  [[nodiscard]] auto operator[](std::size_t index) const noexcept -> Datagram;

  /// Copies a datagram to the end.
  /// @param payload to be sent
  /// @param peer the receiver; empty for the peer of a connected socket
  /// @param local the address to send from, as in Datagram::local; empty: the kernel
  ///     chooses
  /// @return false, and nothing has changed, if there is no room, or the payload is too long
  [[nodiscard]] auto Add(std::string_view payload, const NetAddress& peer,
                         const NetAddress& local = NetAddress()) noexcept -> bool;

  /// Forgets the oldest `count` datagrams, at most Size().
  void DropFront(std::size_t count) noexcept;

  /// Forgets all datagrams.
  void Clear() noexcept { DropFront(size_); }

  /// Returns how many datagrams the kernel had dropped for lack of room in the socket's receive
  /// buffer, in total, when it received the last one of this batch with a count. Modulo 2^32; 0 if
  /// the system does not count, or without UdpSocket::ReportDrops().
  [[nodiscard]] auto KernelDrops() const noexcept -> std::uint32_t { return kernel_drops_; }

  /// Notes the kernel's count; for UdpSocket.
  void SetKernelDrops(std::uint32_t count) noexcept { kernel_drops_ = count; }

  /// Returns the slot at `index`, less than Capacity(), counted from the oldest; for UdpSocket.
  [[nodiscard]] auto SlotAt(std::size_t index) noexcept -> Slot& { return slots_[Place(index)]; }

  /// Returns the slot's memory, MaxPayload() bytes; for UdpSocket.
  [[nodiscard]] auto MemoryAt(std::size_t index) noexcept -> char* {
    return memory_.get() + Place(index) * max_payload_;
  }

  /// Marks the first `count` slots as filled; for UdpSocket.
  void SetSize(std::size_t count) noexcept { size_ = count; }

 private:
  [[nodiscard]] auto Place(std::size_t index) const noexcept -> std::size_t {
    const std::size_t place = first_ + index;
    return place < slots_.size() ? place : place - slots_.size();
  }

  std::size_t max_payload_;
  std::vector<Slot> slots_;
  std::unique_ptr<char[]> memory_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::uint32_t kernel_drops_ = 0;
};

}  // namespace TURTLE_SERVER
