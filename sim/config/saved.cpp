#include "sim/config/keys.hpp"

namespace syncline::config {

void describe(Fields& fields, Saved& saved) {
    fields.section(
        {"saved", "Memory that the framework keeps beyond the minimum: `{gathered: true, logits: 12 B}`."},
        [&](Fields& inner) {
            inner.flag(
                {"gathered",
                 "Gathered inputs kept until the backward pass with `sequence`, instead of a second all-gather."},
                saved.gathered);
            inner.flag({"gate",
                        "Activation function's results kept in gated layers, as by kernels that compute it apart from "
                        "the product. Default: with `elementwise: separate`."},
                       saved.gate);
            inner.flag({"gradients",
                        "Gradient buffers kept between iterations; `false`: only from the backward pass to the "
                        "optimizer's step (PyTorch's `zero_grad`)."},
                       saved.gradients);
            inner.quantity({"logits",
                            "Bytes per logit while the loss of a language model is computed: `12 B` with PyTorch's "
                            "cross_entropy, in 8 chunks `1.75 B`. Default: the size of an activation, and 4 B."},
                           saved.logit_bytes, Dimension::bytes, {.least = 0.01, .most = 64});
        });
}

}  // namespace syncline::config
