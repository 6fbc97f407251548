#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/document/document.hpp"

namespace syncline::config {

/// What the reader of a foreign file has to say about it.
struct Findings {
    std::vector<Diagnostic> errors;
    /// What was not understood, left out, or chosen because the file does not say it.
    std::vector<Diagnostic> notes;

    /// Adds an error. Throws ConfigError with all of them if there are many: each holds its source line, which may be
    /// long.
    void fail(const Mark& place, std::string message, std::string hint = "") {
        constexpr std::size_t most = 20;
        errors.push_back({locate(place), std::move(message), std::move(hint)});
        if (errors.size() >= most) throw ConfigError(std::exchange(errors, {}));
    }
    void note(const Mark& place, std::string message, std::string hint = "") {
        notes.push_back({locate(place), std::move(message), std::move(hint)});
    }
};

}  // namespace syncline::config
