// A model's configuration as the fields of config.json, written from the keys of
// a GGUF file. Each field knows the key that it stands for, so that messages can
// name what the user's file has.
#ifndef EFFC_FRONTEND_GGUF_CONFIG_H
#define EFFC_FRONTEND_GGUF_CONFIG_H

#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/StoredForm.h"
#include "frontend/gguf/Architecture.h"

namespace effc::frontend {

class GgufConfig {
public:
  /// All outlive the configuration.
  GgufConfig(GgufModel &model, const GgufArchitecture &architecture)
      : model(model), architecture(architecture) {}

  GgufModel &getModel() { return model; }
  GgufMetadata &getKeys() { return model.getMetadata(); }
  /// "llama.block_count" of "block_count".
  std::string keyOf(llvm::StringRef key) const {
    return architecture.name.str() + "." + key.str();
  }
  bool has(llvm::StringRef key) { return getKeys().has(keyOf(key)); }

  /// Writes a field and says which key or tensor it stands for; later ones of the
  /// same name hide it.
  void set(llvm::StringRef field, JsonValue value, llvm::StringRef key = "");
  void setInteger(llvm::StringRef field, int64_t value,
                  llvm::StringRef key = "");
  void setNumber(llvm::StringRef field, double value, llvm::StringRef key = "");
  void setBoolean(llvm::StringRef field, bool value, llvm::StringRef key = "");
  void setText(llvm::StringRef field, llvm::StringRef value,
               llvm::StringRef key = "");
  void setTexts(llvm::StringRef field, llvm::ArrayRef<llvm::StringRef> values,
                llvm::StringRef key = "");
  void setIntegers(llvm::StringRef field, llvm::ArrayRef<int64_t> values,
                   llvm::StringRef key = "");
  /// Writes a field that the file has no key for, and says in a remark that this is
  /// what models have who do not say otherwise.
  void assume(llvm::StringRef field, JsonValue value, llvm::StringRef key = "");
  /// Has a field be of another name, as few families call it.
  void rename(llvm::StringRef field, llvm::StringRef name);
  /// An object whose members were written to `inner`.
  void setObject(llvm::StringRef field, GgufConfig &&inner);
  /// A configuration of the same file without fields.
  GgufConfig startInner() { return {model, architecture}; }

  /// What differs in the numbers.
  StoredForm &getForm() { return form; }

  /// Writes the field of a row, where the file has the key.
  void copy(const GgufKeyRow &row);

  // What several fields follow from, read once and checked; 1 where there is a
  // problem, which the keys have.
  /// Layers of the model, without those that predict further tokens.
  int64_t getLayers() const { return layers; }
  int64_t getFurtherLayers() const { return furtherLayers; }
  int64_t getVocabulary() const { return vocabulary; }
  int64_t getWidth() const { return width; }
  /// Of queries, and of keys, each layer's where they differ.
  int64_t getHeads() const { return heads; }
  llvm::ArrayRef<int64_t> getKeyHeads() const { return keyHeads; }
  /// Channels of a query, or of a head of a recurrence.
  int64_t getHeadWidth() const { return headWidth; }

  /// The number for each layer of the model, where the file has the key; one
  /// number stands for all. Those of further layers are left out.
  std::optional<std::vector<int64_t>>
  getForEachLayer(llvm::StringRef key, int64_t least, int64_t most);

  /// The numbers of a tensor of floats, which is then no weight of the model; none
  /// where there is no such tensor, or with a problem.
  std::optional<std::vector<double>> takeNumbers(llvm::StringRef tensor);
  /// Whether takeNumbers() was asked for the tensor.
  bool isTaken(llvm::StringRef tensor) const { return taken.contains(tensor); }

  /// Writes all fields: those of every architecture, those of its rows, and what
  /// it describes. Problems are left in the keys.
  void describe();

  /// The object, and the key or tensor of each field by the field's name.
  JsonValue take() &&;
  const llvm::StringMap<std::string> &getOrigins() const { return origins; }
  llvm::ArrayRef<std::string> getRemarks() const { return remarks; }

private:
  void readSizes();
  void describeTokens();
  void describeSampling();

  GgufModel &model;
  const GgufArchitecture &architecture;
  std::vector<JsonMember> members;
  llvm::StringMap<std::string> origins;
  llvm::StringSet<> taken;
  std::vector<std::string> remarks;
  StoredForm form;
  int64_t layers = 1, furtherLayers = 0, vocabulary = 1, width = 1, heads = 1,
          headWidth = 1;
  std::vector<int64_t> keyHeads;
};

/// What an architecture knows of positions beside the keys.
struct GgufRotary {
  /// Whether yarn's ramp begins and ends at whole pairs.
  bool truncates = true;
  /// Channels of which the file says how many turn; 0: those of a head.
  int64_t channels = 0;
  /// Whether scaling stands beside theta, in an object that says each kind of
  /// scaling, none too: where a family has a scaling of its own, or several objects.
  bool isObject = false;
  /// Writes what the architecture's files say of yarn besides; may be null.
  void (*describeYarn)(GgufConfig &config, GgufConfig &scaling) = nullptr;
};

/// Writes `rope_theta`, `rope_scaling` and `partial_rotary_factor` from the keys
/// under "rope." and the tensors of factors.
void describeRotary(GgufConfig &config, const GgufRotary &how = {});

/// Writes the numbers of tensor 'rope_freqs.weight', divisors of each pair's
/// frequency; false where the file has none.
bool describeRotaryFactors(GgufConfig &config, GgufConfig &scaling);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_CONFIG_H
