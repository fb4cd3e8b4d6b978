#include "frontend/families/Family.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/BailingHybrid.h"
#include "frontend/families/BailingMoe.h"
#include "frontend/families/Bamba.h"
#include "frontend/families/Bloom.h"
#include "frontend/families/Cheems.h"
#include "frontend/families/Cohere.h"
#include "frontend/families/DeepSeek.h"
#include "frontend/families/Doge.h"
#include "frontend/families/ExplicitModel.h"
#include "frontend/families/FalconH1.h"
#include "frontend/families/FlashComba.h"
#include "frontend/families/FlashDelta.h"
#include "frontend/families/FlashDeltaProduct.h"
#include "frontend/families/FlashGsa.h"
#include "frontend/families/FlashHgrn.h"
#include "frontend/families/FlashLightNet.h"
#include "frontend/families/FlashLinear.h"
#include "frontend/families/FlashLinearAttention.h"
#include "frontend/families/FlashMoba.h"
#include "frontend/families/FlashNsa.h"
#include "frontend/families/FlashRwkv.h"
#include "frontend/families/FlashSamba.h"
#include "frontend/families/FlashTransformer.h"
#include "frontend/families/ForgettingTransformer.h"
#include "frontend/families/Gemma.h"
#include "frontend/families/Gemma4.h"
#include "frontend/families/Gpt.h"
#include "frontend/families/GptOss.h"
#include "frontend/families/Granite.h"
#include "frontend/families/Jamba.h"
#include "frontend/families/KimiLinear.h"
#include "frontend/families/LaraMini.h"
#include "frontend/families/Lfm2.h"
#include "frontend/families/Lfm3.h"
#include "frontend/families/LinearTransformer.h"
#include "frontend/families/Llama.h"
#include "frontend/families/LogLinearMamba2.h"
#include "frontend/families/Mamba.h"
#include "frontend/families/Mamba2.h"
#include "frontend/families/Mamba2Config.h"
#include "frontend/families/Mamba3.h"
#include "frontend/families/MiniMaxM2.h"
#include "frontend/families/MiniMaxText.h"
#include "frontend/families/NemotronH.h"
#include "frontend/families/Olmo.h"
#include "frontend/families/OlmoHybrid.h"
#include "frontend/families/Opt.h"
#include "frontend/families/Plamo2.h"
#include "frontend/families/Plamo3.h"
#include "frontend/families/PublicRwkv.h"
#include "frontend/families/Qwen3Next.h"
#include "frontend/families/QwenMoe.h"
#include "frontend/families/QwenRwkv.h"
#include "frontend/families/RecurrentGemma.h"
#include "frontend/families/Rodimus.h"
#include "frontend/families/StructuredMixer.h"
#include "frontend/families/TransNormer.h"
#include "frontend/families/Xlstm.h"
#include "frontend/families/Yoco.h"
#include "frontend/families/Zamba.h"
#include "frontend/families/Zamba2.h"
#include "frontend/families/Zaya.h"

using namespace effc::frontend;

static int64_t readVocabularySize(ConfigReader &config, int64_t most) {
  return config.requireInteger("vocab_size", 1, most);
}

llvm::ArrayRef<Family> effc::frontend::getFamilies() {
  static const Family families[] = {
      {"mamba2", "Mamba2ForCausalLM", "", readVocabularySize, importMamba2},
      {"llama", "LlamaForCausalLM", "", readVocabularySize, importLlama},
      {"mistral", "MistralForCausalLM", "", readVocabularySize, importMistral},
      {"qwen2", "Qwen2ForCausalLM", "", readVocabularySize, importQwen2},
      {"qwen3", "Qwen3ForCausalLM", "", readVocabularySize, importQwen3},
      {"phi3", "Phi3ForCausalLM", "", readVocabularySize, importPhi3,
       /*hasOwnCode=*/true},
      {"gemma2", "Gemma2ForCausalLM", "", readVocabularySize, importGemma2},
      {"gemma3_text", "Gemma3ForCausalLM", "", readVocabularySize,
       importGemma3Text},
      {"gemma3", "Gemma3ForConditionalGeneration", "", readGemma3Vocabulary,
       importGemma3},
      {"gemma4_text", "Gemma4ForCausalLM", "", readVocabularySize,
       importGemma4Text},
      {"gemma4", "Gemma4ForConditionalGeneration", "", readQwen35Vocabulary,
       importGemma4},
      {"gla", "GLAForCausalLM", "", readVocabularySize, importFlashGla},
      {"retnet", "RetNetForCausalLM", "", readVocabularySize,
       importFlashRetNet},
      {"hgrn2", "HGRN2ForCausalLM", "", readVocabularySize, importFlashHgrn2},
      {"delta_net", "DeltaNetForCausalLM", "", readVocabularySize,
       importFlashDeltaNet},
      {"gated_deltanet", "GatedDeltaNetForCausalLM", "", readVocabularySize,
       importFlashGatedDeltaNet},
      {"gated_deltaproduct", "GatedDeltaProductForCausalLM", "",
       readVocabularySize, importFlashGatedDeltaProduct},
      {"forgetting_transformer", "ForgettingTransformerForCausalLM", "",
       readVocabularySize, importForgettingTransformer},
      {"kda", "KDAForCausalLM", "", readVocabularySize, importFlashKda},
      {"comba", "CombaForCausalLM", "", readVocabularySize, importFlashComba},
      {"gsa", "GSAForCausalLM", "", readVocabularySize, importFlashGsa},
      {"lightnet", "LightNetForCausalLM", "", readVocabularySize,
       importFlashLightNet},
      {"transformer", "TransformerForCausalLM", "", readVocabularySize,
       importFlashTransformer},
      {"moba", "MoBAForCausalLM", "", readVocabularySize, importFlashMoba},
      {"nsa", "NSAForCausalLM", "", readVocabularySize, importFlashNsa},
      {"kimi_linear", "KimiLinearForCausalLM", "", readVocabularySize,
       importKimiLinear, /*hasOwnCode=*/true},
      {"deepseek_v2", "DeepseekV2ForCausalLM", "", readVocabularySize,
       importDeepSeekV2, /*hasOwnCode=*/true},
      {"deepseek_v3", "DeepseekV3ForCausalLM", "", readVocabularySize,
       importDeepSeekV3, /*hasOwnCode=*/true},
      {"glm4_moe_lite", "Glm4MoeLiteForCausalLM", "", readVocabularySize,
       importGlm4MoeLite},
      {"bailing_hybrid",
       "BailingHybridForCausalLM BailingMoeV3ForCausalLM "
       "BailingMoeV2_5ForCausalLM",
       "", readVocabularySize, importBailingHybrid, /*hasOwnCode=*/true},
      {"bailing_moe", "BailingMoeV2ForCausalLM", "", readVocabularySize,
       importBailingMoe, /*hasOwnCode=*/true},
      {"bailing_moe_linear",
       "BailingMoeLinearV2ForCausalLM BailingMoeLinearForCausalLM "
       "BailingMoeV2_5ForCausalLM",
       "", readVocabularySize, importBailingMoeLinear, /*hasOwnCode=*/true},
      {"sarvam_moe", "SarvamMoEForCausalLM Glm4MoeForCausalLM", "",
       readVocabularySize, importSarvamMoe, /*hasOwnCode=*/true},
      {"rwkv6", "RWKV6ForCausalLM", "", readVocabularySize, importFlashRwkv6},
      {"rwkv7", "RWKV7ForCausalLM", "", readVocabularySize, importFlashRwkv7,
       /*hasOwnCode=*/true},
      {"rwkv6qwen2", "RWKV6Qwen2ForCausalLM", "", readVocabularySize,
       importRwkv6Qwen2, /*hasOwnCode=*/true},
      {"rwkv_hybrid", "RwkvHybridForCausalLM", "", readVocabularySize,
       importRwkvHybrid, /*hasOwnCode=*/true},
      {"mamba", "MambaForCausalLM", "", readVocabularySize, importMamba},
      {"log_linear_mamba2", "LogLinearMamba2ForCausalLM", "",
       readVocabularySize, importLogLinearMamba2},
      {"mamba3", "Mamba3ForCausalLM", "", readVocabularySize, importMamba3},
      {"falcon_mamba", "FalconMambaForCausalLM", "", readVocabularySize,
       importFalconMamba},
      {"rwkv", "RwkvForCausalLM", "", readVocabularySize, importPublicRwkv},
      {"recurrent_gemma", "RecurrentGemmaForCausalLM", "", readVocabularySize,
       importRecurrentGemma},
      {"xlstm", "xLSTMForCausalLM", "", readVocabularySize, importXlstm},
      {"jamba", "JambaForCausalLM", "", readVocabularySize, importJamba,
       /*hasOwnCode=*/true},
      {"minimax", "MiniMaxForCausalLM", "", readVocabularySize, importMiniMax},
      {"minimax_text_01", "MiniMaxText01ForCausalLM", "", readVocabularySize,
       importMiniMaxText01, /*hasOwnCode=*/true},
      {"minimax_m1", "MiniMaxM1ForCausalLM", "", readVocabularySize,
       importMiniMaxText01, /*hasOwnCode=*/true},
      {"minimax_m2", "MiniMaxM2ForCausalLM", "", readVocabularySize,
       importMiniMaxM2, /*hasOwnCode=*/true},
      {"gpt2", "GPT2LMHeadModel", "", readVocabularySize, importGpt2},
      {"gpt_neo", "GPTNeoForCausalLM", "", readVocabularySize, importGptNeo},
      {"gpt_neox", "GPTNeoXForCausalLM", "", readVocabularySize, importGptNeoX},
      {"opt", "OPTForCausalLM", "", readVocabularySize, importOpt},
      {"bloom", "BloomForCausalLM", "", readVocabularySize, importBloom},
      {"qwen2_moe", "Qwen2MoeForCausalLM", "", readVocabularySize,
       importQwen2Moe},
      {"qwen3_moe", "Qwen3MoeForCausalLM", "", readVocabularySize,
       importQwen3Moe},
      {"qwen3_next", "Qwen3NextForCausalLM", "", readVocabularySize,
       importQwen3Next},
      {"qwen3_5", "Qwen3_5ForConditionalGeneration", "", readQwen35Vocabulary,
       importQwen35},
      {"qwen3_5_text", "Qwen3_5ForCausalLM", "", readVocabularySize,
       importQwen35Text},
      {"qwen3_5_moe", "Qwen3_5MoeForConditionalGeneration", "",
       readQwen35Vocabulary, importQwen35Moe},
      {"qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", "", readVocabularySize,
       importQwen35MoeText},
      {"lfm2", "Lfm2ForCausalLM", "", readVocabularySize, importLfm2},
      {"lfm2_moe", "Lfm2MoeForCausalLM", "", readVocabularySize, importLfm2Moe},
      {"lfm3", "Lfm3ForCausalLM", "", readVocabularySize, importLfm3},
      {"lara_mini", "LaraMiniForCausalLM", "", readVocabularySize,
       importLaraMini},
      {"granitemoehybrid", "GraniteMoeHybridForCausalLM", "",
       readVocabularySize, importGraniteHybrid},
      {"bamba", "BambaForCausalLM", "", readVocabularySize, importBamba},
      {"zamba", "ZambaForCausalLM", "", readVocabularySize, importZamba},
      {"zamba2", "Zamba2ForCausalLM", "", readVocabularySize, importZamba2},
      {"zaya", "ZayaForCausalLM", "", readVocabularySize, importZaya},
      {"plamo2", "Plamo2ForCausalLM PLaMo2ForCausalLM", "", readVocabularySize,
       importPlamo2, /*hasOwnCode=*/true},
      {"plamo3", "Plamo3ForCausalLM PLaMo3ForCausalLM", "", readVocabularySize,
       importPlamo3, /*hasOwnCode=*/true},
      {"falcon_h1", "FalconH1ForCausalLM", "", readVocabularySize,
       importFalconH1},
      {"nemotron_h", "NemotronHForCausalLM", "", readVocabularySize,
       importNemotronH, /*hasOwnCode=*/true},
      {"NemotronH_Nano_VL_V2", "NemotronH_Nano_VL_V2", "",
       readNemotronSeeingVocabulary, importNemotronSeeing, /*hasOwnCode=*/true},
      {"gpt_oss", "GptOssForCausalLM", "", readVocabularySize, importGptOss},
      {"granite", "GraniteForCausalLM", "", readVocabularySize, importGranite},
      {"ministral", "MinistralForCausalLM", "", readVocabularySize,
       importMinistral},
      {"ministral3", "Ministral3ForCausalLM", "", readVocabularySize,
       importMinistral3},
      {"mistral3", "Mistral3ForConditionalGeneration", "", readQwen35Vocabulary,
       importMistral3},
      {"granite_swa", "GraniteSWAForCausalLM", "", readVocabularySize,
       importGraniteSwa},
      {"mixtral", "MixtralForCausalLM", "", readVocabularySize, importMixtral},
      {"smollm3", "SmolLM3ForCausalLM", "", readVocabularySize, importSmolLm3},
      {"olmo2", "Olmo2ForCausalLM", "", readVocabularySize, importOlmo2},
      {"olmo3", "Olmo3ForCausalLM", "", readVocabularySize, importOlmo3},
      {"exaone4", "Exaone4ForCausalLM", "", readVocabularySize, importExaone4},
      {"olmo_hybrid", "OlmoHybridForCausalLM", "", readVocabularySize,
       importOlmoHybrid},
      {"cohere2", "Cohere2ForCausalLM", "", readVocabularySize, importCohere2},
      {"doge", "DogeForCausalLM", "", readVocabularySize, importDoge,
       /*hasOwnCode=*/true},
      {"hgrn", "HGRNForCausalLM", "", readVocabularySize, importFlashHgrn},
      {"linear_attn", "LinearAttentionForCausalLM", "", readVocabularySize,
       importFlashLinearAttention},
      {"linear_transformer", "LinearTransformerForCausalLM", "",
       readVocabularySize, importLinearTransformer},
      {"decay_linear_transformer", "DecayLinearTransformerForCausalLM", "",
       readVocabularySize, importDecayLinearTransformer},
      {"samba", "SambaForCausalLM", "", readVocabularySize, importFlashSamba},
      {"yoco", "YOCOForCausalLM", "", readVocabularySize, importYoco},
      {"rodimus", "RodimusForCausalLM", "", readVocabularySize, importRodimus,
       /*hasOwnCode=*/true},
      {"transnormer", "TransnormerForCausalLM", "", readVocabularySize,
       importTransNormer, /*hasOwnCode=*/true},
      {"cheems", "CheemsForCausalLM", "", readVocabularySize, importCheems,
       /*hasOwnCode=*/true},
      {"srm", "MLPMixer DualMLPMixer", "", readVocabularySize,
       importStructuredMixer},
      {"masked_mixer", "LanguageMixer", "", readMaskedMixerVocabulary,
       importMaskedMixer},
      {"effc", "EffcForCausalLM", "", readVocabularySize, importExplicit},
      {"", "", "ssm_cfg", readMambaSsmVocabulary, importMambaSsm},
  };
  return families;
}

static std::string listModelTypes() {
  std::string list;
  for (const Family &family : getFamilies())
    if (!family.modelType.empty())
      list += (list.empty() ? "" : ", ") + family.modelType.str();
  return list;
}

/// The layout that a key tells, of those whose config.json names no family.
static const Family *findBySignature(ConfigReader &config) {
  for (const Family &family : getFamilies())
    if (!family.signature.empty() && config.get(family.signature))
      return &family;
  config.report("lacks 'model_type'");
  return nullptr;
}

const Family *effc::frontend::findFamily(ConfigReader &config) {
  if (!config.get("model_type"))
    return findBySignature(config);
  const std::string *modelType = config.getString("model_type");
  if (!modelType)
    return nullptr;
  const Family *family = llvm::find_if(getFamilies(), [&](const Family &f) {
    return !f.modelType.empty() && f.modelType == *modelType;
  });
  if (family == getFamilies().end()) {
    for (const RefusedModel &refused : getRefusedModels())
      if (refused.modelType == *modelType) {
        config.report("model_type " + quote(*modelType) +
                      " is not supported: " + refused.reason.str());
        return nullptr;
      }
    config.report("model_type " + quote(*modelType) +
                  " is not supported; supported: " + listModelTypes());
    return nullptr;
  }
  const JsonValue *architectures = config.get("architectures");
  if (!architectures || architectures->isNull())
    return family;
  const JsonArray *names = architectures->getArray();
  const std::string *name =
      names && names->size() == 1 ? names->front().getString() : nullptr;
  if (!name) {
    config.reportMismatch("architectures", "an array of one name",
                          *architectures);
    return nullptr;
  }
  llvm::SmallVector<llvm::StringRef> accepted;
  family->architecture.split(accepted, ' ');
  if (!llvm::is_contained(accepted, *name)) {
    config.report(
        "architecture " + quote(*name) +
        " is not supported; supported: " + family->architecture.str());
    return nullptr;
  }
  return family;
}
