#include "sim/taskgraph/phase_words.hpp"

#include <array>

namespace syncline {

namespace {

constexpr std::array phases{
    PhaseWords{"forward", "forward of ", Subject::layer},
    PhaseWords{"backward", "backward of ", Subject::layer},
    PhaseWords{"optimizer step", "optimizer step", Subject::none},
    PhaseWords{"update", "update", Subject::none},
    PhaseWords{"input copy", "input copy", Subject::none},
    PhaseWords{"fusion cycle", "fusion cycle", Subject::none},
    PhaseWords{"exchange", "", Subject::bucket},
    PhaseWords{"push", "push of ", Subject::bucket},
    PhaseWords{"pull", "pull of ", Subject::bucket},
    PhaseWords{"reduction", "reduction of ", Subject::bucket},
    PhaseWords{"barrier", "barrier", Subject::none},
    PhaseWords{"activations", "activations of ", Subject::layer},
    PhaseWords{"halo", "halo of ", Subject::layer},
    PhaseWords{"transfer", "stage transfer before ", Subject::layer},
    PhaseWords{"weights", "weights of ", Subject::layer},
    PhaseWords{"encoding", "encoding of ", Subject::layer},
    PhaseWords{"second factor", "second factor of ", Subject::bucket},
    PhaseWords{"decoding", "decoding of ", Subject::bucket},
    PhaseWords{"recomputation", "recomputation of ", Subject::layer},
    PhaseWords{"context", "context of ", Subject::layer},
    PhaseWords{"dispatch", "dispatch of ", Subject::layer},
    PhaseWords{"combine", "combine of ", Subject::layer},
    PhaseWords{"copy to host", "gradients to the host", Subject::none},
    PhaseWords{"copy to device", "weights to the device", Subject::none},
    PhaseWords{"input reading", "reading of input", Subject::none},
    PhaseWords{"computation", "", Subject::layer},
    PhaseWords{"communication", "", Subject::layer},
};
static_assert(phases.size() == static_cast<std::size_t>(Phase::communication) + 1);

constexpr std::array streams{"compute", "input copy", "fusion cycle",  "exchange", "push",
                             "pull",    "reduction",  "activations",   "transfer", "receive",
                             "weights", "host copy",  "input reading", "host"};
static_assert(streams.size() == static_cast<std::size_t>(StreamKind::host) + 1);

}  // namespace

const PhaseWords& words_of(Phase phase) {
    return phases[static_cast<std::size_t>(phase)];
}

const char* word(StreamKind kind) {
    return streams[static_cast<std::size_t>(kind)];
}

}  // namespace syncline
