#include "tools/effc/TokenNames.h"

#include "tools/effc/Inputs.h"
#include "tools/terminal/Failure.h"

#include <charconv>
#include <cmath>
#include <optional>

using namespace effc;
using namespace effc::cli;

std::optional<int32_t> effc::cli::oneToken(const Model &model,
                                           const std::string &text) {
  Tokens tokens = model.tokenize(text, EFFC_TOKENIZE_NO_SPECIAL);
  if (tokens.size() != 1)
    return std::nullopt;
  return tokens[0];
}

int32_t effc::cli::tokenNamed(const Model &model, const std::string &given,
                              const std::string &option,
                              const std::string &otherwise) {
  uint64_t id = 0;
  const char *end = given.data() + given.size();
  auto [next, failure] = std::from_chars(given.data(), end, id);
  bool isNumber = next == end && !given.empty();
  if (isNumber && (failure != std::errc() || id >= model.vocabularySize()))
    throw UsageError(option + " " + given + " is outside the vocabulary of " +
                     std::to_string(model.vocabularySize()));
  if (isNumber)
    return static_cast<int32_t>(id);
  if (!model.hasTokenizer())
    throw UsageError(option +
                     " expects an id, since the model has no "
                     "tokenizer, but got '" +
                     given + "'");
  if (std::optional<int32_t> token = oneToken(model, given))
    return *token;
  throw UsageError(option + " expects an id or the text of one token, but '" +
                   given + "' is several" + otherwise);
}

/// "15043+1" and "15043-1", as llama.cpp has them: where the number begins, 0 for
/// no such text.
static size_t signBehindId(const std::string &given) {
  size_t at = given.find_first_not_of("0123456789");
  return at != std::string::npos && at > 0 &&
                 (given[at] == '+' || given[at] == '-')
             ? at
             : 0;
}

effc_logit_bias_t effc::cli::biasNamed(const Model &model,
                                       const std::string &given) {
  const std::string option = "--logit-bias";
  size_t sign = signBehindId(given), equals = given.rfind('=');
  if (sign == 0 && (equals == std::string::npos || equals == 0))
    throw UsageError(option +
                     " expects TOKEN=BIAS, such as 15043=-1, but got '" +
                     given + "'");
  std::string token = given.substr(0, sign ? sign : equals);
  std::string number = given.substr(sign ? sign : equals + 1);
  const char *begin = number.c_str() + (number[0] == '+'), *end = nullptr;
  float bias = 0;
  auto [next, failure] =
      std::from_chars(begin, number.c_str() + number.size(), bias);
  end = next;
  if (failure != std::errc() || *end != '\0' || std::isnan(bias) ||
      bias == INFINITY)
    throw UsageError(option + " " + given +
                     " expects a number, or -inf for never, behind the token, "
                     "but got '" +
                     number + "'");
  return {tokenNamed(model, token, option, ": name each by itself"), bias};
}
