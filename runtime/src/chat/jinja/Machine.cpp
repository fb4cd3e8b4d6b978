#include "runtime/src/chat/jinja/Machine.h"

using namespace effc::rt;
using namespace effc::rt::jinja;

bool Machine::step(uint64_t count) {
  steps += count;
  if (steps > allowed)
    refuse("expected a rendering of at most ", allowed,
           " steps, but the template takes more for this conversation");
  return !failed();
}

bool Machine::makes(uint64_t bytes) {
  if (bytes > kMostTextBytes)
    refuse("expected texts of at most ", kMostTextBytes, " bytes, but one has ",
           bytes);
  made += bytes;
  if (made > kMostMadeBytes)
    refuse("expected a rendering that makes texts of at most ", kMostMadeBytes,
           " bytes in all, but the template makes more");
  return !failed();
}

Value Machine::text(Text content) {
  if (!makes(content.size()))
    return {};
  return TextRef(std::make_shared<Text>(std::move(content)));
}

Value Machine::sequence(Form form, std::vector<Value> items) {
  auto made = std::make_shared<const Sequence>(form, std::move(items));
  if (made->depth > kMostDepth)
    return refuse("expected lists and mappings of at most ", kMostDepth,
                  " levels, but found more");
  // A hundred bytes a step: copies of lists cost what they take.
  step(made->items.size() / 4);
  return Value(std::move(made));
}

Value Machine::mapping(std::shared_ptr<Mapping> entries) {
  if (entries->depth() > kMostDepth)
    return refuse("expected lists and mappings of at most ", kMostDepth,
                  " levels, but found more");
  step(entries->size());
  return Value(std::shared_ptr<const Mapping>(std::move(entries)));
}

Namespace *Machine::makeNamespace() {
  spaces.emplace_back();
  return &spaces.back();
}
