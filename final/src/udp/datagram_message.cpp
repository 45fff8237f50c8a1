// RFC 3542 defines in6_pktinfo, and macOS hides it unless it is requested.
#define __APPLE_USE_RFC_3542  // NOLINT: the name is Apple's
#include "udp/datagram_message.h"

#include <algorithm>
#include <cstring>

namespace TURTLE_SERVER {

namespace {

// Returns true if the same number may exist on many interfaces: the scope selects one.
auto NeedsScope(const in6_addr& address) noexcept -> bool {
  return IN6_IS_ADDR_LINKLOCAL(&address) || IN6_IS_ADDR_MC_LINKLOCAL(&address);
}

void ReadIpv6Destination(const cmsghdr& control, NetAddress& local) noexcept {
  in6_pktinfo info;
  std::memcpy(&info, CMSG_DATA(&control), sizeof info);  // it may not be aligned, cmsg(3)
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = info.ipi6_addr;
  address.sin6_scope_id = NeedsScope(info.ipi6_addr) ? info.ipi6_ifindex : 0;
  std::memcpy(local.Data(), &address, sizeof address);
  *local.Length() = sizeof address;
}

auto WriteIpv6Source(cmsghdr& control, const sockaddr_in6& source) noexcept -> std::size_t {
  in6_pktinfo info{};
  // A server that was reached by a group's address responds from its own, on the same interface.
  if (!IN6_IS_ADDR_MULTICAST(&source.sin6_addr)) {
    info.ipi6_addr = source.sin6_addr;
  }
  info.ipi6_ifindex = source.sin6_scope_id;
  control.cmsg_level = IPPROTO_IPV6;
  control.cmsg_type = IPV6_PKTINFO;
  control.cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(&control), &info, sizeof info);
  return CMSG_SPACE(sizeof info);
}

// @return the length of the control message that makes a datagram come from `source`.
auto WriteSource(cmsghdr& control, const NetAddress& source) noexcept -> std::size_t {
  switch (source.Family()) {
    case AF_INET: {
      sockaddr_in address;
      std::memcpy(&address, source.Data(), sizeof address);
      return WriteIpv4Source(control, address.sin_addr);
    }
    case AF_INET6: {
      sockaddr_in6 address;
      std::memcpy(&address, source.Data(), sizeof address);
      return WriteIpv6Source(control, address);
    }
    default:
      return 0;
  }
}

void SetPort(NetAddress& local, in_port_t port) noexcept {
  if (local.Family() == AF_INET) {
    reinterpret_cast<sockaddr_in*>(local.Data())->sin_port = port;
  } else if (local.Family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(local.Data())->sin6_port = port;
  }
}

}  // namespace

void PrepareReceive(msghdr& header, DatagramParts& parts, DatagramBatch& batch,
                    std::size_t index) noexcept {
  NetAddress& peer = batch.SlotAt(index).peer;
  peer = NetAddress();  // empty has room for every kind of address
  parts.payload = {batch.MemoryAt(index), batch.MaxPayload()};
  header = {};
  header.msg_name = peer.Data();
  header.msg_namelen = *peer.Length();
  header.msg_iov = &parts.payload;
  header.msg_iovlen = 1;
  header.msg_control = parts.control;
  header.msg_controllen = sizeof parts.control;
}

void FinishReceive(const msghdr& header, std::size_t bytes, DatagramBatch& batch, std::size_t index,
                   in_port_t local_port) noexcept {
  DatagramBatch::Slot& slot = batch.SlotAt(index);
  if (header.msg_namelen == 0) {
    slot.peer = NetAddress();  // from a socket without a name, such as one of a pair
  } else {
    *slot.peer.Length() = header.msg_namelen;
  }
  slot.bytes = std::min(bytes, batch.MaxPayload());
  slot.size = bytes;
  slot.truncated = (header.msg_flags & MSG_TRUNC) != 0;
  slot.local = NetAddress();
  auto* message = const_cast<msghdr*>(&header);  // CMSG_NXTHDR requires it, and changes nothing
  for (cmsghdr* each = CMSG_FIRSTHDR(message); each != nullptr; each = CMSG_NXTHDR(message, each)) {
    if (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_PKTINFO) {
      ReadIpv6Destination(*each, slot.local);
    } else {
      ReadSystemControl(*each, batch, slot.local);
    }
  }
  SetPort(slot.local, local_port);
}

void PrepareSend(msghdr& header, DatagramParts& parts, DatagramBatch& batch,
                 std::size_t index) noexcept {
  DatagramBatch::Slot& slot = batch.SlotAt(index);
  parts.payload = {batch.MemoryAt(index), slot.bytes};
  header = {};
  if (slot.peer.Family() != AF_UNSPEC) {
    header.msg_name = slot.peer.Data();
    header.msg_namelen = slot.peer.Size();
  }
  header.msg_iov = &parts.payload;
  header.msg_iovlen = 1;
  if (slot.local.Family() != AF_UNSPEC) {
    std::memset(parts.control, 0, sizeof parts.control);  // including the gaps between its fields
    header.msg_control = parts.control;
    header.msg_controllen = sizeof parts.control;
    header.msg_controllen = WriteSource(*CMSG_FIRSTHDR(&header), slot.local);
  }
  if (header.msg_controllen == 0) {
    header.msg_control = nullptr;
  }
}

}  // namespace TURTLE_SERVER
