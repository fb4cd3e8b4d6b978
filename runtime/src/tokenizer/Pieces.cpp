#include "runtime/src/tokenizer/Pieces.h"

#include "runtime/src/tokenizer/ByteAlphabet.h"
#include "runtime/src/tokenizer/Utf8.h"

using namespace effc;
using namespace effc::rt;
using artifact::PieceKind;
using artifact::SplitBehavior;

namespace {

/// A part of a piece, and whether it is a delimiter.
struct Part {
  size_t begin, end;
  bool isDelimiter;
};

/// All of a piece of `size` bytes: the matches and what lies between them.
void listParts(const std::vector<Pattern::Match> &matches, size_t size,
               bool invert, std::vector<Part> &parts) {
  parts.clear();
  size_t at = 0;
  for (const Pattern::Match &match : matches) {
    if (match.begin != at)
      parts.push_back({at, match.begin, invert});
    parts.push_back({match.begin, match.end, !invert});
    at = match.end;
  }
  if (at != size)
    parts.push_back({at, size, invert});
}

/// Each merge is the library's: a part takes the one before where both are
/// delimiters or neither (`Contiguous`), or where it is a delimiter and the one
/// before is none (`MergedWithPrevious`).
void mergeParts(SplitBehavior behavior, std::vector<Part> &parts) {
  std::vector<Part> merged;
  bool wasDelimiter = false;
  for (const Part &part : parts) {
    bool joins = behavior == SplitBehavior::Contiguous
                     ? part.isDelimiter == wasDelimiter
                     : part.isDelimiter && !wasDelimiter;
    wasDelimiter = part.isDelimiter;
    if (joins && !merged.empty())
      merged.back().end = part.end;
    else
      merged.push_back(part);
  }
  parts = std::move(merged);
}

void mergeWithNext(std::vector<Part> &parts) {
  std::vector<Part> merged; // from right to left
  bool wasDelimiter = false;
  for (size_t i = parts.size(); i-- > 0;) {
    bool joins = parts[i].isDelimiter && !wasDelimiter;
    wasDelimiter = parts[i].isDelimiter;
    if (joins && !merged.empty())
      merged.back().begin = parts[i].begin;
    else
      merged.push_back(parts[i]);
  }
  parts.assign(merged.rbegin(), merged.rend());
}

/// The text of a metaspace's piece.
void writeMetaspace(std::string_view piece, std::string_view mark, bool marked,
                    std::string &out) {
  bool startsMarked = piece.starts_with(' ') || piece.starts_with(mark);
  if (marked && !startsMarked)
    out += mark;
  for (char c : piece)
    if (c == ' ')
      out += mark;
    else
      out += c;
}

} // namespace

Check PieceSteps::addSplit(const artifact::SplitStep &split, Budget &budget) {
  if (split.behavior() > SplitBehavior::MAX)
    return badData("a split step is of unknown behaviour ",
                   unsigned(split.behavior()));
  Result<Pattern> pattern =
      Pattern::compile(split.pattern()->string_view(), budget);
  if (!pattern)
    return pattern.error();
  steps.push_back({PieceKind::Split, std::move(*pattern), split.behavior(),
                   split.invert()});
  return {};
}

size_t PieceSteps::bytes() const {
  size_t size = 0;
  for (const Step &step : steps)
    size += step.pattern ? step.pattern->bytes() : 0;
  return size;
}

Check PieceSteps::add(const artifact::PieceStep &step, Budget &budget) {
  if (step.kind() > PieceKind::MAX || step.prepend() > artifact::Prepend::MAX)
    return badData("a pre-tokenizer step is of unknown kind ",
                   unsigned(step.kind()));
  if (step.kind() == PieceKind::Split)
    return step.split() ? addSplit(*step.split(), budget)
                        : badData("a split step has no pattern");
  Step made{step.kind(), {}};
  made.content = step.content() ? step.content()->str() : "";
  made.prepend = step.prepend();
  if (made.kind == PieceKind::Metaspace && !isOneCharacter(made.content))
    return badData("a metaspace step's replacement has ", made.content.size(),
                   " bytes, but one character is expected");
  steps.push_back(std::move(made));
  return {};
}

Check PieceSteps::split(const Step &step, Pieces &pieces, Budget &budget) {
  std::vector<std::string_view> finer;
  std::vector<Part> parts;
  for (std::string_view piece : pieces.pieces) {
    Result<std::vector<Pattern::Match>> matches =
        step.pattern->findAll(piece, budget);
    if (!matches)
      return matches.error();
    listParts(*matches, piece.size(), step.invert, parts);
    if (step.behavior == SplitBehavior::MergedWithNext)
      mergeWithNext(parts);
    else if (step.behavior != SplitBehavior::Isolated &&
             step.behavior != SplitBehavior::Removed)
      mergeParts(step.behavior, parts);
    bool removes = step.behavior == SplitBehavior::Removed;
    for (const Part &part : parts)
      if (part.end > part.begin && !(removes && part.isDelimiter))
        finer.push_back(piece.substr(part.begin, part.end - part.begin));
  }
  // What a first piece does not start with is not at the start any more.
  if (!finer.empty() && finer[0].data() != pieces.pieces[0].data())
    pieces.isFirst = false;
  pieces.pieces = std::move(finer);
  return {};
}

void PieceSteps::rewrite(const Step &step, Pieces &pieces) {
  std::string text;
  std::vector<size_t> ends;
  for (std::string_view piece : pieces.pieces) {
    bool isFirst = ends.empty() && pieces.isFirst;
    switch (step.kind) {
    case PieceKind::PrefixSpace:
      if (!piece.starts_with(' '))
        text += ' ';
      text += piece;
      break;
    case PieceKind::Metaspace:
      writeMetaspace(piece, step.content,
                     step.prepend == artifact::Prepend::Always ||
                         (step.prepend == artifact::Prepend::First && isFirst),
                     text);
      break;
    default:
      appendByteCharacters(piece, text);
    }
    ends.push_back(text.size());
  }
  pieces.storage = std::move(text);
  size_t begin = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    pieces.pieces[i] =
        std::string_view(pieces.storage).substr(begin, ends[i] - begin);
    begin = ends[i];
  }
}

Check PieceSteps::apply(Pieces &pieces, Budget &budget) const {
  for (const Step &step : steps) {
    if (pieces.pieces.empty())
      return {};
    if (step.kind == PieceKind::Split) {
      if (Check error = split(step, pieces, budget))
        return error;
      continue;
    }
    rewrite(step, pieces);
    // At most four times as long as before.
    if (!budget.spend(pieces.storage.size()) ||
        !budget.admits(pieces.storage.size()))
      return budget.error();
  }
  return {};
}
