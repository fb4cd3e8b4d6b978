#include "runtime/src/tokenizer/Utf8.h"

using namespace effc::rt;

namespace {
/// What a lead byte announces: the length of its character and the bounds of
/// the second byte (Unicode 15, table 3-7). Length 0: no character starts so.
struct Lead {
  uint8_t length, low, high;
};
} // namespace

static Lead classify(uint8_t byte) {
  if (byte < 0x80)
    return {1, 0, 0};
  if (byte < 0xC2)
    return {0, 0, 0};
  if (byte < 0xE0)
    return {2, 0x80, 0xBF};
  if (byte < 0xF0)
    return {3, uint8_t(byte == 0xE0 ? 0xA0 : 0x80),
            uint8_t(byte == 0xED ? 0x9F : 0xBF)};
  if (byte < 0xF5)
    return {4, uint8_t(byte == 0xF0 ? 0x90 : 0x80),
            uint8_t(byte == 0xF4 ? 0x8F : 0xBF)};
  return {0, 0, 0};
}

Utf8Step effc::rt::nextCharacter(std::string_view text) {
  auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  Lead lead = classify(at(0));
  if (lead.length == 0)
    return {Utf8Step::Invalid, 1};
  uint8_t low = lead.low, high = lead.high;
  for (uint8_t i = 1; i < lead.length; ++i) {
    if (i == text.size())
      return {Utf8Step::Cut, i};
    if (at(i) < low || at(i) > high)
      return {Utf8Step::Invalid, i};
    low = 0x80;
    high = 0xBF;
  }
  return {Utf8Step::Character, lead.length};
}

/// Appends the certain part of `text` to `out`; returns how many bytes at the
/// end of `text` are the start of an unfinished character.
static size_t appendValid(std::string_view text, std::string &out) {
  while (!text.empty()) {
    Utf8Step step = nextCharacter(text);
    if (step.kind == Utf8Step::Cut)
      return text.size();
    out += step.kind == Utf8Step::Character ? text.substr(0, step.bytes)
                                            : kReplacement;
    text.remove_prefix(step.bytes);
  }
  return 0;
}

std::string effc::rt::makeValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  if (appendValid(text, out) != 0)
    out += kReplacement;
  return out;
}

bool effc::rt::isOneCharacter(std::string_view text) {
  if (text.empty())
    return false;
  Utf8Step step = nextCharacter(text);
  return step.kind == Utf8Step::Character && step.bytes == text.size();
}

std::string_view Utf8Stream::push(std::string_view bytes) {
  ready.clear();
  pending += bytes;
  size_t left = appendValid(pending, ready);
  pending.erase(0, pending.size() - left);
  return ready;
}

std::string_view Utf8Stream::finish() {
  ready.assign(pending.empty() ? std::string_view() : kReplacement);
  pending.clear();
  return ready;
}
