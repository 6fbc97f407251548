#include "sim/config/layer_keys.hpp"

#include "sim/config/counts.hpp"

namespace syncline::config {

namespace {

constexpr std::int64_t most_repeats = 10'000, most_experts = 1 << 16;
constexpr double least_capacity = 0.01, most_capacity = 1000;

void describe_norm(Fields& fields, Norm& norm) {
    fields.one_of({"norm",
                   "Normalisation of a layer's inputs or an embedding's sum: `layer` (LayerNorm), `rms` (RMSNorm), "
                   "`none`. Default: `layer` in attention, feed-forward, transformer, moe layers, else `none`."},
                  norm, {{"none", Norm::none}, {"layer", Norm::layer}, {"rms", Norm::rms}});
}

void describe_attention(Fields& fields, Attention& attention) {
    fields.integer({"heads",
                    "Number of heads of an attention or transformer layer; it must divide the width if "
                    "`head_size` is not given."},
                   attention.heads, 1, largest_extent);
    fields.integer({"kv_heads",
                    "Number of heads of keys and values, which groups of heads share (GQA; 1: MQA). It must divide "
                    "the heads. Default: `heads`."},
                   attention.kv_heads, 1, largest_extent);
    fields.integer({"head_size", "Elements of a head. Default: width / heads."}, attention.head_size, 1,
                   largest_extent);
    fields.integer({"window", "Number of tokens that a token attends to (sliding window). Default: all."},
                   attention.window, 1, largest_extent);
    fields.integer({"context",
                    "Number of tokens of another sequence from which keys and values come (cross-attention). Default: "
                    "they come from the same sequence."},
                   attention.context, 1, largest_extent);
    fields.flag({"rotary", "Rotation of queries and keys by their positions."}, attention.rotary);
    fields.integer({"query_rank",
                    "Elements of the latent vector from which queries come (multi-head latent attention). Without "
                    "it they come from the token."},
                   attention.query_rank, 1, largest_extent);
    fields.integer(
        {"kv_rank",
         "Elements of the latent vector from which keys and values come. Without it they come from the token."},
        attention.kv_rank, 1, largest_extent);
    fields.integer({"rotary_size",
                    "Rotated elements of queries and keys besides `head_size`, with a `kv_rank`; all heads share "
                    "those of the keys."},
                   attention.rotary_size, 1, largest_extent);
}

void describe_experts(Fields& fields, Experts& experts) {
    fields.integer({"experts", "Number of experts of a moe layer."}, experts.experts, 1, most_experts);
    fields.integer({"top_k", "Number of experts to which a token is sent."}, experts.top_k, 1, most_experts);
    fields.integer({"shared_experts", "Number of further experts that compute every token."}, experts.shared, 0,
                   most_experts);
    fields.integer({"shared_hidden", "Hidden units of a shared expert. Default: `hidden`."}, experts.shared_hidden, 1,
                   largest_extent);
    fields.number({"capacity",
                   "Capacity factor: rows of an expert, computed and sent even if free, relative to an even "
                   "distribution of tokens. Default: as many rows as tokens."},
                  experts.capacity, least_capacity, most_capacity);
    fields.flag({"fused_permutation",
                 "Fused kernels for experts' token permutation, one each; `false`: PyTorch's operations, as in "
                 "Megatron-Core without `--moe-permute-fusion`."},
                experts.fused_permutation);
}

}  // namespace

void visit(Fields& fields, LayerKeys& keys, const std::vector<std::string>& kinds) {
    fields.text({"name", "Name of the layer, unique in the workload.", true}, keys.name);
    fields.choice({"kind", "Kind of the layer, which determines its other keys.", true}, keys.kind, kinds);
    fields.integers({"input", "Input of a convolution or a patch embedding: [channels, height, width] of one sample."},
                    keys.input, 3, 1);
    fields.integer({"filters", "Number of filters of a convolution: the channels that it produces."}, keys.filters, 1,
                   largest_extent);
    fields.integers({"kernel", "Kernel size of a convolution: one number, or [height, width]."}, keys.kernel, 2, 1);
    fields.integers({"stride", "Stride of a convolution: one number, or [height, width]."}, keys.stride, 2, 1);
    fields.integers({"padding", "Padding of a convolution on each side: one number, or [height, width]."}, keys.padding,
                    2, 0);
    fields.integer({"groups", "Number of groups of a grouped convolution: each filter sees channels/groups channels."},
                   keys.groups, 1, largest_extent);
    fields.flag({"bias",
                 "Bias: one more parameter per filter of a convolution, or per output of another layer's matrices. "
                 "Default: `true` for attention, feed-forward and transformer layers, `false` for others."},
                keys.bias);
    fields.flag({"batch_norm", "Batch normalisation of a convolution: a scale and a shift per filter."},
                keys.batch_norm);
    fields.flag({"activation", "Activation function (ReLU) after a convolution. It takes time with `compute: tables`."},
                keys.activation);
    fields.flag({"residual", "Residual addition of an earlier layer's outputs to those of a convolution."},
                keys.residual);
    fields.flag({"joined", "Concatenation: copy of a convolution's outputs beside those of other layers."},
                keys.joined);
    fields.flag(
        {"shared_input",
         "Branch at a convolution's inputs: another layer reads them, too, and the gradients of both are added."},
        keys.shared_input);
    fields.choice({"pool", "Pooling before a convolution, whose results are its `input`."}, keys.pool,
                  {"none", "max", "average"});
    fields.integer({"pool_window", "Height and width of a window of this pooling."}, keys.pool_window, 1, 1024);
    fields.integer({"pool_stride", "Distance of these windows. Default: `pool_window`."}, keys.pool_stride, 1, 1024);
    fields.integer({"inputs", "Elements that a custom layer reads per sample, or a dense layer per position."},
                   keys.counts.inputs, 0, largest_count);
    fields.integer({"outputs", "Elements that a dense layer produces per position."}, keys.outputs, 1, largest_extent);
    fields.integer(
        {"positions",
         "Number of tokens of a sample to which a dense, attention, feed-forward, transformer, moe or "
         "embedding layer is applied. Default: the workload's `sequence`, or 1 for a dense layer if there is none."},
        keys.positions, 1, largest_extent);
    fields.integer({"width", "Elements of a token, or of a row of an embedding bag's tables."}, keys.width, 1,
                   largest_extent);
    describe_attention(fields, keys.attention);
    fields.integer(
        {"hidden",
         "Units between the matrices of a feed-forward or transformer layer, or of an expert of a moe layer."},
        keys.hidden, 1, largest_extent);
    fields.flag(
        {"gated", "Gated feed-forward layer (SwiGLU, GEGLU): a third matrix, whose results multiply the activation's."},
        keys.gated);
    fields.flag({"merged_gate",
                 "Joint GEMM for both factors of a gated feed-forward layer (`gate_up_proj` of Phi-3), also with "
                 "`elementwise: separate`."},
                keys.merged_gate);
    fields.flag({"dropout", "Dropout in attention, feed-forward and embedding layers, whose masks are kept in memory."},
                keys.dropout);
    fields.choice({"parallel",
                   "Parallel attention and feed-forward layer of a transformer, on the same input: after one "
                   "normalisation (`one-norm`), or one for each (`two-norms`)."},
                  keys.parallel, {"none", "one-norm", "two-norms"});
    describe_experts(fields, keys.experts);
    fields.integer({"repeat", "Number of layers of a transformer, or of repetitions of a block's layers."}, keys.repeat,
                   1, most_repeats);
    fields.integer_list({"rows", "Rows of each table of an embedding bag."}, keys.rows, 1, largest_count);
    fields.integer_list({"lookups", "Rows that a sample takes from each table of an embedding bag. Default: one."},
                        keys.lookups, 1, largest_extent);
    fields.integers({"patch", "Size of a patch of a patch embedding: one number, or [height, width]."}, keys.patch, 2,
                    1);
    fields.integer({"extra_tokens", "Number of learned tokens that a patch embedding adds to the patches."}, keys.extra,
                   0, largest_extent);
    fields.integer({"vocabulary", "Rows of an embedding's table."}, keys.vocabulary, 1, largest_extent);
    fields.flag({"learned_positions", "Learned positions of an embedding: one more row for each position."},
                keys.learned_positions);
    fields.integer({"segments", "Number of segments (parts of a text) of an embedding, each with one more row."},
                   keys.segments, 0, largest_extent);
    describe_norm(fields, keys.norm);
    fields.flag({"gathered", "All-gather of a dense layer's outputs among tensor-parallel ranks."}, keys.gathered);
    fields.flag(
        {"tied", "Weight tying: a dense layer shares the weights of an earlier embedding, where they are counted."},
        keys.tied);
    fields.integer(
        {"extra_parameters",
         "Further parameters of an attention, feed-forward, transformer, moe or embedding layer: biases of some "
         "matrices, norms of heads or of results. They take no time in its kernels."},
        keys.extra_parameters, 0, largest_count);
    fields.integer({"parameters", "Number of parameters of a custom layer, which are exchanged."},
                   keys.counts.parameters, 0, largest_count);
    fields.integer({"macs", "Multiply-accumulates of a custom layer's forward pass, per sample."}, keys.counts.macs, 0,
                   largest_macs);
    fields.integer({"activations", "Elements that a custom layer produces per sample."}, keys.counts.activations, 0,
                   largest_count);
}

}  // namespace syncline::config
