#include "websocket/permessage_deflate.h"

#include <algorithm>

#include "base/ascii.h"
#include "compress/raw_deflate.h"
#include "http/headers.h"
#include "http/parameters.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kName = "permessage-deflate";

// The parameters of one offer or response.
struct DeflateParameters {
  bool server_no_takeover = false;
  bool client_no_takeover = false;
  bool has_server_bits = false;
  bool has_client_bits = false;
  int server_bits = 0;
  int client_bits = 0;  // 0: the client only says that it can be told
};

// Returns 8 to 15, or 0 for any other text. No leading zero is allowed.
auto ParseWindowBits(std::string_view text) noexcept -> int {
  int bits = 0;
  if (text.size() == 1 && ascii::IsDigit(text[0])) {
    bits = text[0] - '0';
  } else if (text.size() == 2 && text[0] == '1' && ascii::IsDigit(text[1])) {
    bits = 10 + (text[1] - '0');
  }
  return bits >= kLeastWindowBits && bits <= kMostWindowBits ? bits : 0;
}

// Notes a parameter that must come once and without a value.
auto SetOnce(bool& flag, const Parameter& parameter) noexcept -> bool {
  const bool is_first = !flag;
  flag = true;
  return is_first && parameter.value.data() == nullptr;
}

auto SetBits(bool& flag, int& bits, const Parameter& parameter, bool may_be_empty) noexcept
    -> bool {
  const bool is_first = !flag;
  flag = true;
  bits = ParseWindowBits(parameter.value);
  return is_first && (bits != 0 || (may_be_empty && parameter.value.data() == nullptr));
}

auto TakeInto(DeflateParameters& all, const Parameter& parameter) noexcept -> bool {
  const auto is = [&](std::string_view name) {
    return ascii::EqualIgnoreCase(parameter.name, name);
  };
  if (is("server_no_context_takeover")) {
    return SetOnce(all.server_no_takeover, parameter);
  }
  if (is("client_no_context_takeover")) {
    return SetOnce(all.client_no_takeover, parameter);
  }
  if (is("server_max_window_bits")) {
    return SetBits(all.has_server_bits, all.server_bits, parameter, false);
  }
  return is("client_max_window_bits") &&
         SetBits(all.has_client_bits, all.client_bits, parameter, true);
}

// Cuts the parameter at the front off. TakeParameter() wants a value, and most of these have none.
auto TakeDeflateParameter(std::string_view& rest) noexcept -> Parameter {
  const std::string_view text = ascii::TrimOws(rest.substr(0, rest.find(';')));
  rest.remove_prefix(std::min(rest.size(), rest.find(';')));
  rest.remove_prefix(rest.empty() ? 0 : 1);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return {text, {}};
  }
  std::string_view value = ascii::TrimOws(text.substr(equals + 1));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  return {ascii::TrimOws(text.substr(0, equals)), value};
}

// Returns the parameters of one element of the list; nullopt: it is something else.
auto ReadDeflateElement(std::string_view element) -> std::optional<DeflateParameters> {
  if (!ascii::EqualIgnoreCase(TakeDeflateParameter(element).name, kName)) {
    return std::nullopt;
  }
  DeflateParameters all;
  while (!element.empty()) {
    if (!TakeInto(all, TakeDeflateParameter(element))) {
      return std::nullopt;
    }
  }
  return all;
}

auto TermsFor(const DeflateParameters& offer, const DeflateOptions& options) -> DeflateTerms {
  DeflateTerms terms;
  terms.server_takeover = options.server_takeover && !offer.server_no_takeover;
  terms.client_takeover = options.client_takeover && !offer.client_no_takeover;
  const int server = offer.has_server_bits ? offer.server_bits : kMostWindowBits;
  const int client = offer.client_bits != 0 ? offer.client_bits : kMostWindowBits;
  terms.server_window_bits =
      static_cast<std::uint8_t>(std::min(server, options.server_window_bits));
  terms.client_window_bits = static_cast<std::uint8_t>(
      offer.has_client_bits ? std::min(client, options.client_window_bits) : kMostWindowBits);
  terms.has_server_bits = offer.has_server_bits || terms.server_window_bits < kMostWindowBits;
  terms.has_client_bits = offer.has_client_bits && terms.client_window_bits < kMostWindowBits;
  return terms;
}

}  // namespace

auto AgreeOnDeflate(std::string_view offers, const DeflateOptions& options)
    -> std::optional<DeflateTerms> {
  while (options.enabled && !offers.empty()) {
    if (const auto offer = ReadDeflateElement(TakeListElement(offers))) {
      return TermsFor(*offer, options);
    }
  }
  return std::nullopt;
}

auto TextOf(const DeflateTerms& terms) -> std::string {
  std::string text(kName);
  text.append(terms.server_takeover ? "" : "; server_no_context_takeover");
  text.append(terms.client_takeover ? "" : "; client_no_context_takeover");
  if (terms.has_server_bits) {
    text.append("; server_max_window_bits=").append(std::to_string(terms.server_window_bits));
  }
  if (terms.has_client_bits) {
    text.append("; client_max_window_bits=").append(std::to_string(terms.client_window_bits));
  }
  return text;
}

auto ReadDeflateResponse(std::string_view response) -> std::optional<DeflateTerms> {
  const auto all = ReadDeflateElement(TakeListElement(response));
  if (!all || !response.empty() || (all->has_client_bits && all->client_bits == 0)) {
    return std::nullopt;
  }
  DeflateOptions anything;
  anything.server_takeover = true;
  anything.client_takeover = true;
  return TermsFor(*all, anything);
}

}  // namespace TURTLE_SERVER
