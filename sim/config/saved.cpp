#include "sim/config/saved.hpp"

namespace syncline::config {

void describe(Fields& fields, Saved& saved) {
    fields.section(
        {"saved", "What the framework keeps in memory beyond the least: `{gathered: true, logits: 12 B}`."},
        [&](Fields& inner) {
            inner.flag({"gathered",
                        "With `sequence`: inputs stay as they were gathered until the backward pass, in place of being "
                        "gathered once more."},
                       saved.gathered);
            bool gate = false;
            inner.flag({"gate",
                        "Gated layers also keep the result of the activation function, as kernels do that do not "
                        "compute it together with the product. Default: with `elementwise: separate`."},
                       gate);
            if (inner.given("gate")) saved.gate = gate;
            inner.flag({"gradients",
                        "Gradients have buffers that stay from one iteration to the next. `false`: they are there only "
                        "from the backward pass to the optimizer's step, as PyTorch's `zero_grad` leaves it."},
                       saved.gradients);
            double bytes = -1;  // no default for the schema
            inner.quantity({"logits",
                            "Bytes per logit while the loss of a language model is computed: `12 B` with PyTorch's "
                            "cross_entropy. Default: the size of an activation, and 4 B."},
                           bytes, Dimension::bytes, {.least = 4, .most = 64});
            if (inner.given("logits")) saved.logit_bytes = bytes;
        });
}

}  // namespace syncline::config
