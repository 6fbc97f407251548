#include "sim/taskgraph/words.hpp"

namespace syncline {

const char* word(Phase phase) {
    switch (phase) {
        case Phase::forward:
            return "forward";
        case Phase::backward:
            return "backward";
        case Phase::optimizer:
            return "optimizer step";
        case Phase::update:
            return "update";
        case Phase::input_copy:
            return "input copy";
        case Phase::release:
            return "fusion cycle";
        case Phase::exchange:
            return "exchange";
        case Phase::push:
            return "push";
        case Phase::pull:
            return "pull";
        case Phase::aggregate:
            return "reduction";
        case Phase::barrier:
            return "barrier";
        case Phase::activations:
            return "activations";
        case Phase::halo:
            return "halo";
        case Phase::transfer:
            return "transfer";
        case Phase::weights:
            return "weights";
        case Phase::encode:
            return "encoding";
        case Phase::factor:
            return "second factor";
        case Phase::decode:
            return "decoding";
        case Phase::recompute:
            return "recomputation";
        case Phase::context:
            return "context";
        case Phase::dispatch:
            return "dispatch";
        case Phase::combine:
            return "combine";
        case Phase::to_host:
            return "copy to host";
        case Phase::to_device:
            return "copy to device";
    }
    return "task";
}

const char* word(StreamKind kind) {
    switch (kind) {
        case StreamKind::compute:
            return "compute";
        case StreamKind::input_copy:
            return "input copy";
        case StreamKind::release:
            return "fusion cycle";
        case StreamKind::exchange:
            return "exchange";
        case StreamKind::push:
            return "push";
        case StreamKind::pull:
            return "pull";
        case StreamKind::aggregate:
            return "reduction";
        case StreamKind::activations:
            return "activations";
        case StreamKind::transfer:
            return "transfer";
        case StreamKind::receive:
            return "receive";
        case StreamKind::weights:
            return "weights";
        case StreamKind::host_copy:
            return "host copy";
    }
    return "stream";
}

}  // namespace syncline
