#include "core/out_queue.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "core/block_pool.h"
#include "core/send_file.h"

namespace TURTLE_SERVER {

// The head of a block of the pool. The memory after it is given out from the front: in the first
// block, the Body comes first. Then come pieces, each followed by its bytes if they are copies.
// Pieces leave in the order in which they came, so a block is free as soon as the first piece of
// the next block is the oldest.
struct OutQueue::Block {
  Block* next = nullptr;
  char* free = reinterpret_cast<char*>(this + 1);

  static auto Make() -> Block* { return new (BlockPool::Take()) Block; }

  auto End() noexcept -> char* { return reinterpret_cast<char*>(this) + BlockPool::kBlockBytes; }
  auto Room() noexcept -> std::size_t { return static_cast<std::size_t>(End() - free); }

  // Returns room for a T and at least one more byte, at the next aligned address; or null.
  template <class T>
  auto Carve() noexcept -> void* {
    void* at = free;
    std::size_t room = Room();
    if (std::align(alignof(T), sizeof(T) + 1, at, room) == nullptr) {
      return nullptr;
    }
    free = static_cast<char*>(at) + sizeof(T);
    return at;
  }
};

struct OutQueue::Piece {
  enum class Kind : std::uint8_t { kCopied, kPinned, kFile };

  Kind kind;
  bool opens_block;      // it is the first piece in its block
  int file;              // kFile
  Piece* next;           // the piece queued after this one
  const char* data;      // kCopied: after this piece in its block; kPinned: elsewhere
  std::uint64_t offset;  // kFile: offset of the first unsent byte
  std::size_t left;      // unsent bytes
  Pin pin;
};

struct OutQueue::Body {
  Block* home;    // the block that holds this Body
  Block* back;    // the youngest block, which has room left
  Block* front;   // the block of the oldest piece
  Piece* oldest;  // never null: a queue without pieces has no Body
  Piece* youngest;
  std::size_t size;   // unsent bytes of all pieces
  std::size_t files;  // pieces that are parts of files
};

void OutQueue::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    // Adjacent copies without a gap are one piece, and one iovec.
    const bool extends = body_ != nullptr && body_->youngest->kind == Piece::Kind::kCopied &&
                         body_->back->Room() > 0;
    if (!extends) {
      AddPiece({Piece::Kind::kCopied, false, -1, nullptr, nullptr, 0, 0, Pin()});
      body_->youngest->data = body_->back->free;
    }
    Block& block = *body_->back;
    const std::size_t count = std::min(bytes.size(), block.Room());
    std::memcpy(block.free, bytes.data(), count);
    block.free += count;
    body_->youngest->left += count;
    body_->size += count;
    bytes.remove_prefix(count);
  }
}

void OutQueue::AppendPinned(std::string_view bytes, Pin pin) {
  if (!bytes.empty()) {
    AddPiece(
        {Piece::Kind::kPinned, false, -1, nullptr, bytes.data(), 0, bytes.size(), std::move(pin)});
  }
}

void OutQueue::AppendFile(FileSlice slice) {
  if (slice.length > 0) {
    AddPiece({Piece::Kind::kFile, false, slice.fd, nullptr, nullptr, slice.offset,
              static_cast<std::size_t>(slice.length), std::move(slice.pin)});
  }
}

auto OutQueue::Size() const noexcept -> std::size_t { return body_ == nullptr ? 0 : body_->size; }

auto OutQueue::Files() const noexcept -> std::size_t { return body_ == nullptr ? 0 : body_->files; }

void OutQueue::AddPiece(Piece piece) {
  if (body_ == nullptr) {
    Block* const block = Block::Make();
    body_ = new (block->Carve<Body>()) Body{block, block, block, nullptr, nullptr, 0, 0};
  }
  void* at = body_->back->Carve<Piece>();
  const bool opens_block = at == nullptr;
  if (opens_block) {
    Block* const block = Block::Make();
    body_->back = body_->back->next = block;
    at = block->Carve<Piece>();
  }
  auto* const added = new (at) Piece(std::move(piece));
  added->opens_block = opens_block;
  if (body_->oldest == nullptr) {
    body_->oldest = added;
  } else {
    body_->youngest->next = added;
  }
  body_->youngest = added;
  body_->size += added->left;
  body_->files += added->kind == Piece::Kind::kFile ? 1 : 0;
}

auto OutQueue::FlushTo(Socket& socket, bool last) -> IoResult {
  std::size_t sent = 0;
  while (body_ != nullptr && sent < kMaxFlushBytes) {
    const std::size_t room = kMaxFlushBytes - sent;
    const IoResult step = body_->oldest->kind == Piece::Kind::kFile
                              ? SendFromFile(socket, room)
                              : SendMemory(socket, room, last);
    if (step.status != IoStatus::kBytes) {
      return {step.status, sent, step.error};
    }
    sent += step.bytes;
    Consume(step.bytes);
  }
  return {IoStatus::kBytes, sent, 0};
}

auto OutQueue::Gather(iovec* parts, std::size_t room, bool last) const noexcept -> Gathered {
  Gathered found{0, 0, last};
  const Piece* piece = body_ == nullptr ? nullptr : body_->oldest;
  for (; piece != nullptr && piece->kind != Piece::Kind::kFile; piece = piece->next) {
    if (found.pieces == kMaxPiecesPerSend || found.bytes == room) {
      break;
    }
    const std::size_t length = std::min(piece->left, room - found.bytes);
    parts[found.pieces++] = {const_cast<char*>(piece->data), length};
    found.bytes += length;
    if (length < piece->left) {
      break;
    }
  }
  if (piece != nullptr) {
    found.more_follows = piece->kind != Piece::Kind::kFile || piece->left < kLongFile;
  }
  return found;
}

auto OutQueue::Copy(char* into, std::size_t room) const noexcept -> IoResult {
  std::size_t copied = 0;
  const Piece* piece = body_ == nullptr ? nullptr : body_->oldest;
  for (; piece != nullptr && copied < room; piece = piece->next) {
    const std::size_t count = std::min(piece->left, room - copied);
    if (piece->kind != Piece::Kind::kFile) {
      std::memcpy(into + copied, piece->data, count);
      copied += count;
      continue;
    }
    ssize_t got = 0;
    do {
      got = pread(piece->file, into + copied, count, static_cast<off_t>(piece->offset));
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
      return {IoStatus::kError, 0, got == 0 ? EIO : errno};
    }
    copied += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < count) {
      break;
    }
  }
  return {IoStatus::kBytes, copied, 0};
}

// Sends all pieces of memory at the front, in one send if possible.
auto OutQueue::SendMemory(Socket& socket, std::size_t room, bool last) const -> IoResult {
  std::array<iovec, kMaxPiecesPerSend> parts;
  const auto [count, total, more_follows] = Gather(parts.data(), room, last);
  const int flags = SendFlags(more_follows);
  if (count == 1) {
    return socket.Send({static_cast<const char*>(parts[0].iov_base), total}, flags);
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket.GetFd(), &message, flags);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    return {IoStatus::kBytes, static_cast<std::size_t>(sent), 0};
  }
  return IoFailure(errno);
}

auto OutQueue::SendFromFile(Socket& socket, std::size_t room) -> IoResult {
  const Piece& piece = *body_->oldest;
  const std::size_t count = std::min({piece.left, room, kMaxFileStep});
  const IoResult result = SendFile(socket.GetFd(), piece.file, piece.offset, count);
  if (result.status == IoStatus::kEnd) {
    return {IoStatus::kError, 0, EIO};
  }
  return result;
}

void OutQueue::Consume(std::size_t count) noexcept {
  body_->size -= count;
  while (count > 0) {
    Piece& piece = *body_->oldest;
    const std::size_t taken = std::min(count, piece.left);
    piece.left -= taken;
    count -= taken;
    if (piece.left == 0) {
      PopPiece();
    } else if (piece.kind == Piece::Kind::kFile) {
      piece.offset += taken;
    } else {
      piece.data += taken;
    }
  }
  if (body_->size == 0) {
    Clear();
  }
}

// Drops the oldest piece, and its block if that was its last piece. The first block stays until the
// queue is empty, since it holds the Body.
void OutQueue::PopPiece() noexcept {
  Piece* const piece = body_->oldest;
  body_->oldest = piece->next;
  body_->files -= piece->kind == Piece::Kind::kFile ? 1 : 0;
  piece->~Piece();
  if (body_->oldest != nullptr && body_->oldest->opens_block) {
    Block* const done = body_->front;
    body_->front = done->next;
    if (done != body_->home) {
      BlockPool::Give(done);
    }
  }
}

void OutQueue::Clear() noexcept {
  if (body_ == nullptr) {
    return;
  }
  while (body_->oldest != nullptr) {
    PopPiece();
  }
  Block* const home = body_->home;
  if (body_->front != home) {
    BlockPool::Give(body_->front);
  }
  body_ = nullptr;
  BlockPool::Give(home);
}

}  // namespace TURTLE_SERVER
