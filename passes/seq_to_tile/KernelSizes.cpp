// Which rule decides which size; the rules stand beside the builders.
#include "dialects/seq/OpKinds.h"
#include "passes/seq_to_tile/KernelContext.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/convolution/ShortConvolution.h"
#include "passes/seq_to_tile/builders/linear/ChunkItems.h"
#include "passes/seq_to_tile/builders/linear/StepItems.h"
#include "passes/seq_to_tile/builders/window/WindowBlocks.h"

using namespace mlir;
using namespace effc;

KernelSizes KernelSizes::of(seq::KernelOp kernel, const CallContext &call) {
  KernelSizes sizes;
  Block &body = kernel.getBody().front();
  for (Operation &op : body)
    if (seq::isDenseOp(&op)) {
      sizes.dense = denseTileOf(&op, call);
      break;
    }
  if (auto convolution =
          dyn_cast_or_null<seq::ShortConvolutionOp>(kernel.getRootOp()))
    sizes.convolutionParts = convolutionPartsOf(convolution, call);
  for (auto mixer : body.getOps<seq::MixerOpInterface>()) {
    seq::MixerClass mixerClass = mixer.getStructure().getMixerClass();
    if (mixerClass == seq::MixerClass::Window)
      sizes.window = windowBlocksOf(mixer, call);
    if (mixerClass != seq::MixerClass::Linear || !mixer.getFormAttr())
      continue;
    sizes.chunk = chunkOf(mixer, call);
    sizes.stepValues = stepValuesOf(mixer, call);
    sizes.pieces = mixer.getFormAttr().getKind() == seq::FormKind::Scan
                       ? scanPiecesOf(mixer, call)
                       : piecesOf(mixer, call);
  }
  return sizes;
}
