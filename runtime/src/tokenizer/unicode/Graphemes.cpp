#include "runtime/src/tokenizer/unicode/Graphemes.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

using namespace effc::rt::unicode;

namespace {

/// What the rules need to know of the cluster so far.
struct Cluster {
  Grapheme last;
  unsigned regionals = 0;
  bool afterPictograph = false; // a pictograph, then only Extend
  bool joined = false;          // and then a joiner

  explicit Cluster(Grapheme first) : last(first) { note(first); }

  void note(Grapheme kind) {
    joined = kind == Grapheme::Joiner && afterPictograph;
    if (kind == Grapheme::Pictograph)
      afterPictograph = true;
    else if (kind != Grapheme::Extend)
      afterPictograph = false;
    regionals = kind == Grapheme::Regional ? regionals + 1 : 0;
    last = kind;
  }

  static bool isControl(Grapheme kind) {
    return kind == Grapheme::Control || kind == Grapheme::CarriageReturn ||
           kind == Grapheme::LineFeed;
  }

  /// The rules GB3 to GB13 but GB9c.
  bool takes(Grapheme next) const {
    using enum Grapheme;
    if (last == CarriageReturn && next == LineFeed)
      return true;
    if (isControl(last) || isControl(next))
      return false;
    if (last == HangulL && (next == HangulL || next == HangulV ||
                            next == HangulLV || next == HangulLVT))
      return true;
    if ((last == HangulLV || last == HangulV) &&
        (next == HangulV || next == HangulT))
      return true;
    if ((last == HangulLVT || last == HangulT) && next == HangulT)
      return true;
    if (next == Extend || next == Joiner || last == Prepend)
      return true;
    if (joined && next == Pictograph)
      return true;
    return regionals % 2 == 1 && next == Regional;
  }
};

} // namespace

size_t effc::rt::unicode::firstCluster(std::string_view text) {
  Decoded decoded = decode(text);
  Cluster cluster(lookUp(decoded.character).grapheme);
  size_t end = decoded.bytes;
  while (end < text.size()) {
    decoded = decode(text.substr(end));
    Grapheme next = lookUp(decoded.character).grapheme;
    if (!cluster.takes(next))
      break;
    cluster.note(next);
    end += decoded.bytes;
  }
  return end;
}
