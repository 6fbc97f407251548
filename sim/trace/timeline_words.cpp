#include "sim/trace/timeline_words.hpp"

namespace syncline {

const char* word(ActKind kind) {
    switch (kind) {
        case ActKind::launch:
            return "launch";
        case ActKind::copy:
            return "copy";
        case ActKind::send:
            return "send";
        case ActKind::window:
            return "wait for the window";
        case ActKind::messages:
            return "messages";
        case ActKind::receive:
            return "receive";
        case ActKind::reduction:
            return "reduction";
    }
    return "act";
}

const char* word(TraceLevel level) {
    switch (level) {
        case TraceLevel::tasks:
            return "tasks";
        case TraceLevel::acts:
            return "acts";
        case TraceLevel::messages:
            return "messages";
    }
    return "level";
}

}  // namespace syncline
