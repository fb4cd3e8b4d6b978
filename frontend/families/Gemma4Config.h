// What a configuration of Gemma 4's text says.
#ifndef EFFC_FRONTEND_FAMILIES_GEMMA4CONFIG_H
#define EFFC_FRONTEND_FAMILIES_GEMMA4CONFIG_H

#include "frontend/model/Decoder.h"

namespace effc::frontend {

struct Gemma4Config {
  DecoderConfig decoder;
  /// The heads of layers with windows are the decoder's; these are those of
  /// layers that see all keys.
  AttentionConfig whole;
  /// 1 for a layer with a window.
  std::vector<unsigned> slides;
  /// The first layer that reads another's keys and values; none: their number.
  int64_t firstShared = 0;
  /// Whether values of layers that see all keys are their keys.
  bool valuesAreKeys = false;
  /// Whether MLPs of layers that share keys are twice as wide.
  bool doubleWide = false;
  /// Channels of the inputs that each layer has of its own, and rows of their
  /// table; 0: there are none.
  int64_t layerInput = 0, layerVocabulary = 0;

  const AttentionConfig &attention(int64_t layer) const {
    return slides[size_t(layer)] ? decoder.attention : whole;
  }
  bool isShared(int64_t layer) const { return layer >= firstShared; }
  /// The layer whose keys and values a layer reads: the last one of its kind
  /// that has its own.
  int64_t ownerOf(int64_t layer) const;
};

/// Reads the text's keys. Problems are left in the reader.
Gemma4Config readGemma4(ConfigReader &reader, FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_GEMMA4CONFIG_H
