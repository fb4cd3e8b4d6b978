// What a family is shown of a GGUF file that a test builds.
#ifndef EFFC_TEST_UNIT_FRONTEND_GGUF_ADAPTEDFILE_H
#define EFFC_TEST_UNIT_FRONTEND_GGUF_ADAPTEDFILE_H

#include "frontend/gguf/Adapted.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"
#include "test/unit/frontend/gguf/GgufImage.h"

namespace effc::test {

class AdaptedFile : public testing::Test {
protected:
  using AdaptedGguf = frontend::AdaptedGguf;

  llvm::Expected<AdaptedGguf> adapt(const GgufBuilder &builder,
                                    std::vector<std::string> allowed = {}) {
    auto model =
        frontend::GgufModel::open(directory.write("m.gguf", builder.build()));
    if (!model)
      return model.takeError();
    return frontend::adaptGguf(std::move(*model), allowed);
  }
  std::string refusal(const GgufBuilder &builder,
                      std::vector<std::string> allowed = {}) {
    return outcome(adapt(builder, std::move(allowed)));
  }
  static std::vector<float> numbers(size_t count) {
    std::vector<float> list(count);
    for (size_t i = 0; i < count; ++i)
      list[i] = float(i);
    return list;
  }
  static std::vector<float> floatsOf(const AdaptedGguf &adapted,
                                     llvm::StringRef tensor) {
    frontend::TensorData data =
        llvm::cantFail(adapted.checkpoint->getData(tensor));
    return frontend::decode<float>(data.type.getElement(), data.bytes);
  }
  static std::string field(const AdaptedGguf &adapted, llvm::StringRef name) {
    const frontend::JsonValue *value = adapted.config.getObject()->find(name);
    return value ? value->describe() : "none";
  }

  TemporaryDirectory directory;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_FRONTEND_GGUF_ADAPTEDFILE_H
