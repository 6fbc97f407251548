#include "sim/iteration/gradient_exchange.hpp"

#include <algorithm>
#include <iterator>

#include "sim/lowering/gradient_sync.hpp"

namespace syncline {

void GradientExchange::sync_micro_batches() {
    const std::uint32_t stage_ranks = training_.arrangement.stage_ranks;
    for (std::size_t end = 0; end < passes_.front().ends.size(); ++end) {
        Ready ready(training_.buckets.size(), std::vector<TaskId>(workers_.size(), no_task));
        for (std::size_t b = 0; b < ready.size(); ++b) {
            const Bucket& bucket = training_.buckets[b];
            for (std::uint32_t rank = bucket.stage * stage_ranks; rank < (bucket.stage + 1) * stage_ranks; ++rank) {
                if (!graph_.built(workers_[rank])) continue;
                const MicroBatchEnd& of = passes_[rank].ends[end];
                ready[b][rank] =
                    training_.plan.overlap == Overlap::none ? of.computed : of.gradients[bucket.layers.back()];
            }
        }
        const Arrivals results = last_of(graph_, reduce(ready, static_cast<std::uint32_t>(end)));
        for (std::size_t rank = 0; rank < workers_.size(); ++rank)
            for (const Arrival& arrival : results.own[rank])
                graph_.depend(passes_[rank].ends[end].barrier, arrival.task);
    }
}

Arrivals GradientExchange::reduce(const Ready& ready, std::uint32_t micro_batch) {
    const bool gossip = training_.plan.exchange == ExchangeKind::gossip;
    Arrivals results{{}, std::vector<std::vector<Arrival>>(workers_.size())};
    Ready after = ready;
    for (const bool apart : {false, true}) {
        std::vector<Collective> collectives;
        std::vector<Grouping> among;
        for (const std::vector<BucketExchange>& exchanges : training_.reductions) {
            Collective collective;
            collective.kind = gossip ? ExchangeClass::point_to_point : ExchangeClass::collective;
            collective.tag = apart ? shard_channel : gradient_channel;
            collective.micro_batch = micro_batch;
            for (const BucketExchange& exchange : exchanges) {
                if (exchange.apart != apart) continue;
                collective.links.push_back(
                    {exchange.bytes, exchange.chosen.algorithm, exchange.chosen.protocol, exchange.before_s});
                if (collective.links.size() == 1) among.push_back(exchange.among);
            }
            if (!collective.links.empty()) collectives.push_back(std::move(collective));
        }
        if (collectives.empty()) break;
        const bool agree = training_.plan.parallelism.sharding == Sharding::none;
        Arrivals own{{}, std::vector<std::vector<Arrival>>(workers_.size())};
        add_runs(collectives, among, &after, agree, apart ? shard_streams_ : streams_, own);
        after = tasks_of(own);
        if (apart)
            reduced_ = after;
        else
            order_beside_gatherings(ready, own);
        for (std::size_t rank = 0; rank < workers_.size(); ++rank)
            results.own[rank].insert(results.own[rank].end(), own.own[rank].begin(), own.own[rank].end());
    }
    return results;
}

void GradientExchange::gather(const std::vector<TaskId>& stepped, Arrivals& results) {
    if (training_.gatherings.empty()) return;
    std::vector<Collective> collectives;
    std::vector<Grouping> among;
    for (const BucketExchange& gathering : training_.gatherings) {
        collectives.emplace_back(gathering.bytes, gathering.chosen.algorithm);
        among.push_back(gathering.among);
    }
    Ready updated = reduced_;
    if (std::ranges::any_of(stepped, [](TaskId task) { return task != no_task; }))
        updated.assign(training_.buckets.size(), stepped);
    add_runs(collectives, among, updated.empty() ? nullptr : &updated, false, streams_, results);
}

std::vector<std::vector<Arrival>> GradientExchange::gather_before_forward() {
    Streams streams;
    std::vector<std::vector<Arrival>> gathered(workers_.size());
    for (std::size_t b = training_.gatherings.size(); b-- > 0;) {
        const Bucket& bucket = training_.buckets[b];
        for (const std::vector<std::uint32_t>& group : built_groups(bucket, bucket.shards)) {
            std::vector<ProcessId> members;
            for (const std::uint32_t rank : group) members.push_back(workers_[rank]);
            const Chosen& chosen = training_.gatherings[b].chosen;
            const ExchangeId exchange = graph_.add_exchange(
                {chosen.algorithm, graph_.add_group(members), weight_channel, bucket.weight_bytes, 0, chosen.protocol});
            for (std::uint32_t member = 0; member < group.size(); ++member) {
                const std::uint32_t rank = group[member];
                const StreamId stream = stream_of(rank, streams, StreamKind::weights);
                if (stream == no_stream) continue;
                gathered[rank].push_back(
                    {static_cast<std::uint32_t>(b),
                     graph_.add_task({stream, Phase::weights, bucket.layers.back(), 0, exchange, member})});
            }
        }
    }
    return gathered;
}

/// Returns the groups of a bucket with a rank that is built.
std::vector<std::vector<std::uint32_t>> GradientExchange::built_groups(const Bucket& bucket,
                                                                       const Grouping& among) const {
    std::vector<std::vector<std::uint32_t>> groups = groups_of(bucket, among, training_.plan);
    std::erase_if(groups, [&](const std::vector<std::uint32_t>& group) {
        return std::ranges::none_of(group, [&](std::uint32_t rank) { return graph_.built(workers_[rank]); });
    });
    return groups;
}

/// Returns the tasks of the arrivals by bucket and rank.
Ready GradientExchange::tasks_of(const Arrivals& arrivals) const {
    Ready tasks(training_.buckets.size(), std::vector<TaskId>(workers_.size(), no_task));
    for (std::size_t rank = 0; rank < workers_.size(); ++rank)
        for (const Arrival& arrival : arrivals.own[rank]) tasks[arrival.bucket][rank] = arrival.task;
    return tasks;
}

/// Orders the exchanges of gradients and the gatherings of weights of one group as they are issued: what is
/// gathered for the next unit goes before the gradients of a unit, what is gathered for later ones after them.
void GradientExchange::order_beside_gatherings(const Ready& ready, const Arrivals& exchanged) {
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
        const std::vector<Gathering>& gatherings = passes_[rank].gatherings;
        if (gatherings.empty()) continue;
        for (const auto& [bucket, task] : exchanged.own[rank]) {
            const TaskId computed = ready[bucket][rank];
            const Grouping among = training_.buckets[bucket].shards;
            const auto earlier = [&](const Gathering& one) { return one.after == no_task || one.after < computed; };
            const auto alike = [&](const Gathering& one) { return one.among == among; };
            const auto later = std::ranges::partition_point(gatherings, earlier);
            const auto next = std::find_if(later, gatherings.end(), alike);
            if (next != gatherings.end()) {
                graph_.depend(next->task, task);
                hold_up(rank, *next, task);
            }
            const auto last = std::find_if(std::make_reverse_iterator(later), gatherings.rend(), alike);
            if (last != gatherings.rend()) graph_.depend(task, last->task);
        }
    }
}

/// With one queue, the computation that is issued after a gathering, that of the unit before its own, waits for what
/// that waits for: see DeviceQueues.
void GradientExchange::hold_up(std::size_t rank, const Gathering& gathering, TaskId before) {
    if (training_.plan.parallelism.device_queues != DeviceQueues::one || gathering.after == no_task) return;
    TaskId behind = gathering.after + 1;  // at the latest that of the gathered unit
    while (graph_.tasks()[behind].stream != passes_[rank].compute) ++behind;
    graph_.depend(behind, before);
}

/// Returns the rank's stream of these, no_stream if the rank is not built.
StreamId GradientExchange::stream_of(std::uint32_t rank, Streams& streams, StreamKind kind) {
    if (!graph_.built(workers_[rank])) return no_stream;
    const auto [found, added] = streams.try_emplace(rank);
    if (added) found->second = graph_.add_stream(workers_[rank], kind);
    return found->second;
}

/// `ready`: null if the order of the streams is the only dependency. `among`: the groups of each bucket.
/// `agree`: the ranks of each group agree on the order of its buckets.
void GradientExchange::add_runs(const std::vector<Collective>& collectives, const std::vector<Grouping>& among,
                                const Ready* ready, bool agree, Streams& rank_streams, Arrivals& results) {
    for (const auto& [first, end] : bucket_runs(training_.buckets)) {
        const std::vector<Collective> some(collectives.begin() + static_cast<std::ptrdiff_t>(first),
                                           collectives.begin() + static_cast<std::ptrdiff_t>(end));
        const Bucket& bucket = training_.buckets[first];
        const std::span<const Bucket> run(training_.buckets.begin() + static_cast<std::ptrdiff_t>(first), end - first);
        const Coordination coordination = agree ? coordinate(run, training_.plan, first) : Coordination{};
        for (const std::vector<std::uint32_t>& group : built_groups(bucket, among[first])) {
            std::vector<ProcessId> members;
            std::vector<StreamId> streams;
            Ready members_ready(ready ? end - first : 0);
            for (const std::uint32_t rank : group) {
                members.push_back(workers_[rank]);
                streams.push_back(stream_of(rank, rank_streams, StreamKind::exchange));
                for (std::size_t b = 0; b < members_ready.size(); ++b)
                    members_ready[b].push_back((*ready)[first + b][rank]);
            }
            const Arrivals some_results =
                add_collectives(graph_, members, streams, some, members_ready, training_.cluster, coordination,
                                static_cast<std::uint32_t>(first));
            for (std::size_t member = 0; member < group.size(); ++member)
                for (const Arrival& arrival : some_results.own[member]) results.own[group[member]].push_back(arrival);
        }
    }
}

}  // namespace syncline
