//===- Shape.h - How an endpoint writes what was generated ----------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_API_SHAPE_H
#define EFFC_TOOLS_EFFC_SERVE_API_SHAPE_H

#include "tools/effc-serve/engine/TokenTexts.h"
#include "tools/effc-serve/wire/Written.h"

#include <cstdint>
#include <span>
#include <string>

namespace effc::serve {

/// Log-probabilities of the tokens of one choice, as JSON that grows.
class LogprobText {
public:
  virtual ~LogprobText() = default;
  /// Adds a token: the first of `found` is its own, the others are the likeliest.
  /// An empty list stands for a token of which nothing is said.
  virtual void add(int32_t token, std::span<const effc_logprob_t> found) = 0;
  /// Appends what was added since the last call, and begins anew.
  virtual void take(std::string &out) = 0;
};

/// The names and parts in which /v1/completions and /v1/chat/completions differ.
class Shape {
public:
  virtual ~Shape() = default;
  virtual const char *idPrefix() const = 0;
  virtual const char *wholeObject() const = 0;
  virtual const char *chunkObject() const = 0;
  /// ,"text":"..." of a whole choice, and of a part.
  virtual void appendWhole(std::string &out, const Written &said) const = 0;
  virtual void appendPart(std::string &out, const Written &said) const = 0;
  /// What a choice's first chunk says before there is text; "" for none.
  virtual std::string opening() const = 0;
  virtual std::unique_ptr<LogprobText> logprobs() const = 0;
};

/// `asIds`: tokens are shown as "token_id:7".
std::unique_ptr<Shape> completionShape(const TokenTexts &texts, bool asIds);
std::unique_ptr<Shape> chatShape(const TokenTexts &texts, bool asIds);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_API_SHAPE_H
