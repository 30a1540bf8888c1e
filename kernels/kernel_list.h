// The kernels that a decoder of given sizes and formats needs: the specs of a token's steps, and each kernel once.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/argmax.h"
#include "kernels/attention.h"
#include "kernels/embedding.h"
#include "kernels/gemv.h"
#include "kernels/kv_scatter.h"
#include "models/model_config.h"

namespace warpchat {

struct LayerFormats {
  TensorType q, k, v, output, gate, up, down;
  bool q_bias = false, k_bias = false, v_bias = false, qk_norm = false;
};

struct DecoderFormats {
  TensorType token_embd, output;
  std::vector<LayerFormats> layers;
};

DecoderFormats formats_of(const ModelTensors& tensors);

// The steps of engine/steps.h as specs, for passes of up to `columns` columns.
struct LayerSpecs {
  GemvSpec q, k, v;  // rmsnorm prologue; bias where the model has one
  GemvSpec output;   // residual
  GemvSpec gate_up;  // rmsnorm prologue, swiglu
  GemvSpec down;     // residual
};
struct DecoderSpecs {
  EmbeddingSpec embedding;
  KvScatterSpec kv_scatter;  // of every layer, as is attention
  AttentionSpec attention;
  std::vector<LayerSpecs> layers;
  GemvSpec logits;  // rmsnorm prologue
};

// context: positions of each KV cache. Columns 1 to 8.
DecoderSpecs decoder_specs(const ModelConfig& config, const DecoderFormats& formats, uint32_t context,
                           uint32_t columns);  // formats: at least one layer

// Every kernel of the specs once.
std::vector<ptx::Kernel> decoder_kernels(const DecoderSpecs& specs, ptx::Target target);

}  // namespace warpchat
