#include "reference/multipart.h"

#include <algorithm>
#include <utility>

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// Replaces every `from` by `to`, from the left.
auto Replace(std::string text, std::string_view from, std::string_view to) -> std::string {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// True if a parameter's value ends before this.
auto IsBetween(std::string_view text) -> bool {
  const std::size_t rest = text.find_first_not_of(" \t");
  return rest == std::string_view::npos || text[rest] == ';';
}

// parameters = *( OWS ";" OWS [ parameter ] ), with names in lower case, values without quotes but
// with backslashes. Throws 400.
auto ReadParameters(std::string_view text, bool escapes) -> Parameters {
  const auto is_ows = [](char c) { return c == ' ' || c == '\t'; };
  Parameters parameters;
  text.remove_prefix(Prefix(text, is_ows));
  while (!text.empty()) {
    if (text[0] != ';') {
      throw 400;
    }
    text.remove_prefix(1);
    text.remove_prefix(Prefix(text, is_ows));
    if (text.empty() || text[0] == ';') {
      continue;
    }
    const std::string_view name = text.substr(0, Prefix(text, IsTchar));
    text.remove_prefix(name.size());
    if (name.empty() || text.substr(0, 1) != "=") {
      throw 400;
    }
    text.remove_prefix(1);
    std::string value(text.substr(0, Prefix(text, IsTchar)));
    if (text.substr(0, 1) == "\"") {
      std::size_t end = 1;
      for (; end < text.size() && text[end] != '"'; ++end) {
        value += text[end];
        if (text[end] == '\\' && end + 1 < text.size() &&
            (escapes || (text[end + 1] == '"' && !IsBetween(text.substr(end + 2))))) {
          value += text[++end];
        }
      }
      if (end == text.size()) {
        throw 400;
      }
      text.remove_prefix(end + 1);
    } else {
      if (value.empty()) {
        throw 400;
      }
      text.remove_prefix(value.size());
    }
    parameters.emplace_back(Lower(name), value);
    text.remove_prefix(Prefix(text, is_ows));
  }
  return parameters;
}

// Returns parameter `name` in brackets, "" if there is none. Throws 400 if it occurs twice.
auto Only(const Parameters& parameters, std::string_view name) -> std::string {
  std::string found;
  for (const auto& parameter : parameters) {
    if (parameter.first == name) {
      if (!found.empty()) {
        throw 400;
      }
      found = "[" + parameter.second + "]";
    }
  }
  return found;
}

auto IsBchar(char c) -> bool {
  return IsAlpha(c) || IsDigit(c) || std::string_view("'()+_,-./:=? ").find(c) != std::string::npos;
}

// Decodes a name as browsers encode it: three characters are percent-encoded.
auto Meant(std::string value) -> std::string {
  for (const auto& [escape, byte] : {std::pair("\\\"", "\""),
                                     {"%22", "\""},
                                     {"%0D", "\r"},
                                     {"%0d", "\r"},
                                     {"%0A", "\n"},
                                     {"%0a", "\n"}}) {
    value = Replace(value, escape, byte);
  }
  return value;
}

// Returns the last segment of a file's name, if that is a name.
auto Named(std::string value) -> std::string {
  for (std::size_t at = value.size(); at > 0 && value[at - 1] == '\\'; --at) {
    value[at - 1] = '_';
  }
  std::string name(Split(Split(value, "/").back(), "\\").back());
  for (char& c : name) {
    c = IsCtl(c) ? '_' : c;
  }
  return name == "." || name == ".." ? "" : name;
}

// Splits into everything up to a ';', and the rest.
auto Divide(std::string_view value) -> std::pair<std::string, std::string_view> {
  const std::string_view first = Split(value, ";")[0];
  return {Lower(Trim(first)), value.substr(first.size())};
}

// Thrown: the status of a refusal, or -1 at the end of the input.
class Reader {
 public:
  Reader(std::string_view boundary, std::string_view input, const FormDataLimits& limits,
         FormData& form)
      : delimiter_("\r\n--" + std::string(boundary)), limits_(limits), form_(form) {
    // The bytes before the first boundary begin a line.
    input_.append("\r\n").append(input);
  }

  // multipart-body = [preamble CRLF] dash-boundary ... close-delimiter ... [CRLF epilogue]
  void Body() {
    UntilDelimiter(nullptr);
    while (Delimiter()) {
      FormPart part;
      Header(part);
      form_.parts.push_back(part);
      UntilDelimiter(&form_.parts.back());
      form_.parts.back().is_complete = true;
    }
  }

 private:
  auto Peek() const -> char {
    if (at_ == input_.size()) {
      throw -1;
    }
    return input_[at_];
  }

  auto Take() -> char {
    const char c = Peek();
    ++at_;
    return c;
  }

  // Everything that is not the delimiter belongs to `part`.
  void UntilDelimiter(FormPart* part) {
    for (;; ++at_) {
      const std::string_view there = std::string_view(input_).substr(at_, delimiter_.size());
      if (there == std::string_view(delimiter_).substr(0, there.size())) {
        if (there.size() < delimiter_.size()) {
          throw -1;
        }
        at_ += delimiter_.size();
        return;
      }
      if (at_ < free_until_) {
        continue;  // the line end before a missing boundary is not content
      }
      if (part != nullptr) {
        if (part->content.size() == limits_.part_bytes) {
          throw 413;
        }
        part->content += input_[at_];
      }
    }
  }

  // Reads on after a boundary; false: it was the last.
  auto Delimiter() -> bool {
    header_bytes_ = 0;
    bool is_last = false;
    if (Peek() == '-') {
      is_last = true;
      ++at_;
      if (Take() != '-') {
        throw 400;
      }
      if (at_ == input_.size()) {
        return false;
      }
    }
    while (Peek() == ' ' || Peek() == '\t') {
      HeaderByte();
      if (is_last && at_ == input_.size()) {
        return false;
      }
    }
    if (Take() != '\r') {
      throw 400;
    }
    if (is_last && at_ == input_.size()) {
      return false;
    }
    if (Take() != '\n') {
      throw 400;
    }
    if (!is_last && form_.parts.size() == limits_.parts) {
      throw 413;
    }
    return !is_last;
  }

  auto HeaderByte() -> char {
    const char c = Take();
    if (++header_bytes_ > limits_.header_bytes) {
      throw 413;
    }
    return c;
  }

  void Header(FormPart& part) {
    bool has_disposition = false;
    bool has_type = false;
    for (;;) {
      std::string line;
      while (line.empty() || line.back() != '\n') {
        line += HeaderByte();
      }
      if (line.size() < 2 || line[line.size() - 2] != '\r') {
        throw 400;
      }
      line.resize(line.size() - 2);
      if (line.empty()) {
        break;
      }
      Field(line, part, has_disposition, has_type);
    }
    if (!has_disposition) {
      throw 400;
    }
    free_until_ = at_;
    at_ -= 2;  // the empty line's end may be the delimiter's beginning
  }

  static void Field(std::string_view line, FormPart& part, bool& has_disposition, bool& has_type) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsAll(line.substr(0, colon), IsTchar)) {
      throw 400;
    }
    const std::string name = Lower(line.substr(0, colon));
    const std::string_view value = Trim(line.substr(colon + 1));
    for (const char c : value) {
      if (IsCtl(c) && c != '\t') {
        throw 400;
      }
    }
    if (name == "content-type") {
      if (std::exchange(has_type, true)) {
        throw 400;
      }
      part.content_type = value;
    } else if (name == "content-transfer-encoding") {
      const std::string coding = Lower(value);
      if (coding != "7bit" && coding != "8bit" && coding != "binary") {
        throw 400;
      }
    } else if (name == "content-disposition") {
      if (std::exchange(has_disposition, true)) {
        throw 400;
      }
      Disposition(value, part);
    }
  }

  static void Disposition(std::string_view value, FormPart& part) {
    const auto [type, rest] = Divide(value);
    if (type != "form-data") {
      throw 400;
    }
    const Parameters parameters = ReadParameters(rest, false);
    const std::string name = Only(parameters, "name");
    const std::string filename = Only(parameters, "filename");
    if (name.empty()) {
      throw 400;
    }
    part.name = Meant(name.substr(1, name.size() - 2));
    if (!filename.empty()) {
      part.filename = "[" + Named(Meant(filename.substr(1, filename.size() - 2))) + "]";
    }
  }

  const std::string delimiter_;
  const FormDataLimits& limits_;
  FormData& form_;
  std::string input_;
  std::size_t at_ = 0;
  std::size_t free_until_ = 0;  // bytes before it are a line end that was already there
  std::size_t header_bytes_ = 0;
};

}  // namespace

auto ReadBoundary(std::string_view content_type) -> Boundary {
  const auto [type, rest] = Divide(content_type);
  if (type != "multipart/form-data") {
    return {415, ""};
  }
  try {
    std::string boundary = Only(ReadParameters(rest, true), "boundary");
    if (boundary.size() < 3 || boundary.size() > 72) {
      return {400, ""};
    }
    boundary = boundary.substr(1, boundary.size() - 2);
    return IsAll(boundary, IsBchar) && boundary.back() != ' ' ? Boundary{0, boundary}
                                                              : Boundary{400, ""};
  } catch (int status) {
    return {status, ""};
  }
}

auto ReadFormData(std::string_view boundary, std::string_view body, const FormDataLimits& limits)
    -> FormData {
  FormData form;
  try {
    Reader(boundary, body.substr(0, limits.body_bytes), limits, form).Body();
  } catch (int status) {
    form.status = status;
  }
  if (form.status <= 0 && body.size() > limits.body_bytes) {
    form.status = 413;
  }
  form.status = form.status == -1 ? 400 : form.status;
  return form;
}

}  // namespace TURTLE_SERVER::reference
