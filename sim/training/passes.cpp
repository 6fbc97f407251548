#include "sim/training/passes.hpp"

#include <algorithm>
#include <utility>

#include "sim/collective/direct.hpp"
#include "sim/training/exchange.hpp"
#include "sim/training/gradient_sync.hpp"

namespace syncline {

bool weights_apart(const Plan& plan, const LayerExchanges& exchanges) {
    return !exchanges.backward_rounds.empty() || (plan.hides_input_gradients() && !exchanges.after_backward.empty());
}

std::size_t computing_tasks(const std::vector<Round>& rounds) {
    const auto computing =
        std::count_if(rounds.begin(), rounds.end(), [](const Round& round) { return round.part > 0; });
    const bool waits = !rounds.empty() && rounds.back().exchange && rounds.back().part > 0;
    return static_cast<std::size_t>(computing) + (waits ? 1 : 0);
}

Passes::Passes(TaskGraph& graph, const Cluster& cluster, const Plan& plan, const Arrangement& arrangement,
               const std::vector<ProcessId>& workers)
    : graph_(graph),
      plan_(plan),
      arrangement_(arrangement),
      workers_(workers),
      gamma_s_per_B_(gamma_of(reduction_Bps(cluster))),
      syncs_(gradient_syncs(plan, arrangement)),
      built_(arrangement.stage_ranks / graph.images()),
      ranks_(workers.size()),
      cursors_(workers.size()),
      groups_(graph, workers, arrangement.stage_ranks),
      weights_(graph, arrangement, workers, groups_, ranks_, built_),
      pass_on_(std::make_shared<const DirectRooted>(DirectRooted::Operation::broadcast)) {
    for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
        if (!graph_.built(workers[rank])) continue;
        RankPasses& passes = ranks_[rank];
        passes.process = workers[rank];
        passes.compute = graph_.add_stream(workers[rank], StreamKind::compute);
        passes.forward.resize(arrangement.layers.size());
        passes.gradients.resize(arrangement.layers.size());
        cursors_[rank].outputs.resize(arrangement.micro_batches);
    }
    const std::size_t boundaries = arrangement.boundaries.size();
    for (auto& received : received_) received.resize(boundaries * arrangement.micro_batches);
    for (std::uint32_t stage = 0; stage < arrangement.stages; ++stage) {
        for (const bool forward : {true, false}) add_receives(stage, forward);
        for (const Slot& slot : slots(plan.parallelism.pipeline, stage)) add_slot(stage, slot);
    }
}

StreamId Passes::open(std::uint32_t rank, StreamId& stream, StreamKind kind) {
    if (stream == no_stream) stream = graph_.add_stream(workers_[rank], kind);
    return stream;
}

ExchangeId Passes::transfer(std::uint32_t boundary, bool forward, std::uint32_t index) {
    const auto [found, added] = transfers_.try_emplace({boundary, forward, index});
    if (added) {
        const std::uint32_t before = boundary % arrangement_.stages, behind = (boundary + 1) % arrangement_.stages;
        const ProcessId from = workers_[rank_of(forward ? before : behind, index)];
        const ProcessId to = workers_[rank_of(forward ? behind : before, index)];
        found->second = graph_.add_exchange({pass_on_,
                                             graph_.add_group({from, to}),
                                             forward ? forward_channel : backward_channel,
                                             arrangement_.boundaries[boundary].bytes,
                                             0,
                                             {},
                                             ExchangeClass::point_to_point});
    }
    return found->second;
}

void Passes::add_receives(std::uint32_t stage, bool forward) {
    if (arrangement_.stages == 1) return;
    // Receives are added in the order in which the other side sends.
    const std::uint32_t stages = arrangement_.stages, parts = stages * arrangement_.chunks;
    const std::uint32_t sender = (stage + (forward ? stages - 1 : 1)) % stages;
    for (const Slot& slot : slots(plan_.parallelism.pipeline, sender)) {
        const std::uint32_t part = slot.chunk * stages + sender;
        if (slot.forward != forward || slot.gradients == Gradients::weights) continue;
        if (part == (forward ? parts - 1 : 0)) continue;
        const std::uint32_t boundary = forward ? part : part - 1;
        auto& received = received_[forward][boundary * arrangement_.micro_batches + slot.micro_batch];
        for (std::uint32_t index = 0; index < built_; ++index) {
            const std::uint32_t rank = rank_of(stage, index);
            Task task{open(rank, cursors_[rank].receive[forward], StreamKind::receive), Phase::transfer,
                      arrangement_.first_layer[boundary + 1]};
            task.exchange = transfer(boundary, forward, index);
            task.member = 1;
            task.micro_batch = slot.micro_batch;
            received.push_back(graph_.add_task(task));
        }
    }
}

void Passes::add_slot(std::uint32_t stage, const Slot& slot) {
    weights_.begin_pass();
    const std::uint32_t part = slot.chunk * arrangement_.stages + stage;
    const std::uint32_t first = arrangement_.first_layer[part], end = arrangement_.first_layer[part + 1];
    if (slot.gradients == Gradients::weights) {
        for (std::uint32_t index = 0; index < built_; ++index)
            cursors_[rank_of(stage, index)].data = cursors_[rank_of(stage, index)].input = std::nullopt;
        for (std::uint32_t layer = end; layer-- > first;) add_weight_gradients(stage, layer, slot.micro_batch);
        return;
    }
    const auto boundaries = static_cast<std::uint32_t>(arrangement_.boundaries.size());
    // A single stage sends nothing: it already has the output of its other chunks.
    const bool sends = arrangement_.stages > 1;
    const bool follows = slot.forward ? part > 0 : part < boundaries;
    const std::uint32_t boundary = slot.forward ? part - 1 : part;
    for (std::uint32_t index = 0; index < built_; ++index) {
        Cursor& cursor = cursors_[rank_of(stage, index)];
        cursor.data.reset();
        if (sends && follows) {
            cursor.data = received_[slot.forward][boundary * arrangement_.micro_batches + slot.micro_batch][index];
        } else if (follows || !slot.forward) {
            cursor.data = cursor.outputs[slot.micro_batch];
        }
        cursor.input = cursor.data;
    }
    if (sends && follows) {
        const Boundary& from = arrangement_.boundaries[boundary];
        const std::optional<ActivationExchange>& gathering = slot.forward ? from.activations : from.gradients;
        for (std::uint32_t index = 0; gathering && index < built_; ++index) {
            const std::uint32_t rank = rank_of(stage, index);
            cursors_[rank].data = add_exchange(rank, *gathering, slot.forward ? first : end - 1, slot.micro_batch);
            cursors_[rank].input = cursors_[rank].data;
        }
    }
    if (slot.forward) {
        for (std::uint32_t layer = first; layer < end; ++layer)
            add_forward(stage, layer, slot.micro_batch, Phase::forward);
        if (sends && part < boundaries) return add_send(stage, part, slot.micro_batch, true);
    } else {
        for (std::uint32_t layer = end; layer-- > first;) {
            const Segment again = arrangement_.again_before(layer);
            for (std::uint32_t each = again.first; each < again.end; ++each)
                add_forward(stage, each, slot.micro_batch, Phase::recompute);
            if (slot.gradients == Gradients::inputs)
                add_input_gradients(stage, layer, slot.micro_batch);
            else
                add_backward(stage, layer, slot.micro_batch);
        }
        if (sends && part > 0) return add_send(stage, part - 1, slot.micro_batch, false);
    }
    for (std::uint32_t index = 0; index < built_; ++index) {
        Cursor& cursor = cursors_[rank_of(stage, index)];
        cursor.outputs[slot.micro_batch] = cursor.data;
        cursor.sent.reset();
    }
    if (part == 0 && slot.releases() && slot.micro_batch + 1 < syncs_) end_micro_batch(stage);
}

void Passes::end_micro_batch(std::uint32_t stage) {
    for (std::uint32_t index = 0; index < built_; ++index) {
        RankPasses& passes = ranks_[rank_of(stage, index)];
        MicroBatchEnd& end = passes.ends.emplace_back();
        end.computed = passes.computed.back();
        end.gradients = passes.gradients;
        Task barrier{passes.compute, Phase::barrier};
        barrier.micro_batch = static_cast<std::uint32_t>(passes.ends.size()) - 1;
        end.barrier = graph_.add_task(barrier);
    }
}

TaskId Passes::add(std::uint32_t rank, const Task& task) {
    Cursor& cursor = cursors_[rank];
    const TaskId id = graph_.add_task(task);
    RankPasses& passes = ranks_[rank];
    // Tasks on the same stream are already in order.
    const auto wait_for = [&](TaskId before) {
        if (graph_.tasks()[before].stream != task.stream) graph_.depend(id, before);
    };
    if (cursor.data) wait_for(*cursor.data);
    if (cursor.sent && cursor.data == cursor.input) wait_for(*cursor.sent);
    if (!passes.ends.empty() && cursor.data < std::optional(passes.ends.back().barrier))
        wait_for(passes.ends.back().barrier);
    if (!cursor.data && passes.computed.empty() && task.stream != passes.compute) passes.inputs.push_back(id);
    return id;
}

TaskId Passes::compute(std::uint32_t rank, Phase phase, std::uint32_t layer, std::uint32_t micro_batch, double seconds,
                       const std::optional<TaskId>& weights) {
    const TaskId id = add_chunk(rank, phase, layer, micro_batch, seconds, weights);
    ranks_[rank].computed.push_back(id);
    return id;
}

TaskId Passes::add_chunk(std::uint32_t rank, Phase phase, std::uint32_t layer, std::uint32_t micro_batch,
                         double seconds, const std::optional<TaskId>& weights) {
    Task task{ranks_[rank].compute, phase, layer,
              arrangement_.layers[layer].has_part(rank % arrangement_.stage_ranks) ? seconds : 0};
    task.micro_batch = micro_batch;
    const TaskId id = add(rank, task);
    if (weights) graph_.depend(id, *weights);
    return id;
}

void Passes::add_forward(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch, Phase phase) {
    const PlacedLayer& placed = arrangement_.layers[layer];
    const std::vector<Round>& rounds = placed.exchanges.forward_rounds;
    const auto& weights = weights_.before(stage, layer, micro_batch);
    const ChunkedProducts& chunked = placed.chunked;
    const Arrived inputs = add_exchanges(stage, placed.exchanges.before_forward, layer, micro_batch);
    for (std::uint32_t index = 0; index < built_; ++index) {
        const std::uint32_t rank = rank_of(stage, index);
        const LayerTime& time = placed.time_of(index);
        const double core_s = rounds.empty() ? 0 : time.core_forward_s;
        const TaskId first = static_cast<TaskId>(graph_.tasks().size());
        add_arriving(rank, inputs, phase, layer, micro_batch, chunked.inputs_forward_s, weights[index]);
        const double rest_s = std::max(0.0, time.forward_s - core_s - chunked.forward_s());
        const TaskId pass = compute(rank, phase, layer, micro_batch, rest_s, weights[index]);
        cursors_[rank].data = pass;
        if (micro_batch == 0 && phase == Phase::forward) ranks_[rank].forward[layer] = first;
        add_rounds(rank, rounds, phase, layer, micro_batch, core_s);
    }
    if (chunked.outputs_forward_s > 0)
        add_leaving(stage, placed.exchanges.after_forward.front(), phase, layer, micro_batch,
                    chunked.outputs_forward_s);
    else
        add_exchanges(stage, placed.exchanges.after_forward, layer, micro_batch);
}

std::vector<std::optional<TaskId>> Passes::begin_backward(std::uint32_t stage, std::uint32_t layer,
                                                          std::uint32_t micro_batch) {
    const PlacedLayer& placed = arrangement_.layers[layer];
    // The weights of a recomputed layer are there already.
    if (placed.recomputed) return std::vector<std::optional<TaskId>>(built_);
    auto weights = weights_.before(stage, layer, micro_batch);
    // Attention's core has none.
    const bool needs_weights = plan_.recomputation != Recomputation::selective;
    if (placed.recompute_s > 0)
        for (std::uint32_t index = 0; index < built_; ++index) {
            const std::uint32_t rank = rank_of(stage, index);
            cursors_[rank].data = compute(rank, Phase::recompute, layer, micro_batch, placed.recompute_s,
                                          needs_weights ? weights[index] : std::nullopt);
        }
    return weights;
}

void Passes::add_input_gradients(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch) {
    const PlacedLayer& placed = arrangement_.layers[layer];
    const std::vector<Round>& rounds = placed.exchanges.backward_rounds;
    const auto weights = begin_backward(stage, layer, micro_batch);
    const Arrived outputs = add_exchanges(stage, placed.exchanges.before_backward, layer, micro_batch);
    for (std::uint32_t index = 0; index < built_; ++index) {
        const std::uint32_t rank = rank_of(stage, index);
        const LayerTime& time = placed.time_of(index);
        const double core_s = rounds.empty() ? 0 : time.core_backward_s;
        add_arriving(rank, outputs, Phase::backward, layer, micro_batch, placed.chunked.outputs_backward_s,
                     weights[index]);
        const double rest_s = std::max(0.0, time.input_gradient_s - core_s - placed.chunked.backward_s());
        cursors_[rank].data = compute(rank, Phase::backward, layer, micro_batch, rest_s, weights[index]);
        add_rounds(rank, rounds, Phase::backward, layer, micro_batch, core_s);
    }
    add_exchanges(stage, placed.exchanges.after_backward, layer, micro_batch);
}

void Passes::add_weight_gradients(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch) {
    const PlacedLayer& placed = arrangement_.layers[layer];
    add_exchanges(stage, placed.exchanges.beside_backward, layer, micro_batch);
    for (std::uint32_t index = 0; index < built_; ++index) {
        const std::uint32_t rank = rank_of(stage, index);
        ranks_[rank].gradients[layer] =
            compute(rank, Phase::backward, layer, micro_batch, placed.time_of(index).weight_gradient_s, std::nullopt);
        complete_unit(rank, layer);
        cursors_[rank].data.reset();
    }
}

void Passes::add_backward(std::uint32_t stage, std::uint32_t layer, std::uint32_t micro_batch) {
    const PlacedLayer& placed = arrangement_.layers[layer];
    const std::vector<Round>& rounds = placed.exchanges.backward_rounds;
    const bool apart = weights_apart(plan_, placed.exchanges);
    const bool hides = plan_.hides_input_gradients();
    const auto weights = begin_backward(stage, layer, micro_batch);
    const Arrived outputs = add_exchanges(stage, placed.exchanges.before_backward, layer, micro_batch);
    std::vector<std::optional<TaskId>> gradients(built_), inputs(built_);
    for (std::uint32_t index = 0; index < built_; ++index) gradients[index] = cursors_[rank_of(stage, index)].data;
    add_exchanges(stage, placed.exchanges.beside_backward, layer, micro_batch);
    for (std::uint32_t index = 0; index < built_; ++index) {
        const std::uint32_t rank = rank_of(stage, index);
        Cursor& cursor = cursors_[rank];
        const LayerTime& time = placed.time_of(index);
        const double core_s = rounds.empty() ? 0 : time.core_backward_s;
        const double all_s = apart ? time.input_gradient_s - core_s : time.backward_s();
        const double first_s = std::max(0.0, all_s - placed.chunked.backward_s());
        if (apart && hides && !placed.exchanges.beside_backward.empty())
            inputs[index] = std::exchange(cursor.data, gradients[index]);
        add_arriving(rank, outputs, Phase::backward, layer, micro_batch, placed.chunked.outputs_backward_s,
                     weights[index]);
        cursor.data = compute(rank, Phase::backward, layer, micro_batch, first_s, weights[index]);
        ranks_[rank].gradients[layer] = *cursor.data;
        add_rounds(rank, rounds, Phase::backward, layer, micro_batch, core_s);
        std::optional<TaskId> pass = cursor.data;
        if (apart)
            ranks_[rank].gradients[layer] =
                compute(rank, Phase::backward, layer, micro_batch, time.weight_gradient_s, inputs[index]);
        if (!hides) pass = ranks_[rank].gradients[layer];
        if (placed.compressed.encode_s > 0)
            ranks_[rank].gradients[layer] =
                compute(rank, Phase::encode, layer, micro_batch, placed.compressed.encode_s, std::nullopt);
        complete_unit(rank, layer);
        cursor.data = pass;
    }
    add_exchanges(stage, placed.exchanges.after_backward, layer, micro_batch);
}

void Passes::complete_unit(std::uint32_t rank, std::uint32_t layer) {
    const Segment& unit = arrangement_.layers[layer].unit;
    if (plan_.parallelism.sharding != Sharding::parameters || unit.first != layer) return;
    std::vector<TaskId>& gradients = ranks_[rank].gradients;
    std::fill(gradients.begin() + unit.first, gradients.begin() + unit.end, gradients[layer]);
}

void Passes::add_rounds(std::uint32_t rank, const std::vector<Round>& rounds, Phase phase, std::uint32_t layer,
                        std::uint32_t micro_batch, double core_s) {
    Cursor& cursor = cursors_[rank];
    std::optional<TaskId> beside;  // the computation of the previous round, beside its exchange
    for (const Round& round : rounds) {
        std::optional<TaskId> exchanged, computed;
        if (round.exchange) exchanged = add_exchange(rank, *round.exchange, layer, micro_batch);
        if (round.part > 0) computed = compute(rank, phase, layer, micro_batch, round.part * core_s, std::nullopt);
        if (exchanged && beside) graph_.depend(*exchanged, *beside);
        cursor.data = exchanged ? exchanged : computed;
        beside = exchanged ? computed : std::nullopt;
    }
    if (beside) cursor.data = compute(rank, phase, layer, micro_batch, 0, std::nullopt);
}

Passes::Arrived Passes::add_exchanges(std::uint32_t stage, const std::vector<ActivationExchange>& exchanges,
                                      std::uint32_t layer, std::uint32_t micro_batch) {
    Arrived arrived;
    for (const ActivationExchange& exchange : exchanges)
        for (std::uint32_t index = 0; index < built_; ++index) {
            const std::uint32_t rank = rank_of(stage, index);
            for (std::uint32_t chunk = 0; chunk < exchange.chunks; ++chunk) {
                cursors_[rank].data = add_exchange(rank, exchange, layer, micro_batch);
                if (exchange.chunks > 1) arrived[rank].push_back(*cursors_[rank].data);
            }
        }
    return arrived;
}

void Passes::add_arriving(std::uint32_t rank, const Arrived& arrived, Phase phase, std::uint32_t layer,
                          std::uint32_t micro_batch, double chunk_s, const std::optional<TaskId>& weights) {
    const auto chunks = arrived.find(rank);
    if (chunks == arrived.end()) return;
    for (const TaskId chunk : chunks->second) {
        cursors_[rank].data = chunk;
        add_chunk(rank, phase, layer, micro_batch, chunk_s, weights);
    }
}

void Passes::add_leaving(std::uint32_t stage, const ActivationExchange& exchange, Phase phase, std::uint32_t layer,
                         std::uint32_t micro_batch, double chunk_s) {
    for (std::uint32_t index = 0; index < built_; ++index) {
        const std::uint32_t rank = rank_of(stage, index);
        std::optional<TaskId>& data = cursors_[rank].data;
        std::optional<TaskId> computed = data, exchanged;
        for (std::uint32_t chunk = 0; chunk < exchange.chunks; ++chunk) {
            data = computed;
            data = computed = add_chunk(rank, phase, layer, micro_batch, chunk_s, std::nullopt);
            exchanged = add_exchange(rank, exchange, layer, micro_batch);
        }
        data = exchanged;
        // The next gathering of weights waits for the whole pass; the batch is needed when the first one begins.
        std::vector<TaskId>& passes = ranks_[rank].computed;
        if (passes.size() > 1) passes.back() = *computed;
    }
}

TaskId Passes::add_exchange(std::uint32_t rank, const ActivationExchange& exchange, std::uint32_t layer,
                            std::uint32_t micro_batch) {
    const std::uint32_t stage = rank / arrangement_.stage_ranks, index = rank % arrangement_.stage_ranks;
    const std::uint32_t first = exchange.groups.first(index);
    const auto [found, added] = exchanges_.try_emplace({&exchange, first});
    if (added)
        found->second = graph_.add_exchange(
            {exchange.algorithm,
             groups_.of(stage, exchange.groups, first),
             activation_channel,
             exchange.bytes_of(first),
             gamma_s_per_B_,
             {},
             exchange.between_neighbours() ? ExchangeClass::point_to_point : ExchangeClass::collective});
    Task task{open(rank, cursors_[rank].activations, StreamKind::activations), exchange.phase, layer};
    task.exchange = found->second;
    task.member = exchange.groups.member(index);
    task.micro_batch = micro_batch;
    return add(rank, task);
}

void Passes::add_send(std::uint32_t stage, std::uint32_t boundary, std::uint32_t micro_batch, bool forward) {
    for (std::uint32_t index = 0; index < built_; ++index) {
        const std::uint32_t rank = rank_of(stage, index);
        Task task{open(rank, cursors_[rank].send[forward], StreamKind::transfer), Phase::transfer,
                  arrangement_.first_layer[boundary + 1]};
        task.exchange = transfer(boundary, forward, index);
        task.micro_batch = micro_batch;
        const TaskId sent = add(rank, task);
        if (plan_.parallelism.pipeline.blocks()) cursors_[rank].sent = sent;
    }
}

}  // namespace syncline
