// Vectors whose elements are wider than their length field may lie at odd
// places that the flatbuffer verifier lets pass. Only a changed file has them;
// reading them would be undefined.

#include "runtime/src/Model.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;

/// Moves the vector that starts at `vector` four bytes on, over its own start,
/// in the toy's bytes: what pointed at it points into it.
static std::string refusalWithShifted(const void *vector,
                                      const std::vector<uint8_t> &good) {
  std::vector<uint8_t> bytes = good;
  auto at =
      static_cast<size_t>(static_cast<const uint8_t *>(vector) - good.data());
  // Every offset in the program that refers to it is moved by four, and the
  // length is repeated there.
  for (size_t i = FileHeader::kBytes; i + 4 <= at; i += 4) {
    uint32_t offset;
    std::memcpy(&offset, &bytes[i], 4);
    if (i + offset == at) {
      offset += 4;
      std::memcpy(&bytes[i], &offset, 4);
    }
  }
  uint32_t length = 1;
  std::memcpy(&bytes[at + 4], &length, 4);
  repairHeader(bytes);
  TemporaryFile file(bytes);
  Result<std::shared_ptr<const Model>> model = Model::load(file.path());
  return model ? "" : model.error().message;
}

TEST(Misaligned, ShapesAreRefused) {
  const std::vector<uint8_t> good = makeToyArtifact();
  const artifact::Program *program =
      artifact::GetProgram(good.data() + FileHeader::kBytes);
  auto refusal = [&](const void *vector) {
    return refusalWithShifted(vector, good);
  };
  EXPECT_NE(refusal(program->weights()->Get(0)->shape())
                .find("the shape of weight 'embeddings' is not aligned"),
            std::string::npos);
  EXPECT_NE(refusal(program->states()->Get(1)->shape())
                .find("the shape of state 'tally' is not aligned"),
            std::string::npos);
}
