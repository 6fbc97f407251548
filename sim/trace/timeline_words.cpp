#include "sim/trace/timeline_words.hpp"

#include <array>

namespace syncline {

const char* word(ActKind kind) {
    constexpr std::array words{"launch", "copy", "send", "wait for the window", "messages", "receive", "reduction"};
    return words[static_cast<std::size_t>(kind)];
}

const char* word(TraceLevel level) {
    constexpr std::array words{"tasks", "acts", "messages"};
    return words[static_cast<std::size_t>(level)];
}

}  // namespace syncline
