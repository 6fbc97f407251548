#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/replay/fold_layout.hpp"
#include "sim/replay/simulator.hpp"

/// Recall: an exchange of a large group that is executed again takes as long as before, lane by lane.
///
/// Where rings share links and their messages take different times, as those inside and between nodes do, their members
/// are never in step, and no step is folded (folding.hpp). But all that decides an execution is when its lanes begin,
/// and what else uses their links. So lanes wait until all of them have come. The first execution is simulated, and the
/// time of each lane is kept if nothing else used the links. In later ones, if the links are free, each lane sleeps for
/// its time. If something else begins to use them meanwhile, the simulation is repeated without (Disturbed).
///
/// The error: early lanes would begin by the time between the first and the last arrival earlier, and use links of
/// earlier work for as long. Twice that time is counted.
///
/// Time: O(lanes) per execution; memory: lanes × exchanges that differ.
namespace syncline {

class Recall {
public:
    /// An execution of an exchange: as Folding::Pass.
    using Key = std::pair<ExchangeId, std::uint32_t>;

    /// `users`: by resource, the number of sections that use it.
    Recall(const std::vector<std::uint32_t>& users, Simulator& simulator)
        : users_(users), simulator_(simulator), owners_(users.size(), nullptr) {}

    struct Beginning {
        std::optional<double> known_s;  ///< the time for which the lane must sleep
        double waited_s = 0;            ///< on the last lane to come: the time since the first one came
    };
    /// Waits until all lanes of an exchange have come. The time of the lane at `place` is known if nothing is in the
    /// way. `free`: no section uses all resources now.
    Coroutine<Beginning> begin(LaneId lane, Key key, std::uint32_t place, const FoldLayout& layout, bool free);
    /// The lane has ended its execution.
    void end(Key key, std::uint32_t place);

    /// Records that a section of execution `by` begins to use these resources, or all. Returns the exchange whose lanes
    /// sleep although they would be slower now.
    std::optional<ExchangeId> used(const RingSection& section, Key by);

private:
    struct Execution {
        Execution(Key of, const FoldLayout& shape, double now_s)
            : key(of), layout(shape), first_s(now_s), seconds(shape.sections.size()) {}

        const Key key;
        const FoldLayout& layout;
        const double first_s;         ///< arrival of its first lane
        double start_s = 0;           ///< and of its last one
        double longest_s = 0;         ///< of its lanes, if they sleep
        std::vector<LaneId> come;     ///< lanes, in the order of their arrival
        std::vector<double> seconds;  ///< by place: the time that it took
        std::uint32_t ended = 0;
        bool started = false;
        bool asleep = false;  ///< its time is known
        bool alone = false;   ///< nothing else has used its links
    };

    template <typename Act>
    static void each_resource(const FoldLayout& layout, const Act& act) {
        for (const std::vector<RingSection>& sections : layout.sections)
            for (const RingSection& section : sections)
                for (const std::uint32_t resource : section.uses) act(resource);
    }

    void start(Execution& execution, bool free);
    /// Returns true if it is asleep, and more than rounding is left of its time.
    bool disturbs(Execution& execution) const;

    const std::vector<std::uint32_t>& users_;
    Simulator& simulator_;
    std::map<const FoldLayout*, std::vector<double>> times_;  ///< by place
    std::map<Key, std::unique_ptr<Execution>> executions_;
    std::vector<Execution*> owners_;  ///< by resource: the execution that began when it was free
};

}  // namespace syncline
