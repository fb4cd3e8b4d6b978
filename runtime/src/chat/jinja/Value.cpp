#include "runtime/src/chat/jinja/Value.h"

#include <algorithm>

using namespace effc::rt::jinja;

/// Up to here looking at every key is as fast as hashing.
static constexpr size_t kFewEntries = 16;

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

const size_t *Mapping::indexOf(std::string_view key, size_t &found) const {
  if (all.size() > kFewEntries) {
    auto at = index.find(std::string(key));
    return at == index.end() ? nullptr : &at->second;
  }
  for (found = 0; found < all.size(); ++found)
    if (all[found].key->bytes() == key)
      return &found;
  return nullptr;
}

const Value *Mapping::find(std::string_view key) const {
  size_t place;
  const size_t *found = indexOf(key, place);
  return found ? &all[*found].value : nullptr;
}

void Mapping::set(TextRef key, Value value) {
  most = std::max(most, value.depth() + 1);
  size_t place;
  if (const size_t *found = indexOf(key->bytes(), place)) {
    all[*found].value = std::move(value);
    return;
  }
  all.push_back({std::move(key), std::move(value)});
  if (all.size() == kFewEntries + 1)
    for (size_t i = 0; i < all.size(); ++i)
      index.emplace(all[i].key->bytes(), i);
  else if (all.size() > kFewEntries)
    index.emplace(all.back().key->bytes(), all.size() - 1);
}
