#include "sim/explain/window_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "sim/workload/compute_model.hpp"

namespace syncline {

namespace {

class KernelSum {
public:
    KernelSum(const Lowered& training, std::uint32_t rank, double times)
        : arrangement_(training.arrangement_of(rank)), times_(times), documents_vary_(training.documents_vary()) {
        const Plan& plan = training.plan;
        computation_ = make_compute_model(plan.compute, training.model, training.device_of(rank),
                                          software_of(training.model, plan));
    }

    void add_layer(std::size_t number, std::uint32_t index) {
        const PlacedLayer& placed = arrangement_.layers[number];
        const LayerTime& time = placed.time_of(index);
        if (time.forward_s + time.backward_s() == 0) return;
        Share share = placed.share;
        if (placed.experts && !placed.experts->loads.empty())
            share.load = placed.experts->loads[placed.experts->group.member(index)];
        for (const TimedKernel& kernel : computation_->kernels(number, share)) {
            KernelParts& row = kernels_[{kernel.pass, kernel.name, kernel.seconds}];
            row.kernel = kernel.name;
            row.pass = kernel.pass;
            row.bound = kernel.bound;
            row.count += times_ * static_cast<double>(kernel.count);
            row.seconds += times_ * static_cast<double>(kernel.count) * kernel.seconds;
        }
        waiting_s_ += times_ * time.host_bound_s;
        again_s_ += times_ * placed.recompute_s;
        added_s_ += times_ * (time.weight_gradient_s - computation_->time(number, share).weight_gradient_s);
    }

    std::vector<KernelParts> rows(double compute_s, double step_s) const {
        if (kernels_.empty()) return {};
        std::vector<KernelParts> all;
        for (const auto& [key, row] : kernels_) all.push_back(row);
        double sum_s = 0;
        const auto add = [&](const char* what, double seconds) {
            if (std::abs(seconds) > 1e-9 * compute_s) all.push_back({what, std::nullopt, std::nullopt, 0, seconds});
        };
        add("waits for launches by the host", waiting_s_);
        add("forward passes again (recomputation)", again_s_);
        add("addition of microbatches' gradients", added_s_);
        add("optimizer's step", step_s);
        for (const KernelParts& row : all) sum_s += row.seconds;
        add(documents_vary_ ? "documents unlike the mean; slower beside exchanges, chunks of GEMMs, jitter, stragglers"
                            : "slower beside exchanges, chunks of GEMMs, jitter, stragglers",
            compute_s - sum_s);
        std::stable_sort(all.begin(), all.end(),
                         [](const KernelParts& a, const KernelParts& b) { return a.seconds > b.seconds; });
        return all;
    }

private:
    const Arrangement& arrangement_;
    double times_;
    bool documents_vary_;
    std::unique_ptr<const ComputeModel> computation_;
    std::map<std::tuple<Pass, std::string, double>, KernelParts> kernels_;
    double waiting_s_ = 0, again_s_ = 0, added_s_ = 0;
};

}  // namespace

std::vector<KernelParts> kernel_parts(const Lowered& training, std::uint32_t rank, std::uint32_t iterations,
                                      double compute_s, double step_s) {
    const Arrangement& arrangement = training.arrangement;
    const std::uint32_t stage = rank / arrangement.stage_ranks, index = rank % arrangement.stage_ranks;
    KernelSum sum(training, rank, static_cast<double>(iterations) * arrangement.micro_batches);
    for (std::size_t i = 0; i < arrangement.layers.size(); ++i) {
        const PlacedLayer& placed = arrangement.layers[i];
        if (arrangement.stage_of(placed.virtual_stage) == stage && placed.has_part(index)) sum.add_layer(i, index);
    }
    return sum.rows(compute_s, step_s);
}

}  // namespace syncline
