//===- Handles.h - What the opaque types of effc.h are --------------------===//
#ifndef EFFC_RUNTIME_SRC_CAPI_HANDLES_H
#define EFFC_RUNTIME_SRC_CAPI_HANDLES_H

#include "runtime/src/Device.h"
#include "runtime/src/Engine.h"
#include "runtime/src/Model.h"
#include "runtime/src/StopText.h"
#include "runtime/src/tokenizer/Tokenizer.h"

#include <memory>

// Handles share what they are made from, so that they may be freed in any
// order.

struct effc_model {
  std::shared_ptr<const effc::rt::Model> model;
};

struct effc_device {
  std::shared_ptr<effc::rt::Device> device;
};

struct effc_engine {
  std::shared_ptr<effc::rt::Engine> engine;
};

struct effc_stop {
  effc::rt::StopText stop;
};

struct effc_detokenizer {
  std::shared_ptr<const effc::rt::Model> model;
  effc::rt::DecodeStream stream; // of the model's tokenizer
};

#endif // EFFC_RUNTIME_SRC_CAPI_HANDLES_H
