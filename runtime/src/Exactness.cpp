#include "runtime/src/Exactness.h"

#include "runtime/src/StateRows.h"

#include <optional>
#include <string_view>

using namespace effc;
using namespace effc::rt;

/// The value of an option in the spelling of compiler/CanonicalOptions.cpp, or "".
static std::string_view optionOf(const artifact::Provenance &provenance,
                                 std::string_view name) {
  if (provenance.options())
    for (const flatbuffers::String *text : *provenance.options()) {
      std::string_view option = text->string_view();
      if (option.size() > name.size() && option[name.size()] == '=' &&
          option.substr(0, name.size()) == name)
        return option.substr(name.size() + 1);
    }
  return "";
}

/// Whether calls round a state where they end. On the host keys and values of a
/// token are rounded when they are made.
static bool roundsAtEnds(const artifact::State &state, bool isHost) {
  bool isNarrow = state.type() == artifact::ElementType::BF16 ||
                  state.type() == artifact::ElementType::F16;
  return isNarrow && !(isHost && growsWithSequence(state));
}

/// The chunk of all prefill entries; none where they differ, since which entry takes
/// the rest of a prompt depends on how much is left.
static std::optional<uint64_t> commonChunk(const Plan &plan) {
  std::optional<uint64_t> common;
  for (const artifact::Entry *entry : *plan.entries) {
    if (entry->kind() != artifact::EntryKind::Prefill)
      continue;
    if (common && *common != entry->chunk())
      return std::nullopt;
    common = entry->chunk();
  }
  return common;
}

Exactness rt::exactnessOf(const artifact::Program &program, const Plan &plan) {
  const artifact::Provenance *provenance = program.provenance();
  if (!provenance)
    return {};
  // The host's code is bit-stable unless that was declined, a GPU's where it was
  // asked for.
  std::string_view stable = optionOf(*provenance, "--bit-stable");
  if (plan.isHost ? stable == "false" : stable != "true")
    return {};
  for (const artifact::State *state : *program.states())
    if (roundsAtEnds(*state, plan.isHost))
      return {};
  std::string_view form = optionOf(*provenance, "--force-form");
  std::optional<uint64_t> chunk = commonChunk(plan);
  if (!chunk)
    return {};
  if (form.empty() || form == "step")
    return *chunk == 1 ? Exactness{Exactness::Kind::Anywhere}
                       : Exactness{Exactness::Kind::OnGrid, *chunk};
  if (form.substr(0, 9) == "chunkwise" && *chunk > 1)
    return {Exactness::Kind::OnGrid, *chunk};
  return {};
}
