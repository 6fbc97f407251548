#include "sim/config/keys.hpp"

#include "sim/collective/algorithm.hpp"
#include "sim/config/platform_parts.hpp"

namespace syncline::config {

namespace {

constexpr double largest_element_size = 16;

void describe_rate(Fields& fields, Compression& compression) {
    fields.quantity({"bandwidth",
                     "Rate at which encoding and decoding read and write memory: `500 GBps`. Default: the device's "
                     "`memory_bandwidth`."},
                    compression.codec_Bps, Dimension::bandwidth, bandwidths);
}

}  // namespace

void describe(Fields& fields, Precision& precision) {
    int word = 0;
    bool sizes = false;
    fields.choice_or_section(
        {"precision",
         "Element sizes: `uniform` (the workload's `element_size`), `mixed` (2 B, master weights 4 B), `autocast` "
         "(activations 2 B, rest 4 B), or a mapping: `{weights: 4 B, gradients: 2 B}`."},
        word, {"uniform", "mixed", "autocast"}, [&](Fields& inner) {
            sizes = true;
            constexpr QuantityRange range{.most = largest_element_size};
            constexpr QuantityRange range_or_none{.word = "none", .most = largest_element_size};
            inner.quantity({"weights", "Size of a weight. Default: the workload's `element_size`."}, precision.weights,
                           Dimension::bytes, range);
            inner.quantity({"gradients", "Size of a gradient. Default: the workload's `element_size`."},
                           precision.gradients, Dimension::bytes, range);
            inner.quantity(
                {"master",
                 "Element size of master weights and of optimizer state; `none`: no master copy. Default: `4 "
                 "B` if weights are smaller, else no copy."},
                precision.master, Dimension::bytes, range_or_none);
            int products = 0;
            inner.choice({"products",
                          "Number format of GEMMs with `compute: tables`: that of activations (`uniform`), `fp32`, "
                          "`tf32`, `bf16`, `fp16`; in weight GEMMs of transformers also `fp8`, `mxfp8`, `nvfp4`."},
                         products, {"uniform", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "bf16", "fp16"});
            constexpr std::optional<Factors> meanings[] = {std::nullopt,  Factors::fp8,  Factors::mxfp8, Factors::nvfp4,
                                                           Factors::fp32, Factors::tf32, Factors::half,  Factors::half};
            precision.products = meanings[products];
            inner.quantity({"accumulation",
                            "Element size of a separate buffer in which microbatch gradients are accumulated: `4 B`. "
                            "Exchanges carry elements of the size of `gradients`."},
                           precision.accumulation, Dimension::bytes, range_or_none);
            inner.quantity({"moments",
                            "Size of each moment of the optimizer, such as `2 B`. Default: that of the master weights, "
                            "or of the weights."},
                           precision.moments, Dimension::bytes, range);
            inner.quantity({"activations", "Size of an activation. Default: the workload's `element_size`."},
                           precision.activations, Dimension::bytes, range);
        });
    if (fields.given("precision") && !sizes) precision = {};
    if (word == 1) precision = Precision::mixed();
    if (word == 2) precision = Precision::automatic();
}

void describe(Fields& fields, Compression& compression) {
    using Kind = Compression::Kind;
    int word = 0;
    fields.choice_or_section(
        {"compression",
         "Gradient compression in an all-reduce: `none`, a cast to 2 B (`fp16`: Horovod), or a method with its keys: "
         "`{top_k: {ratio: 1 %}}`. `fusion` counts compressed bytes."},
        word, {"none", "fp16"}, [&](Fields& inner) {
            inner.section({"fp16", "Cast to 2 B, as the word `fp16`."}, [&](Fields& own) {
                compression.kind = Kind::fp16;
                describe_rate(own, compression);
            });
            inner.section(
                {"top_k",
                 "Largest values of each layer with their indices, in an allgather (Lin et al., Renggli et al.)."},
                [&](Fields& own) {
                    compression.kind = Kind::top_k;
                    bool percent = false;
                    own.number_or_percent({"ratio", "Part of a layer's values that are sent: `1 %`.", true},
                                          compression.ratio, percent, 1e-9, 100);
                    if (percent) compression.ratio /= 100;
                    if (compression.ratio > 1) own.reject("ratio", "'ratio' is above 1", "write `1 %`, or 0.01");
                    own.quantity({"index", "Size of an index."}, compression.index_bytes, Dimension::bytes,
                                 {.word = "none", .most = largest_element_size});
                    own.one_of({"algorithm", "Algorithm of the allgather."}, compression.allgather,
                               algorithm_names("allgather"));
                    describe_rate(own, compression);
                });
            inner.section(
                {"powersgd", "Factors of each matrix, in two all-reduces (Vogels et al.)."}, [&](Fields& own) {
                    compression.kind = Kind::powersgd;
                    own.integer({"rank", "Number of columns of the factors.", true}, compression.rank, 1, 1 << 20);
                    describe_rate(own, compression);
                });
            int methods = 0;
            for (const char* key : {"fp16", "top_k", "powersgd"}) {
                if (!inner.given(key)) continue;
                if (++methods > 1) inner.reject(key, "methods of compression exclude each other", "keep one of them");
            }
            if (inner.sound() && methods == 0)
                inner.reject("top_k", "no method of compression is given", "write for example `{top_k: {ratio: 1 %}}`");
        });
    if (word == 1) compression.kind = Kind::fp16;
}

}  // namespace syncline::config
