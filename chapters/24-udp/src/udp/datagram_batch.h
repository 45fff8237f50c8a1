// Room for many datagrams, used again and again.
//
// A datagram is a message: it comes whole or not at all, and two of them never melt into one. So
// there is no Buffer here, but a row of slots, each with an address and room for one payload.
//
// Interface:
//  * UdpSocket::ReceiveMany() refills a batch; Size() and operator[] say with what.
//  * Add() queues a datagram to be sent, UdpSocket::SendMany() sends from the front.
//
// The memory is got once, in the constructor, and nothing is allocated after that. It is not filled
// with zeros: pages that no datagram ever reached are never given by the kernel. The slots are a
// ring, and an empty batch begins at its first slot again: a server that keeps up uses the same few
// pages, whatever its bound is.
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

/// The largest payload that an IPv4 datagram can have: 65535 bytes without the headers of IP (20)
/// and UDP (8). With IPv6 it is 65527, because its header is not counted (RFC 768, RFC 8200).
inline constexpr std::size_t kMaxUdpPayload = 65507;

/// One datagram. The payload is a view into the batch: valid until the batch is filled or cleared.
struct Datagram {
  std::string_view payload;  ///< may be empty: a datagram of length zero is a datagram
  std::size_t size;          ///< its real length in bytes, where the system tells it (Linux)
  bool truncated;            ///< the payload is only its beginning
  NetAddress peer;           ///< its sender, or its receiver; empty: the connected peer
  /// The address that it was sent to, with the port; empty unless UdpSocket::ReportDestination()
  /// was called. With IPv6 link-local addresses it has the scope.
  NetAddress local;
};

/// A ring of datagrams.
class DatagramBatch {
 public:
  /// The facts about one datagram. For the files that make the system calls.
  struct Slot {
    NetAddress peer;         ///< as Datagram::peer
    NetAddress local;        ///< as Datagram::local
    std::size_t bytes = 0;   ///< in the slot's memory
    std::size_t size = 0;    ///< before truncation
    bool truncated = false;  ///< as Datagram::truncated
  };

  /// Gets the memory, `count` × `max_payload` bytes of it.
  /// @param count how many datagrams fit, at least 1
  /// @param max_payload bytes kept of each, at least 1; kMaxUdpPayload is always enough for IPv4
  /// @throws std::invalid_argument when one of them is 0, std::bad_alloc
  DatagramBatch(std::size_t count, std::size_t max_payload);

  /// Returns how many datagrams fit.
  [[nodiscard]] auto Capacity() const noexcept -> std::size_t { return slots_.size(); }

  /// Returns how many bytes are kept of each.
  [[nodiscard]] auto MaxPayload() const noexcept -> std::size_t { return max_payload_; }

  /// Returns how many there are.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return size_; }

  /// Is there none?
  [[nodiscard]] auto Empty() const noexcept -> bool { return size_ == 0; }

  /// Is there no room for another?
  [[nodiscard]] auto Full() const noexcept -> bool { return size_ == slots_.size(); }

  /// The datagram at `index`, less than Size(), counted from the oldest.
  [[nodiscard]] auto operator[](std::size_t index) const noexcept -> Datagram;

  /// Copies a datagram to the end.
  /// @param payload what is to be sent
  /// @param peer who is to get it; empty for the peer of a connected socket
  /// @param local the address that it is to come from, as in Datagram::local; empty: the kernel
  ///     chooses
  /// @return false, and nothing has changed: there is no room, or the payload is too long
  [[nodiscard]] auto Add(std::string_view payload, const NetAddress& peer,
                         const NetAddress& local = NetAddress()) noexcept -> bool;

  /// Forgets the oldest `count` datagrams, at most Size().
  void DropFront(std::size_t count) noexcept;

  /// Forgets all datagrams.
  void Clear() noexcept { DropFront(size_); }

  /// Returns how many datagrams the kernel had dropped for want of room in the receive buffer, in
  /// the life of the socket, when it took in the last one of this batch that said so. Modulo 2^32;
  /// 0 where the system does not count, or nobody asked: UdpSocket::ReportDrops().
  [[nodiscard]] auto KernelDrops() const noexcept -> std::uint32_t { return kernel_drops_; }

  /// Notes the kernel's count; for UdpSocket.
  void SetKernelDrops(std::uint32_t count) noexcept { kernel_drops_ = count; }

  /// Returns the slot at `index`, less than Capacity(), counted from the oldest; for UdpSocket.
  [[nodiscard]] auto SlotAt(std::size_t index) noexcept -> Slot& { return slots_[Place(index)]; }

  /// Its memory, MaxPayload() bytes; for UdpSocket.
  [[nodiscard]] auto MemoryAt(std::size_t index) noexcept -> char* {
    return memory_.get() + Place(index) * max_payload_;
  }

  /// The first `count` slots have been filled; for UdpSocket.
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
