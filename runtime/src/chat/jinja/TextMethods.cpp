// Methods of texts.

#include "runtime/src/chat/jinja/Characters.h"
#include "runtime/src/chat/jinja/Methods.h"
#include "runtime/src/chat/jinja/Operators.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>
#include <map>

using namespace effc::rt;
using namespace effc::rt::jinja;

static char32_t characterAt(std::string_view text, size_t at) {
  return unicode::decode(text.substr(at)).character;
}

/// Parts between white space, of which there are runs.
static std::vector<Text> splitWords(const Text &text, int64_t most,
                                    bool fromRight) {
  std::string_view bytes = text.bytes();
  std::vector<Text> parts;
  Span left = strippedSpan(bytes, std::nullopt, true, true);
  while (left.begin < left.end) {
    if (most >= 0 && parts.size() == static_cast<size_t>(most)) {
      // The other side of what is left keeps its white space.
      Span rest =
          fromRight ? Span{0, left.end} : Span{left.begin, bytes.size()};
      parts.push_back(text.slice(rest.begin, rest.end));
      break;
    }
    Span word = left;
    if (fromRight) {
      word.begin = left.end;
      while (word.begin > left.begin) {
        size_t at = unicode::lastStart(bytes.substr(0, word.begin));
        if (isSpace(characterAt(bytes, at)))
          break;
        word.begin = at;
      }
      left.end =
          strippedSpan(bytes.substr(0, word.begin), std::nullopt, false, true)
              .end;
    } else {
      word.end = left.begin;
      while (word.end < left.end && !isSpace(characterAt(bytes, word.end)))
        word.end += unicode::decode(bytes.substr(word.end)).bytes;
      left.begin =
          word.end +
          strippedSpan(bytes.substr(word.end), std::nullopt, true, false).begin;
    }
    parts.push_back(text.slice(word.begin, word.end));
  }
  return parts;
}

static std::vector<Text> splitAt(const Text &text, const std::string &separator,
                                 int64_t most, bool fromRight) {
  const std::string &bytes = text.bytes();
  std::vector<Text> parts;
  size_t begin = 0, end = bytes.size();
  while (most < 0 || parts.size() < static_cast<size_t>(most)) {
    size_t found = std::string::npos;
    if (!fromRight)
      found = bytes.find(separator, begin);
    else if (end >= separator.size())
      found = bytes.rfind(separator, end - separator.size());
    if (found == std::string::npos)
      break;
    if (fromRight) {
      parts.push_back(text.slice(found + separator.size(), end));
      end = found;
    } else {
      parts.push_back(text.slice(begin, found));
      begin = found + separator.size();
    }
  }
  parts.push_back(text.slice(begin, end));
  return parts;
}

std::vector<Value> jinja::splitText(Machine &machine, const Text &text,
                                    const std::optional<std::string> &separator,
                                    int64_t most, bool fromRight) {
  if (separator && separator->empty()) {
    machine.refuse("expected a separator to split at, but found an empty text");
    return {};
  }
  machine.reads(text.size());
  std::vector<Text> parts = separator
                                ? splitAt(text, *separator, most, fromRight)
                                : splitWords(text, most, fromRight);
  if (fromRight)
    std::reverse(parts.begin(), parts.end());
  std::vector<Value> values;
  if (!machine.step(parts.size()))
    return values;
  for (Text &part : parts)
    values.push_back(machine.text(std::move(part)));
  return values;
}

Value jinja::replaceText(Machine &machine, const Text &text, const Text &from,
                         const Text &to, int64_t most) {
  const std::string &bytes = text.bytes();
  machine.reads(bytes.size());
  Text replaced;
  size_t kept = 0, at = 0;
  for (int64_t done = 0; (most < 0 || done < most) && at <= bytes.size();
       ++done) {
    size_t found = bytes.find(from.bytes(), at);
    if (found == std::string::npos)
      break;
    replaced.append(text, kept, found);
    replaced.append(to);
    if (replaced.size() > kMostTextBytes || (done % 64 == 0 && !machine.step()))
      break;
    kept = found + from.size();
    // An empty text is found before every character and at the end.
    at = !from.empty() ? kept
         : found < bytes.size()
             ? found +
                   unicode::decode(std::string_view(bytes).substr(found)).bytes
             : bytes.size() + 1;
  }
  replaced.append(text, kept, bytes.size());
  return machine.text(std::move(replaced));
}

std::optional<Text> jinja::capitalize(const Text &text) {
  if (text.empty())
    return text;
  size_t first = unicode::decode(text.bytes()).bytes;
  std::optional<Text> upper = toUpper(text.slice(0, first));
  if (!upper)
    return upper;
  upper->append(toLower(text.slice(first, text.size())));
  upper->isSafe = text.isSafe;
  return upper;
}

namespace {
struct Call {
  Machine &machine;
  const Text &text;
  std::string_view name;
  const Arguments &arguments;

  std::string_view bytes() const { return text.bytes(); }
  /// The text that argument has; refused where it is none.
  const Text *textOf(const std::optional<Value> &value) const {
    if (machine.failed())
      return nullptr;
    if (value && value->isText())
      return &value->text();
    machine.refuse("expected a text as the argument of '", name,
                   "', but found ", value ? value->description() : "none");
    return nullptr;
  }
  /// Likewise, with none for what is absent or none.
  bool optionalText(const std::optional<Value> &value,
                    std::optional<std::string> &out) const {
    if (!value || value->is(Kind::None))
      return !machine.failed();
    const Text *given = textOf(value);
    if (given)
      out = given->bytes();
    return given != nullptr;
  }
  int64_t wholeOf(const std::optional<Value> &value, int64_t otherwise) const {
    if (!value || value->isWhole())
      return value ? value->whole() : otherwise;
    machine.refuse("expected a whole number as an argument of '", name,
                   "', but found ", value->description());
    return otherwise;
  }
};
} // namespace

static Value strip(const Call &call) {
  auto bound = call.arguments.bind(call.machine, call.name, {"chars"});
  std::optional<std::string> characters;
  if (!call.optionalText(bound[0], characters))
    return {};
  call.machine.reads(call.bytes().size());
  Span span = strippedSpan(call.bytes(), characters, call.name != "rstrip",
                           call.name != "lstrip");
  return call.machine.text(call.text.slice(span.begin, span.end));
}

static Value split(const Call &call) {
  auto bound =
      call.arguments.bind(call.machine, call.name, {"sep", "maxsplit"});
  std::optional<std::string> separator;
  if (!call.optionalText(bound[0], separator))
    return {};
  return call.machine.list(splitText(call.machine, call.text, separator,
                                     call.wholeOf(bound[1], -1),
                                     call.name == "rsplit"));
}

/// startswith and endswith: of a text, or of any of a tuple.
static Value meets(const Call &call) {
  auto bound = call.arguments.bind(call.machine, call.name, {"prefix"}, 1);
  if (call.machine.failed())
    return {};
  std::vector<Value> wanted = {*bound[0]};
  if (bound[0]->is(Kind::Sequence) && bound[0]->sequence().form == Form::Tuple)
    wanted = bound[0]->sequence().items;
  for (const Value &one : wanted) {
    const Text *part = call.textOf(one);
    if (!part)
      return {};
    if (call.name == "startswith" ? call.bytes().starts_with(part->bytes())
                                  : call.bytes().ends_with(part->bytes()))
      return true;
  }
  return false;
}

static Value replace(const Call &call) {
  auto bound =
      call.arguments.bind(call.machine, call.name, {"old", "new", "count"}, 2);
  const Text *from = call.textOf(bound[0]), *to = call.textOf(bound[1]);
  if (!from || !to)
    return {};
  return replaceText(call.machine, call.text, *from, *to,
                     call.wholeOf(bound[2], -1));
}

static Value removeEnd(const Call &call) {
  auto bound = call.arguments.bind(call.machine, call.name, {"affix"}, 1);
  const Text *part = call.textOf(bound[0]);
  if (!part)
    return {};
  size_t size = call.bytes().size(), less = part->size();
  bool isFront = call.name == "removeprefix";
  if (!(isFront ? call.bytes().starts_with(part->bytes())
                : call.bytes().ends_with(part->bytes())))
    return call.machine.text(call.text);
  return call.machine.text(isFront ? call.text.slice(less, size)
                                   : call.text.slice(0, size - less));
}

/// find, rfind, index, rindex, count.
static Value find(const Call &call) {
  auto bound = call.arguments.bind(call.machine, call.name, {"sub"}, 1);
  const Text *part = call.textOf(bound[0]);
  if (!part)
    return {};
  call.machine.reads(call.bytes().size());
  if (call.name == "count") {
    int64_t count = 0;
    if (part->empty())
      return static_cast<int64_t>(countCharacters(call.bytes()) + 1);
    for (size_t at = 0;
         (at = call.bytes().find(part->bytes(), at)) != std::string::npos;
         at += part->size())
      ++count;
    return count;
  }
  size_t found = call.name[0] == 'r' ? call.bytes().rfind(part->bytes())
                                     : call.bytes().find(part->bytes());
  if (found != std::string::npos)
    return static_cast<int64_t>(countCharacters(call.bytes().substr(0, found)));
  if (call.name.ends_with("index"))
    return call.machine.refuse(
        "expected a text that is in the other, but found "
        "one that is not");
  return int64_t(-1);
}

static Value partition(const Call &call) {
  auto bound = call.arguments.bind(call.machine, call.name, {"sep"}, 1);
  const Text *part = call.textOf(bound[0]);
  if (!part)
    return {};
  bool fromRight = call.name == "rpartition";
  std::vector<Value> parts =
      splitText(call.machine, call.text, part->bytes(), 1, fromRight);
  if (parts.size() == 2)
    parts.insert(parts.begin() + 1, bound[0].value());
  else
    parts.insert(fromRight ? parts.begin() : parts.end(), 2,
                 call.machine.text(std::string()));
  return call.machine.sequence(Form::Tuple, std::move(parts));
}

static Value join(const Call &call) {
  auto bound = call.arguments.bind(call.machine, call.name, {"iterable"}, 1);
  if (call.machine.failed())
    return {};
  Text joined;
  bool first = true;
  for (const Value &item : iterate(call.machine, *bound[0])) {
    const Text *part = call.textOf(item);
    if (!part)
      return {};
    if (!first)
      joined.append(call.text);
    first = false;
    joined.append(*part);
    if (joined.size() > kMostTextBytes)
      break;
  }
  return call.machine.text(std::move(joined));
}

static Value changeCase(const Call &call) {
  call.arguments.bind(call.machine, call.name, {});
  call.machine.reads(call.bytes().size() * 4);
  if (call.machine.failed())
    return {};
  std::optional<Text> changed = call.name == "lower"   ? toLower(call.text)
                                : call.name == "upper" ? toUpper(call.text)
                                                       : capitalize(call.text);
  if (!changed)
    return call.machine.unsupported(
        "expected letters whose capital is one letter, but found another");
  return call.machine.text(std::move(*changed));
}

static Value lines(const Call &call) {
  auto bound = call.arguments.bind(call.machine, call.name, {"keepends"});
  if (bound[0] && isTrue(*bound[0]))
    return call.machine.unsupported("expected 'splitlines' without the ends of "
                                    "lines, but they are asked for");
  call.machine.reads(call.bytes().size());
  std::vector<Value> values;
  for (Text &line : splitLines(call.text))
    values.push_back(call.machine.text(std::move(line)));
  return call.machine.list(std::move(values));
}

/// isdigit and its like: every character is, and there is one.
static Value areAll(const Call &call) {
  call.arguments.bind(call.machine, call.name, {});
  call.machine.reads(call.bytes().size());
  auto is = [&](char32_t character) {
    using unicode::Category;
    Category category = unicode::lookUp(character).category;
    bool isLetter = category == Category::Lu || category == Category::Ll ||
                    category == Category::Lt || category == Category::Lm ||
                    category == Category::Lo;
    if (call.name == "isspace")
      return isSpace(character);
    if (call.name == "isascii")
      return character < 0x80;
    if (call.name == "isalpha")
      return isLetter;
    bool isNumber = category == Category::Nd;
    if (call.name == "isalnum")
      return isLetter || isNumber || category == Category::No ||
             category == Category::Nl;
    return isNumber;
  };
  std::string_view bytes = call.bytes();
  for (size_t at = 0; at < bytes.size();
       at += unicode::decode(bytes.substr(at)).bytes)
    if (!is(characterAt(bytes, at)))
      return false;
  return !bytes.empty() || call.name == "isascii";
}

/// isupper and islower: there is a letter with a case, and all have this one.
static Value areCased(const Call &call) {
  call.arguments.bind(call.machine, call.name, {});
  call.machine.reads(call.bytes().size());
  std::string_view bytes = call.bytes();
  bool any = false;
  for (size_t at = 0; at < bytes.size();
       at += unicode::decode(bytes.substr(at)).bytes) {
    char32_t character = characterAt(bytes, at);
    bool upper = isUpper(character), lower = isLower(character);
    if (call.name == "isupper" ? lower : upper)
      return false;
    any |= upper || lower;
  }
  return any;
}

Value jinja::callTextMethod(Machine &machine, const Text &text,
                            std::string_view name, const Arguments &arguments) {
  static const std::map<std::string_view, Value (*)(const Call &)> kMethods = {
      {"capitalize", changeCase},
      {"count", find},
      {"endswith", meets},
      {"find", find},
      {"index", find},
      {"isalnum", areAll},
      {"isalpha", areAll},
      {"isascii", areAll},
      {"isdecimal", areAll},
      {"isdigit", areAll},
      {"islower", areCased},
      {"isspace", areAll},
      {"isupper", areCased},
      {"join", join},
      {"lower", changeCase},
      {"lstrip", strip},
      {"partition", partition},
      {"removeprefix", removeEnd},
      {"removesuffix", removeEnd},
      {"replace", replace},
      {"rfind", find},
      {"rindex", find},
      {"rpartition", partition},
      {"rsplit", split},
      {"rstrip", strip},
      {"split", split},
      {"splitlines", lines},
      {"startswith", meets},
      {"strip", strip},
      {"upper", changeCase}};
  if (text.isSafe && (name == "replace" || name == "join" || name == "format"))
    return machine.unsupported("expected '", name,
                               "' of a text that is not "
                               "marked safe, but found one that is");
  if (name == "format")
    return formatText(machine, text, arguments);
  auto found = kMethods.find(name);
  if (found == kMethods.end())
    return machine.unsupported("expected a method of texts that is understood, "
                               "but found '",
                               name, "'");
  return found->second({machine, text, name, arguments});
}
