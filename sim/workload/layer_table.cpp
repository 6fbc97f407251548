#include "sim/workload/layer_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/workload/peak_note.hpp"

namespace syncline {

LayerTable layer_table(const Model& model, const Device& device, std::int64_t batch, ComputeKind compute) {
    compute = kind_used(compute, model.name, device);
    LayerTable table{model.name, device.name, compute, batch, {}, {}};
    if (std::string note = peak_note(compute, model.name, device); !note.empty())
        table.notes.push_back(std::move(note));
    if (std::string note = missing_rate_note(compute, model, device); !note.empty())
        table.notes.push_back(std::move(note));
    const std::vector<LayerTime> times = layer_times(model, device, batch, compute);
    LayerRow& total = table.total;
    total.name = "total";
    std::array<double, bound_kinds> bound_s{};  // by Bound
    for (std::size_t i = 0; i < times.size(); ++i) {
        const Layer& layer = model.layers[i];
        const LayerTime& time = times[i];
        const double bytes = static_cast<double>(layer.activations) * static_cast<double>(batch) * model.element_bytes;
        table.layers.push_back({layer.name, layer.parameters, layer.macs, bytes, time});
        total.parameters += layer.parameters;
        total.macs += layer.macs;
        total.activation_bytes += bytes;
        total.time.forward_s += time.forward_s;
        total.time.input_gradient_s += time.input_gradient_s;
        total.time.weight_gradient_s += time.weight_gradient_s;
        total.time.stall_s += time.stall_s;
        total.time.host_bound_s += time.host_bound_s;
        if (time.bound) bound_s[static_cast<std::size_t>(*time.bound)] += time.forward_s + time.backward_s();
    }
    const auto most = std::max_element(bound_s.begin(), bound_s.end());
    if (*most > 0) total.time.bound = static_cast<Bound>(most - bound_s.begin());
    return table;
}

}  // namespace syncline
