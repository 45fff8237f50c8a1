// The floor on io_uring(7): the same bytes as floor_epoll, moved by fewer system calls.
//
//   floor_uring --port 20080 --root DIR [--deferred] [--fin] [--threads N]
//
//  * One submission accepts all clients, into slots instead of descriptors.
//  * A client's first receive is for one piece; when it stays, one submission receives all that
//    follows, into buffers that are taken only when there is data.
//  * The last response and the close are one linked submission.
//  * One system call hands over all submissions of a round and waits for the next.
//
// Not a model for a server: the bytes owed to a client that does not read have no bound.
#include <linux/io_uring.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/namespace.h"
#include "floor_main.h"
#include "floor_options.h"
#include "replies.h"
#include "request_count.h"
#include "ring.h"

namespace {

using turtle::CannedReply;
using turtle::FloorOptions;
using turtle::Replies;
using turtle::RequestCount;
using turtle::Ring;

enum class Act : std::uint8_t { kAccept, kReceive, kSend, kClose, kCancel };

struct Client {
  const CannedReply* reply = nullptr;
  std::size_t owed = 0;  // bytes of responses that are not sent yet
  RequestCount requests;
  std::uint16_t generation = 0;  // of the slot: a completion of an earlier client misses
  bool receiving = false;
  bool sending = false;
  bool closing = false;  // after the response
  bool closed = false;
};

class FloorLoop {
 public:
  FloorLoop(const FloorOptions& options, const Replies& replies, int listener)
      : options_(options), replies_(replies), listener_(listener) {}

  [[noreturn]] void Run() {
    Accept();
    while (true) {
      ring_.SubmitAndWait();
      ring_.ForEachCompletion([this](const io_uring_cqe& done) { Handle(done); });
    }
  }

 private:
  // Identifies a completion: the act, the slot's generation and the slot.
  static auto Tag(Act act, std::uint16_t generation, unsigned slot) -> std::uint64_t {
    return static_cast<std::uint64_t>(act) << 56 | static_cast<std::uint64_t>(generation) << 32 |
           slot;
  }

  auto Submit(Act act, io_uring_op operation, unsigned slot) -> io_uring_sqe& {
    io_uring_sqe& submission = ring_.Next();
    submission.opcode = static_cast<std::uint8_t>(operation);
    submission.fd = static_cast<int>(slot);
    submission.user_data = Tag(act, clients_[slot].generation, slot);
    return submission;
  }

  void Accept() {
    io_uring_sqe& submission = Submit(Act::kAccept, IORING_OP_ACCEPT, 0);
    submission.fd = listener_;
    submission.ioprio = IORING_ACCEPT_MULTISHOT;
    submission.file_index = IORING_FILE_INDEX_ALLOC;
  }

  void Receive(unsigned slot, bool many) {
    io_uring_sqe& submission = Submit(Act::kReceive, IORING_OP_RECV, slot);
    submission.flags = IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
    submission.len = many ? 0 : Ring::kBufferSize;
    submission.ioprio = many ? IORING_RECV_MULTISHOT : 0;
    clients_[slot].receiving = true;
  }

  void Send(unsigned slot) {
    Client& client = clients_[slot];
    if (client.sending || client.owed == 0 || client.closed) {
      return;
    }
    const std::string_view rest = client.reply->Rest(client.owed);
    io_uring_sqe& submission = Submit(Act::kSend, IORING_OP_SEND, slot);
    submission.flags = IOSQE_FIXED_FILE;
    submission.addr = reinterpret_cast<std::uintptr_t>(rest.data());
    submission.len = static_cast<unsigned>(rest.size());
    submission.msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
    client.sending = true;
    // A receive that is under way would keep the socket open: such a client is closed later.
    if (client.closing && !client.receiving) {
      submission.msg_flags |= options_.fin ? MSG_MORE : 0;
      submission.flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
      client.closed = true;
      CloseSlot(slot);
    }
  }

  void CloseSlot(unsigned slot) {
    io_uring_sqe& submission = Submit(Act::kClose, IORING_OP_CLOSE, slot);
    submission.fd = 0;
    submission.file_index = slot + 1;
    submission.flags = IOSQE_CQE_SKIP_SUCCESS;
  }

  void Close(unsigned slot) {
    Client& client = clients_[slot];
    if (client.closed) {
      return;
    }
    client.closed = true;
    if (client.receiving) {
      io_uring_sqe& submission = Submit(Act::kCancel, IORING_OP_ASYNC_CANCEL, slot);
      submission.fd = -1;
      submission.addr = Tag(Act::kReceive, client.generation, slot);
      submission.flags = IOSQE_CQE_SKIP_SUCCESS;
    }
    CloseSlot(slot);
  }

  void Handle(const io_uring_cqe& done) {
    const auto act = static_cast<Act>(done.user_data >> 56);
    const auto slot = static_cast<unsigned>(done.user_data);
    const bool more = (done.flags & IORING_CQE_F_MORE) != 0;
    if (act == Act::kAccept) {
      Accepted(done.res);
      if (!more) {
        Accept();
      }
      return;
    }
    const bool known =
        clients_[slot].generation == static_cast<std::uint16_t>(done.user_data >> 32);
    if (act == Act::kReceive) {
      Received(done, slot, known, more);
    } else if (act == Act::kSend && known) {
      Sent(done.res, slot);
    } else if (act == Act::kClose && known && done.res == -ECANCELED) {
      CloseSlot(slot);  // it was linked to a send that failed
    }
  }

  void Accepted(int result) {
    if (result < 0) {
      return;
    }
    const auto slot = static_cast<unsigned>(result);
    const auto generation = static_cast<std::uint16_t>(clients_[slot].generation + 1);
    clients_[slot] = Client();
    clients_[slot].generation = generation;
    Receive(slot, false);
  }

  void Received(const io_uring_cqe& done, unsigned slot, bool known, bool more) {
    Client& client = clients_[slot];
    if (known && !more) {
      client.receiving = false;
    }
    if ((done.flags & IORING_CQE_F_BUFFER) != 0) {
      const unsigned buffer = done.flags >> IORING_CQE_BUFFER_SHIFT;
      if (known && done.res > 0 && !client.closed && !client.closing) {
        Reply(slot, ring_.Buffer(buffer, static_cast<std::size_t>(done.res)));
      }
      ring_.GiveBack(buffer);
    }
    if (!known || more || client.closed) {
      return;
    }
    if (done.res > 0 || done.res == -ENOBUFS) {
      if (!client.closing) {
        Receive(slot, true);
      }
    } else {
      Close(slot);
    }
  }

  void Reply(unsigned slot, std::string_view piece) {
    Client& client = clients_[slot];
    const std::size_t requests = client.requests.Feed(piece);
    if (requests == 0) {
      return;
    }
    constexpr std::string_view kClose = ": close";
    client.closing = memmem(piece.data(), piece.size(), kClose.data(), kClose.size()) != nullptr;
    client.reply = client.closing ? &replies_.LastForRequest(piece) : &replies_.ForRequest(piece);
    client.owed = client.closing ? client.reply->size : client.owed + client.reply->size * requests;
    Send(slot);
  }

  void Sent(int result, unsigned slot) {
    Client& client = clients_[slot];
    client.sending = false;
    if (client.closed) {
      return;
    }
    if (result < 0) {
      Close(slot);
      return;
    }
    client.owed -= static_cast<std::size_t>(result);
    if (client.owed != 0) {
      Send(slot);
    } else if (client.closing) {
      Close(slot);
    }
  }

  const FloorOptions& options_;
  const Replies& replies_;
  int listener_;
  Ring ring_;
  std::vector<Client> clients_ = std::vector<Client>(Ring::kSlots);
};

void Serve(const FloorOptions& options, const Replies& replies, int listener) {
  FloorLoop(options, replies, listener).Run();
}

}  // namespace

auto main(int argc, char** argv) -> int {
  return turtle::RunFloor(argc, argv, "floor_uring", 0, Serve);
}
