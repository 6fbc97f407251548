#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/execution/trace_builder.hpp"

/// What a text of ASTRA-sim 1 or SimAI says (read_astra_text.cpp), and the nodes of it (astra_schedule.cpp).
namespace syncline::astra {

/// The ranks among which an exchange is. Each has a stream.
enum class Among : std::uint8_t { none, all, model, data, experts, data_of_experts };

/// Which gradient comes first in the backward pass, and when exchanges are waited for: the functions of ASTRA-sim's
/// Workload.cc that begin with iterate_.
enum class Order : std::uint8_t { micro, data, model, transformer, dlrm, inference };

struct Policy {
    std::string_view name;
    Order order;
    Among activations, weights;  ///< exchanges of the forward pass and of input gradients; of weight gradients
};

struct Exchange {
    std::string_view operation;  ///< empty: none
    Among among = Among::none;
    std::uint64_t bytes = 0;
    std::string_view word;  ///< as in the file
};

struct Pass {
    double seconds = 0;
    Exchange exchange;
};

struct Layer {
    std::string name;
    Pass forward, input_gradient, weight_gradient;
    bool checkpoint = false, recomputes = false;
};

struct Workload {
    const Policy* policy = nullptr;
    std::uint32_t ranks = 0, model = 0, experts = 1, stages = 1;
    std::size_t last_bottom = 0;  ///< of DLRM
    bool of_simai = false;
    std::vector<Layer> layers;
};

/// Adds the nodes of all ranks, in the order in which the workload's policy computes and exchanges. Throws TraceError.
void schedule(const Workload& workload, TraceBuilder& builder);

}  // namespace syncline::astra
