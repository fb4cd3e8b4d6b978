//===- Machine.h - What a rendering has used up, and why it ended ---------===//
//
// A template is a program of a stranger. Whatever works for one takes steps and
// bytes here. The first failure stands; from then on all work is refused, so that
// functions may return any value after one.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_MACHINE_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_MACHINE_H

#include "runtime/src/Error.h"
#include "runtime/src/chat/jinja/Moment.h"
#include "runtime/src/chat/jinja/Value.h"

#include <deque>

namespace effc::rt::jinja {

/// Of one rendering, whatever it renders. A step is an expression, a statement or
/// an element of a list. With one exception public templates take less than 250
/// for a message; that one looks at all messages for each.
constexpr uint64_t kFreeSteps = 1'000'000;
/// And for each message, up to so many in all: a few seconds.
constexpr uint64_t kStepsEach = 10'000, kMostSteps = 20'000'000;
constexpr uint64_t stepsFor(uint64_t messages) {
  return messages > (kMostSteps - kFreeSteps) / kStepsEach
             ? kMostSteps
             : kFreeSteps + messages * kStepsEach;
}
/// Of any one text, and so of what is rendered: two million tokens.
constexpr uint64_t kMostTextBytes = uint64_t(8) << 20;
/// Of all texts that are made on the way.
constexpr uint64_t kMostMadeBytes = uint64_t(512) << 20;
/// How deep macros, loops and expressions run in each other: some 500 bytes of
/// the thread's stack each.
constexpr unsigned kMostFrames = 600;
/// How deep lists and mappings lie in each other. JSON is read up to half of it.
constexpr unsigned kMostDepth = 128;

class Machine {
public:
  Machine(const Moment &now, uint64_t allowedSteps)
      : now(now), allowed(allowedSteps) {}

  bool failed() const { return error.has_value(); }
  const Check &failure() const { return error; }

  /// Ends the rendering: what the template does there cannot be done. Returns
  /// nothing, so that it can be returned.
  template <typename... Parts> Value refuse(const Parts &...parts) {
    if (!error)
      error = invalidArgument("line ", line, ": ", parts...);
    return {};
  }
  /// Likewise for what Python can do and this interpreter cannot.
  template <typename... Parts> Value unsupported(const Parts &...parts) {
    if (!error)
      error = fail(EFFC_UNSUPPORTED, "line ", line, ": ", parts...);
    return {};
  }

  /// Takes steps; false where there are none left, or after a failure.
  bool step(uint64_t count = 1);
  /// Announces a text of `bytes`; likewise.
  bool makes(uint64_t bytes);
  /// What Python's code does inside, such as a search, looks at `bytes`.
  bool reads(uint64_t bytes) { return step(bytes / 256); }

  Value text(Text content);
  Value text(std::string own) { return text(Text(std::move(own))); }
  Value sequence(Form form, std::vector<Value> items);
  Value list(std::vector<Value> items) {
    return sequence(Form::List, std::move(items));
  }
  Value mapping(std::shared_ptr<Mapping> entries);
  Namespace *makeNamespace();

  /// One level deeper while it lives; see kMostFrames.
  class Frame {
  public:
    explicit Frame(Machine &machine) : machine(machine) {
      if (++machine.frames > kMostFrames)
        machine.refuse("expected at most ", kMostFrames,
                       " calls and parts in each other, but found more");
    }
    ~Frame() { --machine.frames; }
    Frame(const Frame &) = delete;

  private:
    Machine &machine;
  };

  unsigned line = 1; // where the template is
  const Moment &now;

private:
  const uint64_t allowed;
  uint64_t steps = 0, made = 0;
  unsigned frames = 0;
  std::deque<Namespace> spaces;
  Check error;
};

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_MACHINE_H
