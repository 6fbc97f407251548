#include "sim/output/fidelity_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/base/counted.hpp"
#include "sim/output/cells.hpp"

namespace syncline {

namespace {

template <class AnyReport>
std::string lines(const AnyReport& report) {
    std::string text;
    for (const auto& result : report.results)
        if (const std::string line = text::folded(result.folded); !line.empty())
            text += fmt::format("{}: {}\n", result.variant, line);
    return text;
}

/// Returns for example "4194304 of 4198400 messages, and 3 identical iterations; error at most 1 us".
std::string what(const Folded& folded) {
    const std::uint64_t messages = folded.messages_simulated + folded.messages_folded;
    std::vector<std::string> parts;
    if (folded.messages_folded > 0) parts.push_back(fmt::format("{} of {} messages", folded.messages_folded, messages));
    if (folded.iterations_folded > 0) parts.push_back(counted(folded.iterations_folded, "identical iteration"));
    if (folded.micro_batches_folded > 0)
        parts.push_back(fmt::format("{} identical microbatch{}", folded.micro_batches_folded,
                                    folded.micro_batches_folded == 1 ? "" : "es"));
    if (parts.size() > 1) parts.back() = "and " + parts.back();
    std::string text = fmt::format("{}", fmt::join(parts, ", "));
    if (folded.images > 1) text += fmt::format(" (each simulated rank stands for {} that are alike)", folded.images);
    if (text.empty()) return fmt::format("none of {} messages: no step repeats undisturbed", messages);
    if (folded.uneven_s > 0)
        return fmt::format("{}; latencies that differ by up to {} are averaged, and the error has no bound", text,
                           text::seconds(folded.uneven_s));
    if (!std::isfinite(folded.error_s))
        return fmt::format("{}; blocks that differ by a byte are made equal, and the error has no bound", text);
    return fmt::format("{}; error at most {}", text, text::seconds(folded.error_s));
}

}  // namespace

namespace text {

const char* fidelity(const FidelityChoice& choice) {
    return choice.folds ? "folded" : "message";
}

std::string asked(const FidelityChoice& choice) {
    const char* const word = choice.asked == Fidelity::automatic  ? "auto"
                             : choice.asked == Fidelity::folded   ? "folded"
                             : choice.asked == Fidelity::averaged ? "averaged"
                                                                  : "message";
    return choice.why.empty() ? word : fmt::format("{}, because {}", word, choice.why);
}

std::string folded(const Folded& folded) {
    if (folded.choice.asked == Fidelity::message) return "";
    return fmt::format("folded: {} (fidelity: {})", folded.choice.folds ? what(folded) : "nothing",
                       asked(folded.choice));
}

std::string folded(const Report& report) {
    return lines(report);
}
std::string folded(const SweepReport& report) {
    return lines(report);
}

}  // namespace text

}  // namespace syncline
