#include "sites/field_presets.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kPolicy = "Content-Security-Policy";
constexpr std::string_view kNoFrames = "no-frames";
constexpr std::string_view kOwnPolicy = "csp-self";

// One field of a preset; the fields of a preset follow each other.
struct PresetField {
  std::string_view preset;
  std::string_view name;
  std::string_view value;
};

constexpr std::array<PresetField, 9> kFields = {{
    {"hsts", "Strict-Transport-Security", "max-age=31536000"},
    {"no-sniff", "X-Content-Type-Options", "nosniff"},
    {kNoFrames, "X-Frame-Options", "DENY"},
    {kNoFrames, kPolicy, "frame-ancestors 'none'"},
    {"origin-referrer", "Referrer-Policy", "strict-origin-when-cross-origin"},
    {kOwnPolicy, kPolicy,
     "default-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"},
    {"cache-forever", "Cache-Control", "public, max-age=31536000, immutable"},
    {"no-store", "Cache-Control", "no-store"},
    {"revalidate", "Cache-Control", "no-cache"},
}};

}  // namespace

auto PresetNames() -> std::vector<std::string> {
  std::vector<std::string> names;
  for (const PresetField& field : kFields) {
    if (names.empty() || names.back() != field.preset) {
      names.emplace_back(field.preset);
    }
  }
  return names;
}

auto PresetEdits(std::string_view name) -> std::vector<FieldEdit> {
  std::vector<FieldEdit> edits;
  for (const PresetField& field : kFields) {
    if (field.preset == name) {
      edits.push_back({FieldEdit::Kind::kSet, std::string(field.name), std::string(field.value)});
    }
  }
  return edits;
}

auto EditsOfPresets(const std::vector<std::string>& names) -> std::vector<FieldEdit> {
  const bool has_policy = std::find(names.begin(), names.end(), kOwnPolicy) != names.end();
  std::vector<FieldEdit> all;
  for (const std::string& name : names) {
    const std::vector<FieldEdit> edits = PresetEdits(name);
    if (edits.empty()) {
      throw std::invalid_argument("preset \"" + name + "\": there is none of that name");
    }
    for (const FieldEdit& edit : edits) {
      if (!has_policy || name != kNoFrames || edit.name != kPolicy) {
        all.push_back(edit);
      }
    }
  }
  return all;
}

}  // namespace TURTLE_SERVER
