#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "sim/replay/fold_layout.hpp"
#include "sim/replay/lanes.hpp"
#include "sim/replay/simulator.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Folding: of repeated steps, some are simulated message by message, and the rest is extrapolated.
///
/// Each member of a ring (fold_layout.hpp) reports when it has completed a step. Suppose that step k took all members
/// the same time T, that afterwards each has as many early messages as before, and that either all end it at the same
/// moment (the state in which they began it) or the same is true of as many steps before it as the first member is
/// ahead of the last. Then all following steps take T as long as nothing changes, because events depend only on the
/// members' positions and on the traffic of the links. These steps are not simulated: each member sleeps for T times
/// their number, from the end of the step that all are in; if members are at different steps, the last ones are
/// simulated.
///
/// Nothing changes while no other message shares a link or a device's copy engine with theirs. Every section of an
/// exchange declares which of these its messages use. If another section begins to use one that belongs to a ring whose
/// members are folding, the assumption was wrong, and cannot be corrected, because they have nothing on the wires: the
/// simulation ends with Disturbed, and is repeated without folding exchanges of that channel (replay_isolated()).
///
/// The error: only rounding, if blocks have one size. For blocks that differ by a byte, and members that gather, see
/// fold_layout.hpp. error_s() returns the sum.
///
/// Time: O(members) per simulated step and per section; memory: members × sections of the exchanges in flight, and of a
/// layout for each kind of exchange.
namespace syncline {

/// Thrown if folded steps turn out not to repeat.
struct Disturbed {
    std::uint32_t channel = 0;  ///< channel of the exchange
};

class Folding {
public:
    /// Exchanges of the channels `unfolded` are not folded.
    Folding(const TaskGraph& graph, const Lanes& lanes, Wires& wires, const Symmetry* symmetry,
            const std::vector<std::uint32_t>& unfolded, Simulator& simulator);
    ~Folding();
    Folding(const Folding&) = delete;
    Folding& operator=(const Folding&) = delete;

    /// A ring in one exchange, while its members are in it.
    class Ring;

    /// A lane of a member in one of its sections.
    struct Visit {
        const RingSection* section = nullptr;
        Ring* ring = nullptr;  ///< null if the section does not repeat
        std::uint32_t place = 0;
        bool padded = false;
    };

    /// One execution of an exchange by a lane of a member: several tasks of an iteration may be the same exchange, once
    /// per micro-batch.
    struct Pass {
        ExchangeId exchange = 0;
        std::uint32_t iteration = 0;
        std::uint32_t time = 0;  ///< number of the execution by this lane, counted from 0
        const std::vector<RingSection>* sections = nullptr;
    };
    /// `place`: of a lane of a member, as in FoldLayout::sections.
    Pass begin(ExchangeId exchange, std::uint32_t place, std::uint32_t iteration);

    /// Waits until the ring's other members have arrived, if the ring gathers.
    Coroutine<Visit> enter(LaneId lane, const Pass& pass, const RingSection& section);
    struct Skip {
        std::uint32_t steps = 0;
        double seconds = 0;
    };
    /// Records that the member has completed `steps` of its section, and that it has received as many messages that
    /// it has not taken yet. Returns the further steps that are folded: the member must sleep for their time.
    Skip stepped(const Visit& visit, std::uint32_t steps, std::uint32_t untaken);
    void leave(const Visit& visit);

    /// Returns the maximum error in the time of an iteration due to folding.
    double error_s(std::uint32_t iteration) const { return iteration < errors_s_.size() ? errors_s_[iteration] : 0; }

private:
    using Key = std::tuple<ExchangeId, std::uint32_t, std::uint32_t>;  // exchange, Pass::time, ring of the layout

    const FoldLayout& layout(ExchangeId exchange, std::uint32_t iteration);
    void use(const RingSection& section, const Ring* by);
    void judge(Ring& ring, std::uint32_t number);
    /// Returns true if no other section has used its links since then.
    bool alone(const Ring& ring, double since_s);
    void disturb(Ring& ring);
    /// Ends the simulation before simulated time advances.
    void give_up(const Ring& ring);
    bool folds(ExchangeId exchange) const;
    void let_go(const Ring& ring);
    void add_error(const Ring& ring, double seconds);

    const TaskGraph& graph_;
    const Lanes& lanes_;
    Wires& wires_;
    const Symmetry* symmetry_;
    const std::vector<std::uint32_t>& unfolded_;
    Simulator& simulator_;
    /// By algorithm, group, channel, bytes, and, if its programs differ by iteration, the iteration.
    std::map<std::tuple<const CollectiveAlgorithm*, GroupId, std::uint32_t, std::uint64_t, std::uint32_t>,
             std::unique_ptr<FoldLayout>>
        layouts_;
    std::vector<std::vector<std::uint32_t>> times_;  ///< by exchange and place: number of executions begun
    std::map<Key, std::unique_ptr<Ring>> rings_;
    const Surroundings around_;
    std::vector<std::uint32_t> users_;  ///< by resource: active sections that use it
    std::vector<double> changed_s_;     ///< by resource: time at which the last of them began or ended
    std::uint32_t users_of_all_ = 0;    ///< sections that use all resources ...
    double all_changed_s_ = 0;          ///< ... and time at which the last of them began or ended
    std::vector<std::uint32_t> own_;    ///< scratch: resources of one ring
    std::vector<Ring*> folded_;         ///< by resource: the folded ring that uses it
    std::vector<double> errors_s_;      ///< by iteration
};

}  // namespace syncline
