#include "sim/explain/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/percent.hpp"
#include "sim/base/units.hpp"
#include "sim/explain/what_if.hpp"

namespace syncline {

namespace {

constexpr double twentieth = 0.05;  // of the iteration

std::string time(double seconds) {
    return format_quantity(seconds, Dimension::seconds);
}

bool over_links(PathKind kind) {
    return kind == PathKind::transfer || kind == PathKind::latency || kind == PathKind::overhead;
}

class Diagnosis {
public:
    Diagnosis(const std::vector<std::string>& plans, const Explanation& explanation)
        : plans_(plans), e_(explanation), result_(explanation.result) {}

    std::string text() {
        if (result_.limited_by.empty()) return "An iteration takes no time.";
        std::string text = limit();
        if (const std::string other = besides(); !other.empty()) text += " " + other;
        if (const std::string uneven = heaviest(); !uneven.empty()) text += " " + uneven;
        if (const std::string change = helps(); !change.empty()) text += " " + change;
        return text;
    }

private:
    const std::string& limited_by() const { return result_.limited_by; }
    bool computes() const {
        return limited_by() == "matrix products" || limited_by() == "memory bandwidth" || limited_by() == "launches" ||
               limited_by() == "computation";
    }

    std::string of_iteration(double seconds) const {
        return fmt::format("{}, {} of the iteration", time(seconds), percent(seconds / result_.time.iteration_s));
    }

    /// Returns the time of a part of the path in one iteration.
    std::string of_iteration(const PathShare& share) const { return of_iteration(share.seconds / e_.iterations); }

    std::string limit() {
        const Breakdown& all = result_.time;
        if (computes())
            return fmt::format("Limited by {}: a rank computes for {}.", limited_by(),
                               of_iteration(all.longest_compute_s));
        if (limited_by() == "storage")
            return fmt::format("Limited by the storage: reading the input takes {}.", of_iteration(all.longest_load_s));
        if (limited_by() == "bubble")
            return fmt::format("Limited by the bubble of the pipeline: ranks wait for other stages for {}.",
                               of_iteration(*all.pipeline_bubble * all.iteration_s));
        const bool latency = limited_by() == "latency" || limited_by().ends_with(" and latency");
        const bool link =
            !latency && limited_by() != "waiting" && limited_by() != "reductions" && limited_by() != "copies";
        told_ = largest([&](const PathShare& share) {
            if (link) return share.kind == PathKind::transfer;
            if (latency) return over_links(share.kind) || share.kind == PathKind::waiting;
            if (limited_by() == "reductions") return share.kind == PathKind::reduction;
            if (limited_by() == "copies") return share.kind == PathKind::copy;
            // What a rank of a trace waits for is on the path, on whichever rank it is.
            return share.kind != PathKind::compute || result_.samples == 0;
        });
        const std::string by = "Limited by " + (link ? named_link() : limited_by());
        if (told_ == nullptr) return by + ".";
        return fmt::format("{}: {} takes {}.", by, told_->what, of_iteration(*told_));
    }

    /// Returns the link that limits the iteration, with the server whose port it is.
    std::string named_link() const {
        const std::string name = limited_by().substr(limited_by().find(' ') + 1);
        if (!limited_by().starts_with("port ")) return (limited_by().starts_with("link ") ? "the " : "") + limited_by();
        for (const PathPiece& piece : e_.path) {
            if (piece.link != name) continue;
            const std::size_t server = piece.where.find("server "), layers = piece.what.find('(');
            if (server == std::string::npos || layers == std::string::npos) break;
            const std::string number = piece.where.substr(server, piece.where.find(" ->", server) - server);
            return fmt::format("the port {} of {}, which holds {}", name, number,
                               piece.what.substr(layers + 1, piece.what.rfind(')') - layers - 1));
        }
        return "the " + limited_by();
    }

    template <class Which>
    const PathShare* largest(Which which) const {
        const auto found = std::ranges::find_if(e_.shares, which);
        return found == e_.shares.end() ? nullptr : &*found;
    }

    /// Returns what else costs most: another part of the critical path, the rest of communication, or the bubble.
    std::string besides() const {
        const double bubble = limited_by() == "bubble" ? 0 : result_.time.pipeline_bubble.value_or(0);
        const PathShare* const other = largest([&](const PathShare& share) {
            return &share != told_ && !(computes() && share.kind == PathKind::compute);
        });
        if (other != nullptr && other->share >= std::max(twentieth, bubble))
            return fmt::format("{}{}{} takes {}.", computes() ? "Beside it, " : "Then ", other->what,
                               other->link.empty() ? "" : " over " + other->link, of_iteration(*other));
        const double exposed_s = result_.time.exposed_communication_s;
        const double exposed = computes() ? exposed_s / result_.time.iteration_s : 0;
        if (exposed >= std::max(twentieth, bubble))
            return fmt::format("Communication that nothing overlaps takes {}.", of_iteration(exposed_s));
        if (bubble < twentieth) return "";
        return fmt::format("Ranks wait for other stages for {}.", of_iteration(bubble * result_.time.iteration_s));
    }

    /// Returns the microbatch with most work, if documents make it much more than the others'.
    std::string heaviest() const {
        if (!result_.balance || result_.balance->heaviest < 1 + twentieth) return "";
        const WorkBalance& balance = *result_.balance;
        return fmt::format("Microbatch {} of replica {} has {:.3g} times the mean work of its iteration.",
                           balance.heaviest_micro_batch, balance.heaviest_replica, balance.heaviest);
    }

    /// Returns the change that helps most.
    std::string helps() const {
        // Another plan costs nothing. A larger batch is another training, but fills a pipeline.
        const auto order = [&](const WhatIf& one) {
            if (std::ranges::find(plans_, one.change) != plans_.end()) return 0;
            return one.change.starts_with("batch ") == (limited_by() == "bubble") ? 1 : 2;
        };
        const WhatIf* best = nullptr;
        for (const WhatIf& one : e_.what_if)  // the largest gain first
            if (one.problem.empty() && one.speed_up >= 1 + twentieth && (best == nullptr || order(one) < order(*best)))
                best = &one;
        if (best != nullptr && !result_.throughput_samples_per_s)
            return fmt::format("If {}, it takes {}, {:.3g} times as fast.", best->text, time(*best->iteration_time_s),
                               best->speed_up);
        if (best != nullptr)
            return fmt::format("If {}, it takes {}, with {}.", best->text, time(*best->iteration_time_s),
                               best->speed_up < 2 ? fmt::format("{:.1f} % more samples/s", 100 * (best->speed_up - 1))
                                                  : fmt::format("{:.3g} times the samples/s", best->speed_up));
        const bool tried = std::ranges::any_of(e_.what_if, [](const WhatIf& one) { return one.problem.empty(); });
        return tried ? "No change that was tried gains a twentieth." : "";
    }

    const std::vector<std::string>& plans_;
    const Explanation& e_;
    const Result& result_;
    const PathShare* told_ = nullptr;  ///< of the first sentence
};

}  // namespace

std::string diagnosis_of(const std::vector<std::string>& plans, const Explanation& explanation) {
    return Diagnosis(plans, explanation).text();
}

}  // namespace syncline
