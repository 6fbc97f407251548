#include "sim/lowering/buckets.hpp"

#include <algorithm>

#include "sim/collective/program.hpp"
#include "sim/taskgraph/ticks.hpp"

namespace syncline {

namespace {

/// Returns true if a gradient still belongs to `bucket`, whose limit is `limit_bytes`.
bool joins(const Bucket& bucket, const Gradient& gradient, double release_s, double limit_bytes, const Fusion& fusion) {
    const bool fits = fusion.full == Full::before ? static_cast<double>(bucket.bytes + gradient.bytes) <= limit_bytes
                                                  : static_cast<double>(bucket.bytes) < limit_bytes;
    return same_ranks(bucket, gradient) && fits && (fusion.tick_s() == 0 || bucket.release_s == release_s);
}

/// Returns the bytes of the weights that belong to the first `bytes` of a bucket's gradients.
std::uint64_t weights_until(const Bucket& bucket, std::uint64_t bytes) {
    if (bucket.weight_bytes == bucket.bytes) return bytes;
    if (bytes == bucket.bytes) return bucket.weight_bytes;
    const double share = static_cast<double>(bytes) / static_cast<double>(bucket.bytes);
    return static_cast<std::uint64_t>(static_cast<double>(bucket.weight_bytes) * share);
}

}  // namespace

std::vector<Bucket> make_buckets(const std::vector<Gradient>& gradients, const Plan& plan) {
    std::vector<Bucket> buckets;
    for (const Gradient& gradient : gradients) {
        if (gradient.bytes == 0) continue;
        const double tick_s = plan.fusion.tick_s();
        const double release_s = tick_s > 0 ? next_tick(gradient.ready_s, tick_s) : gradient.ready_s;
        const bool first = buckets.size() == 1 && plan.fusion.first_bytes > 0;
        const double limit_bytes = first ? plan.fusion.first_bytes : plan.fusion.threshold_bytes;
        if (buckets.empty() || !joins(buckets.back(), gradient, release_s, limit_bytes, plan.fusion)) {
            Bucket& bucket = buckets.emplace_back();
            bucket.stage = gradient.stage;
            bucket.replicas = gradient.replicas;
            bucket.contributors = gradient.contributors;
            bucket.shards = gradient.shards;
        }
        Bucket& bucket = buckets.back();
        bucket.bytes += gradient.bytes;
        bucket.weight_bytes += gradient.weight_bytes;
        bucket.second_bytes += gradient.compressed.second_bytes;
        bucket.between_s += gradient.compressed.between_s;
        bucket.decode_s += gradient.compressed.decode_s;
        bucket.layers.push_back(gradient.layer);
        bucket.ready_s = gradient.ready_s;
        bucket.release_s = release_s;
    }
    return cut(buckets, plan.partition_bytes);
}

std::vector<double> ready_times(const std::vector<LayerTime>& times, double start_s, std::int64_t micro_batches,
                                Overlap overlap) {
    double now_s = start_s;
    for (const LayerTime& time : times) {
        now_s += static_cast<double>(micro_batches - 1) * (time.forward_s + time.backward_s());
        now_s += time.forward_s;
    }
    double backward_end_s = now_s;
    for (const LayerTime& time : times) backward_end_s += time.backward_s();
    std::vector<double> ready_s(times.size(), backward_end_s);
    if (overlap == Overlap::none) return ready_s;
    for (std::size_t layer = times.size(); layer-- > 0;) ready_s[layer] = now_s += times[layer].backward_s();
    return ready_s;
}

std::vector<Bucket> cut(const std::vector<Bucket>& buckets, double partition_bytes) {
    if (partition_bytes == 0) return buckets;
    const auto most = static_cast<std::uint64_t>(partition_bytes);
    std::vector<Bucket> pieces;
    for (const Bucket& bucket : buckets) {
        std::uint64_t left = bucket.bytes, weights = 0;
        std::uint32_t part = 0;
        do {
            Bucket& piece = pieces.emplace_back(bucket);
            piece.piece = part++;
            piece.bytes = std::min(left, most);
            left -= piece.bytes;
            const std::uint64_t until = weights_until(bucket, bucket.bytes - left);
            piece.weight_bytes = until - weights;
            weights = until;
            if (bucket.bytes > 0)
                piece.decode_s *= static_cast<double>(piece.bytes) / static_cast<double>(bucket.bytes);
        } while (left > 0);
    }
    return pieces;
}

std::vector<std::vector<ServerPart>> place(const std::vector<Bucket>& buckets, const Servers& servers) {
    const auto count = static_cast<std::uint32_t>(servers.count);
    std::vector<std::vector<ServerPart>> parts(buckets.size());
    std::vector<std::uint64_t> held(count, 0);
    for (std::size_t tensor = 0; tensor < buckets.size(); ++tensor) {
        const std::size_t bucket = buckets.size() - 1 - tensor;
        const std::uint64_t bytes = buckets[bucket].bytes;
        switch (servers.assignment) {
            case ServerAssignment::round_robin:
                parts[bucket] = {{static_cast<std::uint32_t>(tensor % count), bytes}};
                break;
            case ServerAssignment::greedy_bytes: {
                const auto least = std::min_element(held.begin(), held.end());
                *least += bytes;
                parts[bucket] = {{static_cast<std::uint32_t>(least - held.begin()), bytes}};
                break;
            }
            case ServerAssignment::sliced:
                for (std::uint32_t server = 0; server < count; ++server) {
                    parts[bucket].push_back({server, Partition{bytes, count}.size(server)});
                }
                break;
        }
    }
    return parts;
}

std::vector<BucketRun> bucket_runs(const std::vector<Bucket>& buckets) {
    std::vector<BucketRun> runs;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        if (b == 0 || !same_ranks(buckets[b], buckets[b - 1])) runs.push_back({b, b});
        runs.back().end = b + 1;
    }
    return runs;
}

std::vector<std::vector<std::uint32_t>> groups_of(const Bucket& bucket, const Grouping& grouping, const Plan& plan) {
    std::vector<std::vector<std::uint32_t>> groups;
    const auto stage_ranks = static_cast<std::uint32_t>(plan.stage_ranks());
    for (std::uint32_t index = 0; index < stage_ranks; ++index) {
        if (grouping.first(index) != index || index % bucket.replicas.stride >= bucket.contributors) continue;
        std::vector<std::uint32_t>& group = groups.emplace_back();
        for (std::uint32_t member = 0; member < grouping.size; ++member)
            group.push_back(bucket.stage * stage_ranks + grouping.index(index, member));
    }
    return groups;
}

}  // namespace syncline
