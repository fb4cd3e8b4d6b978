//===- ToyArtifact.h - A valid .effc file made without the compiler -------===//
//
// The toy model of ToyKernels.c with a small byte-level tokenizer, as the bytes
// of an artifact. Tests change the program before it is packed, or the bytes
// afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_TOY_TOYARTIFACT_H
#define EFFC_TEST_UNIT_RUNTIME_TOY_TOYARTIFACT_H

#include "runtime/schema/program_generated.h"
#include "runtime/schema/tokenizer_generated.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace effc::test {

/// The level that the toy's code is said to be of, the lowest one here; the next one;
/// and one of another architecture.
#if defined(__aarch64__)
inline constexpr const char *kToyIsa = "aarch64-dotprod",
                            *kHigherIsa = "aarch64-i8mm",
                            *kForeignIsa = "x86-64-v3";
#else
inline constexpr const char *kToyIsa = "x86-64-v3", *kHigherIsa = "x86-64-v4",
                            *kForeignIsa = "aarch64-dotprod";
#endif

constexpr uint32_t kToyVocabulary = 271;
constexpr uint32_t kToyChannels = 3;
constexpr uint64_t kToySlotBytes = 192;
// Of a toy that keeps keys: rows of a whole context and of a window.
constexpr uint64_t kToyContext = 1024;
constexpr uint64_t kToyWindow = 64;
constexpr uint64_t kToyRowBytes = 8192;
constexpr uint64_t kToyKeysSlotBytes =
    kToySlotBytes + (kToyContext + kToyWindow) * kToyRowBytes;

/// A segment of code besides the host's; the first is segment 3 of a toy with a
/// tokenizer.
struct ToyCode {
  artifact::SegmentKind kind;
  const char *isa;
  std::vector<uint8_t> bytes;
};

struct ToyOptions {
  std::vector<uint32_t> prefillRows = {4, 16};
  std::vector<uint32_t> decodeRows = {1, 2, 4};
  uint32_t chunk = 4;
  bool withTokenizer = true;
  /// Whether decode entries give choices by a kernel of their own.
  bool withChoices = false;
  /// Whether it has states that grow with the sequence, of which each token is
  /// looked at with every later one: what is lost of them shows in the logits.
  bool withKeys = false;
  /// Whether it has such states alone, of a whole context: nothing fixed.
  bool keysAlone = false;
  std::vector<ToyCode> code;
  /// Bytes before the first segment; two targets need twice as many.
  uint64_t programRoom = 8192;
  /// Changes the program just before it is packed, offsets and checksums set.
  std::function<void(artifact::ProgramT &)> changeProgram;
  std::function<void(artifact::TokenizerT &)> changeTokenizer;
};

/// Gives `program` a target that launches what the host does: the same entries,
/// kernels in segment `code`, one block of 64 threads for each item.
artifact::TargetPlanT &addToyTarget(artifact::ProgramT &program,
                                    const char *name, uint32_t code);

/// Has each kernel, also of targets, state what the toy's launches pass: for a
/// program whose launches, states or slots were changed.
void stateExtents(artifact::ProgramT &program);

/// A toy that has a simulated target as well, whose code is nothing that runs.
ToyOptions toyWithTarget();

/// The bytes of the toy's code of the host.
std::vector<uint8_t> toyHostCode();

/// The bytes of the file.
std::vector<uint8_t> makeToyArtifact(const ToyOptions &options = {});

/// Those of a model that says nearly the same: of every `stride`-th token what the toy
/// says of the next one; 0: of none.
std::vector<uint8_t> makeOtherToy(ToyOptions options, uint32_t stride);

/// Sets both checksums of the header to what the bytes give.
void repairHeader(std::vector<uint8_t> &bytes);

/// What the toy model says: a plain restatement of ToyKernels.c.
class ToyReference {
public:
  ToyReference();
  /// Takes one token; returns the row of logits.
  std::vector<float> step(int32_t token);
  std::vector<float> feed(const std::vector<int32_t> &tokens); // all rows
private:
  float sums[kToyChannels] = {};
};

/// The tokenizer of the toy model: ids 0 to 255 are the bytes, then merges.
artifact::TokenizerT makeToyTokenizer();
/// Gives a tokenizer a chat template, and the text of a token that templates name.
void addChatTemplate(artifact::TokenizerT &table, std::string name,
                     std::string source);
void addNamedToken(artifact::TokenizerT &table, std::string name,
                   std::string content);
/// A step that makes each match of `pattern` a piece, and what lies between.
std::unique_ptr<artifact::PieceStepT> makeToySplit(const char *pattern);
constexpr int32_t kToyEnd = 269;   // "<|end|>", special, ends a sequence
constexpr int32_t kToyPlain = 270; // "word", not special, single word

/// The token of the largest of a row of logits, the first of several.
int32_t likeliest(const std::vector<float> &logits);

/// The token that the toy draws by a noise of its own, in place of a sampler's.
int32_t drawnByToy(const std::vector<float> &logits, float scale, float amount,
                   uint32_t key, uint32_t counter);

/// A file that is removed at the end of the test.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::vector<uint8_t> &bytes);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  const std::string &path() const { return name; }
  /// Replaces what stands at `offset`, in place: fast enough for loops over
  /// bytes.
  void patch(uint64_t offset, const void *bytes, size_t size);
  void resize(uint64_t size);

private:
  std::string name;
  int descriptor;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_TOY_TOYARTIFACT_H
