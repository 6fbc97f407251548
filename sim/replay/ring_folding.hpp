#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/replay/lanes.hpp"
#include "sim/replay/ring_layout.hpp"
#include "sim/replay/simulator.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Ring folding: of the equal steps of a ring (ring_layout.hpp) some are simulated message by message, and the rest is
/// extrapolated.
///
/// Each member reports when it has completed a step. Suppose that a step took all members the same time T > 0, that all
/// of them end it at the same moment, and that each then has as many early messages as before. Then this is the state
/// in which they began it, and all following steps take T, because nothing else is on the links: all exchanges of the
/// simulation are of one group, and a process has one at a time. The following steps are not simulated: members sleep
/// for T times their number.
///
/// The error of a folded step is at most the time by which members were apart in the one that was judged, which is
/// rounding alone; with blocks of several sizes see ring_layout.hpp. error_s() returns the sum.
///
/// Time: O(members) per simulated step; memory: O(members) for each exchange in flight.
namespace syncline {

class RingFolding {
public:
    /// Returns true if no two exchanges can be in flight at the same time, so that rings may be folded: all are of one
    /// group, on one stream per process.
    static bool possible(const TaskGraph& graph);

    RingFolding(const TaskGraph& graph, const Lanes& lanes, const Wires& wires, const Symmetry* symmetry,
                Simulator& simulator);
    ~RingFolding();
    RingFolding(const RingFolding&) = delete;
    RingFolding& operator=(const RingFolding&) = delete;

    /// A ring in one execution of an exchange, while its members are in it.
    class Ring;

    /// One execution of an exchange by a lane of a member: several tasks of an iteration may be the same exchange, once
    /// per microbatch.
    struct Pass {
        ExchangeId exchange = 0;
        std::uint32_t iteration = 0;
        std::uint32_t time = 0;              ///< number of the execution by this lane, counted from 0
        const RingLayout* layout = nullptr;  ///< null if the exchange is not folded
    };
    /// `lane`: of the stream whose task it is.
    Pass begin(LaneId lane, ExchangeId exchange, std::uint32_t iteration);

    /// A lane of a member in one of the rings of an exchange.
    struct Visit {
        Ring* ring = nullptr;  ///< null if its steps are not folded
        std::uint32_t place = 0;
    };
    Visit enter(LaneId lane, const Pass& pass, std::uint32_t ring);
    struct Skip {
        std::uint32_t steps = 0;
        double seconds = 0;
    };
    /// Records that the member has completed `steps` of its ring, and that it has received as many messages that it has
    /// not taken yet. Returns the further steps that are folded: the member must sleep for their time.
    Skip stepped(const Visit& visit, std::uint32_t steps, std::uint32_t untaken);
    void leave(const Visit& visit);

    /// Returns the maximum error in the time of an iteration due to folding.
    double error_s(std::uint32_t iteration) const { return iteration < errors_s_.size() ? errors_s_[iteration] : 0; }

private:
    using Key = std::tuple<ExchangeId, std::uint32_t, std::uint32_t>;  // exchange, Pass::time, number of the ring

    static void judge(Ring& ring, std::uint32_t number);

    const TaskGraph& graph_;
    const Lanes& lanes_;
    const Wires& wires_;
    const Symmetry* symmetry_;
    Simulator& simulator_;
    const bool may_pad_;
    std::map<ExchangeId, std::optional<RingLayout>> layouts_;
    std::map<ExchangeId, std::vector<std::uint32_t>> times_;  ///< by lane: number of executions begun
    std::map<Key, std::unique_ptr<Ring>> rings_;
    std::vector<double> errors_s_;  ///< by iteration
};

}  // namespace syncline
