#include "test/unit/runtime/cuda/CudaToy.h"

using namespace effc;
using namespace effc::test;

ToyOptions effc::test::cudaToy(Change change) {
  auto text = [](std::string bytes) {
    return std::vector<uint8_t>(bytes.begin(), bytes.end());
  };
  ToyOptions options;
  options.programRoom = 16384;
  options.code = {{artifact::SegmentKind::Cubin, "sm_80", text("module 80")},
                  {artifact::SegmentKind::Cubin, "sm_90a", text(kHopperModule)},
                  {artifact::SegmentKind::Ptx, "compute_80", text("text 80")}};
  options.changeProgram = [change](artifact::ProgramT &program) {
    artifact::TargetPlanT &sm80 = addToyTarget(program, "sm_80", 3);
    for (auto &kernel : sm80.kernels) {
      kernel->code.push_back(
          std::make_unique<artifact::KernelCodeT>(*kernel->code[0]));
      kernel->code[1]->segment = 5;
    }
    artifact::TargetPlanT &sm90 = addToyTarget(program, "sm_90a", 4);
    sm90.kernels[1]->threads = 128;
    if (change) {
      change(program);
      stateExtents(program);
    }
  };
  return options;
}

Model effc::test::loadToy(Change change) {
  TemporaryFile file(makeToyArtifact(cudaToy(std::move(change))));
  return Model(file.path());
}

std::string effc::test::engineMessage(effc_status_code_t code, Change change) {
  Model model = loadToy(std::move(change));
  return messageOf([&] { Engine engine(model, Device::cuda()); }, code);
}
