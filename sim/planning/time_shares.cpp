#include "sim/planning/time_shares.hpp"

#include <algorithm>

#include "sim/iteration/forecast.hpp"
#include "sim/iteration/pass_times.hpp"
#include "sim/planning/wire_costs.hpp"

namespace syncline::planning {

namespace {

/// Exchanges that take no time.
class Free : public Prices {
public:
    double exchange_s(StageRanks, const Grouping&, const CollectiveAlgorithm&, const AlgorithmSpec&, std::uint64_t,
                      const Protocol&) override {
        return 0;
    }
    double transfer_s(StageRanks, std::uint32_t, std::uint64_t) override { return 0; }
};

}  // namespace

TimeShares shares_of(const Lowered& training) {
    Free free;
    const Arrangement& arrangement = training.arrangement;
    const std::vector<VirtualStageTime> times = virtual_stage_times(training, free);
    TimeShares shares;
    for (std::uint32_t stage = 0; stage < arrangement.stages; ++stage) {
        double own_s = 0;
        for (std::uint32_t rank = 0; rank < arrangement.virtual_stages; ++rank)
            own_s += times[arrangement.pipeline.virtual_stage_of(rank, stage)].compute_s;
        own_s = own_s * arrangement.micro_batches + training.steps[stage].total_s();
        shares.computation_s = std::max(shares.computation_s, own_s);
    }
    WireCosts wires(training.cluster, training.places);
    const double alone_s = forecast(training, free).time_s;
    shares.bubble_s = std::max(0.0, alone_s - shares.computation_s);
    shares.exchanges_s = forecast(training, wires).time_s - shares.bubble_s - shares.computation_s;
    return shares;
}

}  // namespace syncline::planning
