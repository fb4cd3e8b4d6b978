#include "runtime/src/Limits.h"
#include "runtime/src/ModelChecks.h"

#include <type_traits>

using namespace effc;
using namespace effc::rt;

namespace {
/// Adds up what is named, each time that it is. Of a table no more than it takes
/// at least, since fields that are left out take nothing.
class Sum {
public:
  void add(const flatbuffers::String *text) {
    bytes += text ? text->size() : 0;
  }

  /// A vector of numbers, of structs, of texts, or of tables by `add` of each.
  template <typename T, typename Add = std::nullptr_t>
  void add(const flatbuffers::Vector<T> *vector, Add &&each = nullptr) {
    if (!vector)
      return;
    constexpr bool isOffset = std::is_same_v<
        T, flatbuffers::Offset<std::remove_cv_t<std::remove_pointer_t<
               typename flatbuffers::Vector<T>::return_type>>>>;
    if constexpr (!isOffset) {
      bytes += uint64_t(vector->size()) *
               flatbuffers::IndirectHelper<T>::element_stride;
    } else if constexpr (std::is_same_v<
                             T, flatbuffers::Offset<flatbuffers::String>>) {
      for (const flatbuffers::String *text : *vector) {
        bytes += kOffset;
        add(text);
      }
    } else {
      for (const auto *table : *vector) {
        bytes += kOffset + kTable;
        if constexpr (!std::is_null_pointer_v<std::remove_cvref_t<Add>>)
          each(*table);
      }
    }
  }

  void addKernels(
      const flatbuffers::Vector<flatbuffers::Offset<artifact::Kernel>> *all) {
    add(all, [&](const artifact::Kernel &kernel) {
      add(kernel.name());
      add(kernel.code());
      add(kernel.instructions(),
          [&](const artifact::InstructionCount &count) { add(count.name()); });
      add(kernel.box_maps());
      add(kernel.extents());
    });
  }

  void addEntries(
      const flatbuffers::Vector<flatbuffers::Offset<artifact::Entry>> *all) {
    add(all, [&](const artifact::Entry &entry) {
      add(entry.name());
      add(entry.launches(), [&](const artifact::Launch &launch) {
        add(launch.operands());
        add(launch.operand_bytes());
        add(launch.note());
      });
    });
  }

  uint64_t bytes = 0;

private:
  static constexpr uint64_t kOffset = 4, kTable = 4;
};
} // namespace

/// Bytes of the program if each part were stored where it is named.
static uint64_t sizeWithoutSharing(const artifact::Program &program) {
  Sum sum;
  sum.add(program.segments(),
          [&](const artifact::Segment &segment) { sum.add(segment.isa()); });
  sum.add(program.weights(), [&](const artifact::Weight &weight) {
    sum.add(weight.name());
    sum.add(weight.source());
    sum.add(weight.shape());
  });
  sum.add(program.states(), [&](const artifact::State &state) {
    sum.add(state.name());
    sum.add(state.shape());
  });
  sum.add(program.weight_files(),
          [&](const artifact::WeightFile &file) { sum.add(file.name()); });
  sum.add(program.key_work());
  sum.addKernels(program.kernels());
  sum.addEntries(program.entries());
  sum.add(program.targets(), [&](const artifact::TargetPlan &target) {
    sum.add(target.name());
    sum.addKernels(target.kernels());
    sum.addEntries(target.entries());
  });
  if (const artifact::Generation *generation = program.generation()) {
    sum.add(generation->eos());
    sum.add(generation->stops());
  }
  if (const artifact::Provenance *provenance = program.provenance()) {
    for (const flatbuffers::String *text :
         {provenance->compiler(), provenance->commit(), provenance->llvm(),
          provenance->family(), provenance->ptxas()})
      sum.add(text);
    sum.add(provenance->options());
    sum.add(provenance->sources(),
            [&](const artifact::SourceFile &file) { sum.add(file.name()); });
  }
  return sum.bytes;
}

Check rt::checkSharing(const artifact::Program &program, uint64_t bytes) {
  uint64_t most = kFreeSharedBytes + kMostSharing * bytes;
  if (uint64_t found = sizeWithoutSharing(program); found > most)
    return badData("the program names its parts so often that they would take ",
                   found, " bytes if each were stored where it is named, but ",
                   most, " are expected at most: ", kFreeSharedBytes, ", and ",
                   kMostSharing, " for each of its ", bytes);
  return {};
}
