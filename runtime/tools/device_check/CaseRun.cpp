#include "runtime/tools/device_check/CaseRun.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace effc;
using namespace effc::check;

void Distance::add(double found, double expected) {
  double distance = std::fabs(found - expected);
  if (std::isnan(distance))
    distance = std::numeric_limits<double>::infinity();
  difference = std::fmax(difference, distance);
  magnitude = std::fmax(magnitude, std::fabs(expected));
  squares += distance * distance;
  norm += expected * expected;
}

double Distance::largest() const {
  if (magnitude == 0)
    return difference;
  // Less than this f32 does not hold in full.
  double least = std::numeric_limits<float>::min();
  return difference / std::fmax(magnitude, least);
}

double Distance::relative() const {
  return norm > 0 ? std::sqrt(squares / norm) : std::sqrt(squares);
}

namespace {
/// A case being run on a device.
class Run {
public:
  Run(const CaseFile &file, rt::Device &device)
      : file(file), prepared(prepare(device, file.artifact, file.slots)),
        executor(*prepared.executor) {
    if (program().slot_bytes() != file.slotBytes)
      throw Failure(
          "the model has slots of " + std::to_string(program().slot_bytes()) +
          " bytes, but the case those of " + std::to_string(file.slotBytes));
  }

  CaseOutcome outcome() {
    for (const CaseStep &step : file.steps) {
      if (step.kind == CaseStep::Kind::WriteSlot) {
        require(executor.writeSlot(
            static_cast<uint32_t>(step.slot),
            rt::piecesAt<const uint8_t>(all(), step.bytes.data())));
        finish(step.slot);
      } else if (step.kind == CaseStep::Kind::ReadState)
        readState(step);
      else
        call(step);
    }
    while (!sequences.empty())
      finish(sequences.begin()->first);
    result.passed = result.largest <= file.tolerance;
    return std::move(result);
  }

private:
  const artifact::Program &program() const { return prepared.model->program(); }
  std::span<const rt::SlotRange> all() {
    whole = {0, program().slot_bytes()};
    return {&whole, 1};
  }

  void call(const CaseStep &step) {
    int64_t rows = 0;
    for (const CaseStep::Segment &segment : step.segments)
      rows += static_cast<int64_t>(segment.tokens.size());
    uint32_t entry = findEntry(executor.plan(),
                               step.kind == CaseStep::Kind::Prefill
                                   ? artifact::EntryKind::Prefill
                                   : artifact::EntryKind::Decode,
                               rows);
    fillInputs(step, executor.plan().entries->Get(entry)->rows());
    require(executor.run(
        entry, {rows, static_cast<int64_t>(step.segments.size()), rows}));
    size_t width = program().vocabulary_size(), row = 0;
    if (step.expected.size() != static_cast<size_t>(rows) * width)
      throw Failure("a call gives " + std::to_string(rows) + " rows of " +
                    std::to_string(width) + " numbers, but the case has " +
                    std::to_string(step.expected.size()) + " in all");
    const float *found = executor.results();
    for (const CaseStep::Segment &segment : step.segments) {
      if (segment.begins)
        finish(segment.slot);
      size_t end = row + segment.tokens.size();
      for (size_t i = row * width; i < end * width; ++i)
        take(sequences[segment.slot], found[i], step.expected[i]);
      row = end;
    }
  }

  /// Rows past the end name a slot that no sequence has, as the engine's do.
  void fillInputs(const CaseStep &step, uint32_t entryRows) {
    const rt::CallInputs &inputs = executor.inputs();
    int32_t row = 0, index = 0;
    for (const CaseStep::Segment &segment : step.segments) {
      inputs.segments[index++] = artifact::SegmentRecord(
          segment.slot, row, static_cast<int32_t>(segment.tokens.size()),
          segment.begins, segment.start);
      int64_t position = segment.start;
      for (int32_t token : segment.tokens) {
        inputs.tokens[row] = token;
        inputs.rowSlots[row] = segment.slot;
        inputs.rowPositions[row] = position++;
        inputs.outputRows[row] = row;
        ++row;
      }
    }
    for (; static_cast<uint32_t>(row) < entryRows; ++row) {
      inputs.tokens[row] = 0;
      inputs.rowSlots[row] = static_cast<int32_t>(file.slots);
      inputs.rowPositions[row] = 0;
    }
  }

  void readState(const CaseStep &step) {
    std::vector<uint8_t> slot(program().slot_bytes());
    require(executor.readSlot(static_cast<uint32_t>(step.slot),
                              rt::piecesAt(all(), slot.data())));
    for (const artifact::State *state : *program().states()) {
      if (state->name()->string_view() != step.state)
        continue;
      bool narrow = state->type() == artifact::ElementType::BF16;
      if (state->size() != step.expected.size() * (narrow ? 2 : 4))
        throw Failure("state '" + step.state + "' has " +
                      std::to_string(state->size()) +
                      " bytes, but the case has " +
                      std::to_string(step.expected.size()) + " numbers");
      const uint8_t *at = slot.data() + state->slot_offset();
      Distance distance;
      for (size_t i = 0; i < step.expected.size(); ++i) {
        uint32_t bits = 0;
        if (narrow)
          std::memcpy(reinterpret_cast<uint8_t *>(&bits) + 2, at + 2 * i, 2);
        else
          std::memcpy(&bits, at + 4 * i, 4);
        float number;
        std::memcpy(&number, &bits, 4);
        take(distance, number, step.expected[i]);
      }
      settle(distance);
      return;
    }
    throw Failure("the model has no state '" + step.state + "'");
  }

  void take(Distance &distance, float found, double expected) {
    distance.add(found, expected);
    result.found.push_back(found);
  }
  void settle(const Distance &distance) {
    result.largest = std::fmax(result.largest, distance.largest());
    result.relative = std::fmax(result.relative, distance.relative());
  }
  /// A sequence ends, whose outputs are judged as a whole.
  void finish(int32_t slot) {
    auto found = sequences.find(slot);
    if (found == sequences.end())
      return;
    settle(found->second);
    sequences.erase(found);
  }

  const CaseFile &file;
  rt::SlotRange whole; // slot
  Prepared prepared;
  rt::Executor &executor;
  std::map<int32_t, Distance> sequences;
  CaseOutcome result;
};
} // namespace

CaseOutcome check::run(const CaseFile &file, rt::Device &device) {
  auto start = std::chrono::steady_clock::now();
  CaseOutcome outcome;
  try {
    outcome = Run(file, device).outcome();
  } catch (const Failure &failure) {
    outcome.error = failure.what();
  }
  outcome.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return outcome;
}

double check::differenceOf(const CaseOutcome &a, const CaseOutcome &b) {
  Distance distance;
  for (size_t i = 0; i < a.found.size() && i < b.found.size(); ++i)
    distance.add(a.found[i], b.found[i]);
  return a.found.size() == b.found.size()
             ? distance.largest()
             : std::numeric_limits<double>::infinity();
}
