#include "sim/taskgraph/words.hpp"

namespace syncline {

const char* word(Phase phase) {
    switch (phase) {
        case Phase::forward:
            return "forward";
        case Phase::backward:
            return "backward";
        case Phase::update:
            return "update";
        case Phase::input_copy:
            return "input copy";
        case Phase::release:
            return "release";
        case Phase::exchange:
            return "exchange";
        case Phase::push:
            return "push";
        case Phase::pull:
            return "pull";
        case Phase::aggregate:
            return "aggregation";
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
    }
    return "task";
}

}  // namespace syncline
