#include "sim/iteration/passes.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/collective/direct.hpp"
#include "sim/iteration/exchange.hpp"
#include "sim/iteration/operations.hpp"
#include "sim/lowering/gradient_sync.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/taskgraph/task_graph.hpp"

namespace syncline {

namespace {

class Passes {
public:
    Passes(TaskGraph& graph, const Lowered& training, const std::vector<ProcessId>& workers)
        : graph_(graph),
          plan_(training.plan),
          arrangement_(training.arrangement),
          workers_(workers),
          gamma_s_per_B_(gamma_of(reduction_Bps(training.cluster))),
          syncs_(gradient_syncs(plan_, arrangement_)),
          indices_(built_indices()),
          virtual_stages_(passes_of(training)),
          by_kind_(training.kinds.empty() ? std::vector<std::vector<VirtualStagePasses>>{} : passes_by_kind(training)),
          kind_of_rank_(training.kind_of_rank),
          ranks_(workers.size()),
          cursors_(workers.size()),
          pass_on_(std::make_shared<const DirectRooted>(DirectRooted::Operation::broadcast)) {
        for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
            if (!graph_.built(workers[rank])) continue;
            RankPasses& passes = ranks_[rank];
            passes.process = workers[rank];
            passes.compute = graph_.add_stream(workers[rank], StreamKind::compute);
            passes.forward.resize(arrangement_.layers.size());
            passes.gradients.resize(arrangement_.layers.size());
            cursors_[rank].outputs.resize(arrangement_.micro_batches, no_task);
        }
        const std::size_t boundaries = arrangement_.boundaries.size();
        for (auto& received : received_) received.resize(boundaries * arrangement_.micro_batches);
        for (std::uint32_t stage = 0; stage < arrangement_.stages; ++stage) {
            for (const bool forward : {true, false}) add_receives(stage, forward);
            const std::vector<Slot> order = slots(plan_.parallelism.pipeline, stage);
            for (std::size_t i = 0; i < order.size(); ++i) {
                if (order[i].paired) {
                    add_pair(stage, order[i], order[i + 1]);
                    ++i;
                } else {
                    add_slot(stage, order[i]);
                }
            }
        }
    }

    std::vector<RankPasses> ranks() && { return std::move(ranks_); }

private:
    /// State of a rank while its tasks are added.
    struct Cursor {
        StreamId activations = no_stream, weights = no_stream;
        /// Streams of gradients and of activations, on the way to the last stage and, where microbatches turn, back.
        StreamId send[2][2] = {{no_stream, no_stream}, {no_stream, no_stream}};
        StreamId receive[2][2] = {{no_stream, no_stream}, {no_stream, no_stream}};
        TaskId sent = no_task;          ///< the transfer that the pass waits for
        std::vector<TaskId> outputs;    ///< by microbatch: last pass whose output stays on the stage
        TaskId begun = no_task;         ///< the computation before the current unit's ...
        TaskId begun_before = no_task;  ///< ... and before that of the unit before it
    };
    using ByPlace = std::vector<TaskId>;  ///< a task, or no_task, on each rank of a stage that is built, in their order

    void add_receives(std::uint32_t stage, bool forward) {
        const std::uint32_t stages = arrangement_.stages;
        if (stages == 1) return;
        const bool turns = arrangement_.pipeline.turns();
        if (!turns) return add_receives(stage, forward, (stage + (forward ? stages - 1 : 1)) % stages);
        if (stage > 0) add_receives(stage, forward, stage - 1);
        if (stage + 1 < stages) add_receives(stage, forward, stage + 1);
    }

    void add_receives(std::uint32_t stage, bool forward, std::uint32_t sender) {
        // Receives are added in the order in which the other side sends.
        const auto last = static_cast<std::uint32_t>(arrangement_.boundaries.size());
        for (const Slot& slot : slots(plan_.parallelism.pipeline, sender)) {
            const std::uint32_t virtual_stage = arrangement_.pipeline.virtual_stage_of(slot.virtual_rank, sender);
            if (slot.forward != forward || slot.gradients == Gradients::weights) continue;
            if (virtual_stage == (forward ? last : 0)) continue;
            const std::uint32_t boundary = forward ? virtual_stage : virtual_stage - 1;
            if (arrangement_.stage_of(forward ? boundary + 1 : boundary) != stage) continue;
            ByPlace& received = received_[forward][boundary * arrangement_.micro_batches + slot.micro_batch];
            for (std::uint32_t at = 0; at < built(); ++at) {
                const std::uint32_t rank = rank_at(stage, at);
                StreamId& stream = cursors_[rank].receive[forward][on_way_back(boundary)];
                Task task{open(rank, stream, StreamKind::receive), Phase::transfer,
                          arrangement_.first_layer[boundary + 1]};
                task.exchange = transfer(boundary, forward, indices_[at]);
                task.member = 1;
                task.micro_batch = slot.micro_batch;
                received.push_back(graph_.add_task(task));
            }
        }
    }

    /// Returns whether microbatches pass from this virtual stage to the next one after they have turned.
    bool on_way_back(std::uint32_t boundary) const {
        return arrangement_.pipeline.turns() && boundary >= arrangement_.stages;
    }

    /// Returns whether this virtual stage and the next one are on different stages.
    bool crosses(std::uint32_t boundary) const {
        return arrangement_.stage_of(boundary) != arrangement_.stage_of(boundary + 1);
    }

    void add_slot(std::uint32_t stage, const Slot& slot) {
        const std::uint32_t virtual_stage = arrangement_.pipeline.virtual_stage_of(slot.virtual_rank, stage);
        if (slot.gradients == Gradients::weights) {
            Progress later = begin(virtual_stage, slot, ByPlace(built(), no_task));
            add_pass(stage, later);
            return;
        }
        Progress all = begin(virtual_stage, slot, input_of(stage, virtual_stage, slot));
        add_pass(stage, all);
        add_output(stage, virtual_stage, slot, output_of(all));
    }

    /// Adds two passes that run together: after each exchange of one the other goes on. Both begin when the inputs of
    /// both are there, and their outputs leave together. The backward pass goes first: experts are the last layer of a
    /// block, so that its first exchange overlaps with the attention of the forward pass.
    void add_pair(std::uint32_t stage, const Slot& forward, const Slot& backward) {
        const Slot* slots[] = {&backward, &forward};
        std::vector<Progress> passes;
        for (const Slot* slot : slots) {
            const std::uint32_t virtual_stage = arrangement_.pipeline.virtual_stage_of(slot->virtual_rank, stage);
            passes.push_back(begin(virtual_stage, *slot, input_of(stage, virtual_stage, *slot)));
        }
        passes[0].also = passes[1].input;
        passes[1].also = passes[0].input;
        while (!passes[0].done() || !passes[1].done())
            for (Progress& pass : passes) add_until_exchange(stage, pass);
        const ByPlace outputs[] = {output_of(passes[0]), output_of(passes[1])};
        for (int i = 0; i < 2; ++i) {
            const std::uint32_t virtual_stage = arrangement_.pipeline.virtual_stage_of(slots[i]->virtual_rank, stage);
            add_output(stage, virtual_stage, *slots[i], outputs[i], outputs[1 - i]);
        }
    }

    /// Passes on the output of a pass, which waits for `also`, too, if there is some.
    void add_output(std::uint32_t stage, std::uint32_t virtual_stage, const Slot& slot, const ByPlace& output,
                    const ByPlace& also = {}) {
        // A stage sends itself nothing: it already has the output of its other virtual stages.
        const bool last = slot.forward ? virtual_stage == arrangement_.boundaries.size() : virtual_stage == 0;
        if (!last && crosses(slot.forward ? virtual_stage : virtual_stage - 1))
            return add_send(stage, slot.forward ? virtual_stage : virtual_stage - 1, slot.micro_batch, slot.forward,
                            output, also);
        for (std::uint32_t at = 0; at < built(); ++at) {
            Cursor& cursor = cursors_[rank_at(stage, at)];
            cursor.outputs[slot.micro_batch] = output[at];
            cursor.sent = no_task;
        }
        if (virtual_stage == 0 && slot.releases() && slot.micro_batch + 1 < syncs_) end_micro_batch(stage);
    }

    /// Returns what a pass of this virtual stage begins with.
    ByPlace input_of(std::uint32_t stage, std::uint32_t virtual_stage, const Slot& slot) {
        const bool follows = slot.forward ? virtual_stage > 0 : virtual_stage < arrangement_.boundaries.size();
        ByPlace input(built(), no_task);
        if (!follows || !crosses(slot.forward ? virtual_stage - 1 : virtual_stage)) {
            if (follows || !slot.forward)
                for (std::uint32_t at = 0; at < built(); ++at)
                    input[at] = cursors_[rank_at(stage, at)].outputs[slot.micro_batch];
            return input;
        }
        const std::uint32_t boundary = slot.forward ? virtual_stage - 1 : virtual_stage;
        input = received_[slot.forward][boundary * arrangement_.micro_batches + slot.micro_batch];
        const Boundary& from = arrangement_.boundaries[boundary];
        const std::optional<ActivationExchange>& gathering = slot.forward ? from.activations : from.gradients;
        const std::uint32_t layer =
            arrangement_.first_layer[virtual_stage + (slot.forward ? 0 : 1)] - (slot.forward ? 0 : 1);
        for (std::uint32_t at = 0; gathering && at < built(); ++at)
            input[at] = add_exchange(rank_at(stage, at), *gathering, layer, slot.micro_batch, input[at], true);
        return input;
    }

    /// A pass whose operations are being added on the ranks of a stage.
    struct Progress {
        Progress(const PassProgram& program, std::uint32_t batch, ByPlace data)
            : pass(&program), micro_batch(batch), input(std::move(data)) {}

        const PassProgram* pass;
        std::vector<const PassProgram*> of_kind = {};  ///< the same with the times of each kind of ranks, if several
        std::uint32_t micro_batch;
        ByPlace input;
        ByPlace also = {};  ///< what its first operations wait for besides, if not empty
        std::vector<ByPlace> tasks = {};

        /// Returns the operation with the times of a kind of ranks.
        const Operation& times_of(std::size_t kind, std::size_t number) const {
            return (of_kind.empty() ? pass : of_kind[kind])->operations[number];
        }
        bool done() const { return tasks.size() == pass->operations.size(); }
        TaskId task_of(Operation::Number number, std::uint32_t at) const {
            if (number == Operation::input) return input[at];
            return number == Operation::nothing ? no_task : tasks[static_cast<std::size_t>(number)][at];
        }
    };

    Progress begin(std::uint32_t virtual_stage, const Slot& slot, ByPlace input) const {
        Progress progress(virtual_stages_[virtual_stage].of(slot), slot.micro_batch, std::move(input));
        for (const std::vector<VirtualStagePasses>& kind : by_kind_)
            progress.of_kind.push_back(&kind[virtual_stage].of(slot));
        return progress;
    }

    ByPlace output_of(const Progress& progress) const {
        ByPlace output(built());
        for (std::uint32_t at = 0; at < built(); ++at) output[at] = progress.task_of(progress.pass->output, at);
        return output;
    }

    /// Adds all operations of a pass.
    void add_pass(std::uint32_t stage, Progress& progress) {
        while (!progress.done()) add_until_exchange(stage, progress);
    }

    /// Adds the operations of a pass up to its next exchange.
    void add_until_exchange(std::uint32_t stage, Progress& progress) {
        const std::uint32_t micro_batch = progress.micro_batch;
        std::vector<ByPlace>& tasks = progress.tasks;
        while (!progress.done()) {
            const std::size_t number = tasks.size();
            const Operation& operation = progress.pass->operations[number];
            tasks.emplace_back(built(), no_task);
            const bool first = operation.after == Operation::input;
            for (std::uint32_t at = 0; at < built(); ++at) {
                const std::uint32_t rank = rank_at(stage, at);
                const TaskId data = progress.task_of(operation.after, at);
                TaskId& task = tasks[number][at];
                switch (operation.kind) {
                    case Operation::Kind::unit:
                        cursors_[rank].begun_before = std::exchange(cursors_[rank].begun, ranks_[rank].last_computed);
                        continue;
                    case Operation::Kind::gather:
                        // A rank without a part of the layer waits for the unit's other weights.
                        task = arrangement_.layers[operation.layer].has_part(indices_[at])
                                   ? add_gathering(rank, operation, micro_batch)
                                   : tasks[number - 1][at];
                        continue;
                    case Operation::Kind::exchange:
                        task = add_exchange(rank, *operation.exchange, operation.layer, micro_batch, data, first);
                        if (const TaskId issued = ranks_[rank].last_computed;
                            operation.exchange->synchronous && issued != no_task && issued != data)
                            graph_.depend(task, issued);
                        break;
                    case Operation::Kind::compute:
                        task = add_computation(rank, progress.times_of(kind_of(rank), number), operation, micro_batch,
                                               data);
                        break;
                }
                if (const TaskId also = progress.task_of(operation.also, at); also != no_task)
                    graph_.depend(task, also);
                if (first && !progress.also.empty() && progress.also[at] != no_task)
                    graph_.depend(task, progress.also[at]);
            }
            if (operation.kind == Operation::Kind::exchange) return;
        }
    }

    /// Adds the barrier at the end of a microbatch, on the ranks of a stage.
    void end_micro_batch(std::uint32_t stage) {
        for (std::uint32_t at = 0; at < built(); ++at) {
            RankPasses& passes = ranks_[rank_at(stage, at)];
            MicroBatchEnd& end = passes.ends.emplace_back();
            end.computed = passes.last_computed;
            end.gradients = passes.gradients;
            Task barrier{passes.compute, Phase::barrier};
            barrier.micro_batch = static_cast<std::uint32_t>(passes.ends.size()) - 1;
            end.barrier = graph_.add_task(barrier);
        }
    }

    std::size_t kind_of(std::uint32_t rank) const { return kind_of_rank_.empty() ? 0 : kind_of_rank_[rank]; }

    TaskId add_computation(std::uint32_t rank, const Operation& times, const Operation& operation,
                           std::uint32_t micro_batch, TaskId data) {
        RankPasses& passes = ranks_[rank];
        const std::uint32_t index = rank % arrangement_.stage_ranks;
        const PlacedLayer& layer = arrangement_.layers[operation.layer];
        double seconds = times.seconds;
        if (!times.by_member.empty()) seconds = times.by_member[layer.experts->group.member(index)];
        Task task{passes.compute, operation.phase, operation.layer, layer.has_part(index) ? seconds : 0};
        task.micro_batch = micro_batch;
        const TaskId id = add(rank, task, data, operation.after == Operation::input);
        if (times.varying_s > 0 && layer.has_part(index))
            graph_.vary(id, times.varying_s,
                        arrangement_.documents->row(operation.layer, index / layer.layout.replica(), micro_batch));
        if (passes.first_computed == no_task) passes.first_computed = id;
        passes.last_computed = id;
        if (operation.begins && micro_batch == 0 && operation.phase == Phase::forward)
            passes.forward[operation.layer] = id;
        for (std::uint32_t each = operation.completes.first; each < operation.completes.end; ++each)
            passes.gradients[each] = id;
        return id;
    }

    TaskId add_exchange(std::uint32_t rank, const ActivationExchange& exchange, std::uint32_t layer,
                        std::uint32_t micro_batch, TaskId data, bool first) {
        Task task = task_of(rank, exchange, layer, micro_batch, activation_channel, gamma_s_per_B_);
        task.stream = open(rank, cursors_[rank].activations, StreamKind::activations);
        return add(rank, task, data, first);
    }

    TaskId add_gathering(std::uint32_t rank, const Operation& operation, std::uint32_t micro_batch) {
        Task task = task_of(rank, *operation.exchange, operation.layer, micro_batch, weight_channel, 0);
        Cursor& cursor = cursors_[rank];
        task.stream = open(rank, cursor.weights, StreamKind::weights);
        const TaskId id = graph_.add_task(task);
        RankPasses& passes = ranks_[rank];
        Gathering& gathering = passes.gatherings.emplace_back(Gathering{operation.exchange->groups, id});
        if (cursor.begun_before == no_task) {
            passes.gathered.push_back(id);
            return id;
        }
        gathering.after = cursor.begun_before;
        if (!passes.ends.empty()) gathering.after = std::max(gathering.after, passes.ends.back().barrier);
        graph_.depend(id, gathering.after);
        return id;
    }

    void add_send(std::uint32_t stage, std::uint32_t boundary, std::uint32_t micro_batch, bool forward,
                  const ByPlace& output, const ByPlace& also) {
        for (std::uint32_t at = 0; at < built(); ++at) {
            const std::uint32_t rank = rank_at(stage, at);
            StreamId& stream = cursors_[rank].send[forward][on_way_back(boundary)];
            Task task{open(rank, stream, StreamKind::transfer), Phase::transfer,
                      arrangement_.first_layer[boundary + 1]};
            task.exchange = transfer(boundary, forward, indices_[at]);
            task.micro_batch = micro_batch;
            const TaskId sent = add(rank, task, output[at], false);
            if (!also.empty()) graph_.depend(sent, also[at]);
            if (plan_.parallelism.pipeline.blocks()) cursors_[rank].sent = sent;
        }
    }

    /// Adds a task to a stream of a rank, after the data that it works on. `first`: these are the input of the pass,
    /// which begins when what was sent before has arrived.
    TaskId add(std::uint32_t rank, const Task& task, TaskId data, bool first) {
        const Cursor& cursor = cursors_[rank];
        const TaskId id = graph_.add_task(task);
        RankPasses& passes = ranks_[rank];
        // Tasks on the same stream are already in order.
        const auto wait_for = [&](TaskId before) {
            if (before != no_task && graph_.tasks()[before].stream != task.stream) graph_.depend(id, before);
        };
        wait_for(data);
        if (first) wait_for(cursor.sent);
        if (!passes.ends.empty() && (data == no_task || data < passes.ends.back().barrier))
            wait_for(passes.ends.back().barrier);
        if (data == no_task && passes.first_computed == no_task && task.stream != passes.compute)
            passes.inputs.push_back(id);
        return id;
    }

    StreamId open(std::uint32_t rank, StreamId& stream, StreamKind kind) {
        if (stream == no_stream) stream = graph_.add_stream(workers_[rank], kind);
        return stream;
    }

    /// Returns the group of a stage that begins with the index `first`.
    GroupId group(std::uint32_t stage, const Grouping& grouping, std::uint32_t first) {
        const auto [found, added] = groups_.try_emplace({stage, grouping, first});
        if (added) {
            std::vector<ProcessId> members;
            for (std::uint32_t member = 0; member < grouping.size; ++member)
                members.push_back(workers_[rank_of(stage, grouping.index(first, member))]);
            found->second = graph_.add_group(std::move(members));
        }
        return found->second;
    }

    /// Returns the task of an exchange on a rank, without its stream.
    Task task_of(std::uint32_t rank, const ActivationExchange& exchange, std::uint32_t layer, std::uint32_t micro_batch,
                 std::uint32_t channel, double gamma_s_per_B) {
        const std::uint32_t stage = rank / arrangement_.stage_ranks, index = rank % arrangement_.stage_ranks;
        const std::uint32_t first = exchange.groups.first(index);
        const auto [found, added] = exchanges_.try_emplace({&exchange, first});
        if (added)
            found->second = graph_.add_exchange(
                {exchange.algorithm, group(stage, exchange.groups, first), channel, exchange.bytes_of(first),
                 gamma_s_per_B, exchange.protocol,
                 exchange.between_neighbours() ? ExchangeClass::point_to_point : ExchangeClass::collective});
        Task task{no_stream, exchange.phase, layer};
        task.exchange = found->second;
        task.member = exchange.groups.member(index);
        task.micro_batch = micro_batch;
        return task;
    }

    ExchangeId transfer(std::uint32_t boundary, bool forward, std::uint32_t index) {
        const auto [found, added] = transfers_.try_emplace({boundary, forward, index});
        if (added) {
            const std::uint32_t before = arrangement_.stage_of(boundary), behind = arrangement_.stage_of(boundary + 1);
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

    std::uint32_t rank_of(std::uint32_t stage, std::uint32_t index) const {
        return stage * arrangement_.stage_ranks + index;
    }

    std::vector<std::uint32_t> built_indices() const {
        std::vector<std::uint32_t> indices;
        for (std::uint32_t index = 0; index < arrangement_.stage_ranks; ++index)
            if (graph_.built(workers_[index])) indices.push_back(index);
        return indices;
    }

    /// Returns the number of ranks of each stage that are built.
    std::uint32_t built() const { return static_cast<std::uint32_t>(indices_.size()); }
    std::uint32_t rank_at(std::uint32_t stage, std::uint32_t at) const { return rank_of(stage, indices_[at]); }

    TaskGraph& graph_;
    const Plan& plan_;
    const Arrangement& arrangement_;
    const std::vector<ProcessId>& workers_;
    const double gamma_s_per_B_;
    const std::uint32_t syncs_;                 ///< gradient_syncs()
    const std::vector<std::uint32_t> indices_;  ///< in their stage, of the ranks that are built
    const std::vector<VirtualStagePasses> virtual_stages_;
    /// With several kinds of ranks, the same with the times of each kind.
    const std::vector<std::vector<VirtualStagePasses>> by_kind_;
    const std::vector<std::uint32_t>& kind_of_rank_;
    std::vector<RankPasses> ranks_;
    std::vector<Cursor> cursors_;
    /// By stage, grouping and first index: each is added to the graph once.
    std::map<std::tuple<std::uint32_t, Grouping, std::uint32_t>, GroupId> groups_;
    std::map<std::pair<const void*, std::uint32_t>, ExchangeId> exchanges_;
    /// received_[forward][boundary · microbatches + microbatch][place]; boundary i follows virtual stage i.
    std::vector<ByPlace> received_[2];
    std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, ExchangeId> transfers_;
    std::shared_ptr<const CollectiveAlgorithm> pass_on_;
};

}  // namespace

std::vector<RankPasses> add_passes(TaskGraph& graph, const Lowered& training, const std::vector<ProcessId>& workers) {
    return Passes(graph, training, workers).ranks();
}

}  // namespace syncline
