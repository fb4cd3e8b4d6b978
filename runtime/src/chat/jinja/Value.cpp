#include "runtime/src/chat/jinja/Value.h"

#include <algorithm>

using namespace effc::rt::jinja;

/// Up to here looking at every key is as fast as hashing.
static constexpr size_t kFewEntries = 16;

Value::Value() = default;
Value::Value(const Value &) = default;
Value::Value(Value &&) noexcept = default;
Value &Value::operator=(const Value &) = default;
Value &Value::operator=(Value &&) noexcept = default;
Value::~Value() = default;

Value Value::undefined(std::string what) {
  Value value;
  value.content = Undefined{std::make_shared<std::string>(std::move(what))};
  return value;
}

std::string Value::missing() const {
  const auto &what = std::get<Undefined>(content).what;
  return what ? *what : "a value";
}

unsigned Value::depth() const {
  if (is(Kind::Sequence))
    return sequence().depth;
  if (is(Kind::Mapping))
    return mapping().depth();
  // A loop or method holds values; it counts so that chains of them are bounded.
  if (is(Kind::Callable))
    return callable().receiver.depth() + 1;
  if (is(Kind::Loop))
    return loop()->items->depth + 1;
  return 0;
}

std::string Value::description() const {
  switch (kind()) {
  case Kind::Undefined:
    return "nothing (" + missing() + " is undefined)";
  case Kind::None:
    return "none";
  case Kind::Boolean:
    return "a truth";
  case Kind::Integer:
    return "a whole number";
  case Kind::Float:
    return "a number";
  case Kind::Text:
    return "a text";
  case Kind::Sequence: {
    static constexpr const char *kNames[] = {
        "a list", "a tuple", "a range", "a view of a mapping", "a generator"};
    return kNames[static_cast<size_t>(sequence().form)];
  }
  case Kind::Mapping:
    return "a mapping";
  case Kind::Namespace:
    return "a namespace";
  case Kind::Callable:
    return "the function '" + callable().name + "'";
  case Kind::Loop:
    return "a loop";
  }
  return "";
}

Sequence::Sequence(Form form, std::vector<Value> given)
    : form(form), items(std::move(given)) {
  for (const Value &item : items)
    depth = std::max(depth, item.depth() + 1);
}

/// What tells a key from others of its kind, behind a letter for the kind.
static std::string indexed(std::string_view text) {
  return "t" + std::string(text);
}
static std::string indexed(const Value &key) {
  return key.isText() ? indexed(key.text().bytes())
                      : "n" + std::to_string(key.whole());
}

static bool isKey(const Value &key, std::string_view text) {
  return key.isText() && key.text().bytes() == text;
}
static bool isKey(const Value &key, const Value &other) {
  return other.isText() ? isKey(key, other.text().bytes())
                        : key.isWhole() && key.whole() == other.whole();
}

template <typename Key>
static size_t placeOf(const std::vector<Mapping::Entry> &all,
                      const std::unordered_map<std::string, size_t> &index,
                      const Key &key) {
  if (all.size() > kFewEntries) {
    auto at = index.find(indexed(key));
    return at == index.end() ? all.size() : at->second;
  }
  size_t place = 0;
  while (place < all.size() && !isKey(all[place].key, key))
    ++place;
  return place;
}

const Value *Mapping::find(std::string_view key) const {
  size_t place = placeOf(all, index, key);
  return place < all.size() ? &all[place].value : nullptr;
}

const Value *Mapping::find(const Value &key) const {
  if (!key.isText() && !key.isWhole())
    return nullptr;
  size_t place = placeOf(all, index, key);
  return place < all.size() ? &all[place].value : nullptr;
}

void Mapping::set(Value key, Value value) {
  most = std::max(most, value.depth() + 1);
  size_t place = placeOf(all, index, key);
  if (place < all.size()) {
    all[place].value = std::move(value);
    return;
  }
  all.push_back({std::move(key), std::move(value)});
  if (all.size() == kFewEntries + 1)
    for (size_t i = 0; i < all.size(); ++i)
      index.emplace(indexed(all[i].key), i);
  else if (all.size() > kFewEntries)
    index.emplace(indexed(all.back().key), all.size() - 1);
}
