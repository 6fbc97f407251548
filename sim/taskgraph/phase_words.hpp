#pragma once

#include "sim/taskgraph/task_graph.hpp"

/// Names of the phases and streams of an iteration, in messages, timelines and reports.
namespace syncline {

/// Kind of number that Task::subject is.
enum class Subject : std::uint8_t { none, layer, bucket };

struct PhaseWords {
    const char* word;
    const char* phrase;  ///< the name of a task, before that of its subject, if it has one
    Subject subject;
};

const PhaseWords& words_of(Phase phase);
inline const char* word(Phase phase) {
    return words_of(phase).word;
}
const char* word(StreamKind kind);

}  // namespace syncline
