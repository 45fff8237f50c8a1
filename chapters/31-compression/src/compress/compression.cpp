#include "compress/compression.h"

#include <new>
#include <string>
#include <utility>
#include <variant>

#include "base/ascii.h"
#include "compress/compressible.h"
#include "compress/make_encoder.h"
#include "http/headers.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kVary = "Accept-Encoding";

auto Lists(std::string_view list, std::string_view name) noexcept -> bool {
  while (!list.empty()) {
    if (ascii::EqualIgnoreCase(TakeListElement(list), name)) {
      return true;
    }
  }
  return false;
}

// Returns true if a field of a response, in any of its lines, lists a name.
auto FieldLists(const Response& response, std::string_view field, std::string_view name) -> bool {
  bool is_listed = false;
  response.ForEach(field,
                   [&](std::string_view list) { is_listed = is_listed || Lists(list, name); });
  return is_listed;
}

// A part of a body is a part of the plain one.
auto IsPartial(const Response& response) -> bool {
  constexpr int kPartial = 206;
  return response.Status() == kPartial || response.Find("Content-Range");
}

// Returns true for a 304 to a client that has the compressed bytes. It gets the fields that the 200
// would have had (RFC 9110, section 15.4.5). A 304 has no type to judge by, but the client's tag is
// the one that WeakenTag() has made.
auto IsNotModified(const Request& request, const Response& response) -> bool {
  constexpr int kNotModified = 304;
  const auto tag = response.Find("ETag");
  if (response.Status() != kNotModified || !tag) {
    return false;
  }
  const std::string weak = "W/" + std::string(*tag);
  bool is_listed = false;
  request.headers.ForEach(KnownField::kIfNoneMatch, [&](std::string_view tags) {
    is_listed = is_listed || tags.find(weak) != std::string_view::npos;
  });
  return is_listed;
}

// Adds a line: there may be several already.
void AddVary(Response& response) {
  if (!FieldLists(response, "Vary", kVary) && !FieldLists(response, "Vary", "*")) {
    response.Add("Vary", kVary);
  }
}

void WeakenTag(Response& response) {
  const auto tag = response.Find("ETag");
  if (tag && tag->substr(0, 2) != "W/") {
    response.Set("ETag", "W/" + std::string(*tag));
  }
}

void SetCoding(Coding coding, Response& response) {
  response.Set("Content-Encoding", NameOf(coding)).Remove("Accept-Ranges");
  WeakenTag(response);
}

// Returns the text of a body; nullopt if a part of it is a file.
auto TextOf(const Response& response) -> std::optional<std::string> {
  std::string text;
  for (const BodyPiece& piece : response.Pieces()) {
    const auto* const part = std::get_if<std::string>(&piece);
    if (part == nullptr) {
      return std::nullopt;
    }
    text += *part;
  }
  return text;
}

}  // namespace

auto Compression::IsNegotiable(const Response& response) -> bool {
  constexpr int kResetContent = 205;  // it has no content, and says so by its length
  return response.HasBody() && response.Status() != kResetContent &&
         !response.Find("Content-Encoding") &&
         IsCompressible(response.Find("Content-Type").value_or("")) &&
         !FieldLists(response, "Cache-Control", "no-transform");
}

auto Compression::Encode(Coding coding, Effort effort, Response& response) const -> bool {
  if (IsPartial(response) || !IsWorthIt(response.BodySize())) {
    return false;
  }
  const auto text = TextOf(response);
  if (!text) {
    return false;
  }
  std::string coded = EncodeAll(coding, effort, *text);
  if (coded.size() >= text->size()) {
    return false;
  }
  SetCoding(coding, response);
  response.Body(std::move(coded));
  return true;
}

auto Compression::CodingFor(const Request& request, const CodingOrder& offered) const noexcept
    -> Coding {
  if (!request.headers.Has(KnownField::kAcceptEncoding)) {
    return Coding::kIdentity;
  }
  CodingOrder both;
  for (const Coding each : options_.codings) {
    if (offered.Has(each)) {
      both.Add(each);
    }
  }
  return AcceptEncoding(request.headers).Choose(both);
}

// Without a length it may stay open for days, and gzip's encoder takes a quarter of the memory of
// the others.
auto Compression::CodingForStream(const Request& request) const noexcept -> Coding {
  CodingOrder gzip;
  gzip.Add(Coding::kGzip);
  const Coding coding = CodingFor(request, gzip);
  return coding != Coding::kIdentity ? coding : CodingFor(request, options_.codings);
}

auto Compression::Whole(const Request& request, const Response& plain) const noexcept
    -> std::optional<Response> {
  try {
    return WholeOrThrow(request, plain);
  } catch (...) {
    return std::nullopt;
  }
}

auto Compression::WholeOrThrow(const Request& request, const Response& plain) const
    -> std::optional<Response> {
  const bool is_not_modified = IsNotModified(request, plain);
  if (!IsNegotiable(plain) && !is_not_modified) {
    return std::nullopt;
  }
  Response response(plain);
  AddVary(response);
  const Coding coding = CodingFor(request, options_.codings);
  if (coding == Coding::kIdentity) {
    return response;
  }
  if (is_not_modified) {
    WeakenTag(response);
  } else {
    Encode(coding, Effort::kLow, response);
  }
  return response;
}

auto Compression::Begin(const Request& request, Response& head,
                        std::optional<std::uint64_t> length) const -> std::unique_ptr<Encoder> {
  if (!IsNegotiable(head)) {
    return nullptr;
  }
  AddVary(head);
  const Coding coding = length ? CodingFor(request, options_.codings) : CodingForStream(request);
  if (coding == Coding::kIdentity || IsPartial(head) || (length && !IsWorthIt(*length))) {
    return nullptr;
  }
  std::unique_ptr<Encoder> encoder = MakeEncoder(coding, Effort::kLow, length);
  SetCoding(coding, head);
  return encoder;
}

}  // namespace TURTLE_SERVER
