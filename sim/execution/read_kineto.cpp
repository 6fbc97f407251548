#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sim/base/utf8.hpp"
#include "sim/execution/kineto_profile.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

using Profile = KinetoProfile;
using Number = std::uint32_t;

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// The nodes of a rank: those of one step of its profile, each after those it depends on. Groups are the profile's.
class RankNodes {
public:
    RankNodes(const Profile& profile, const std::optional<Profile::Step>& step, TraceBuilder& builder)
        : profile_(profile), builder_(builder) {
        if (step) window_ = *step;
        find_calls();
        choose_works();
        choose_waits();
        add_in_order();
        note_overlap();
    }

    const ExecutionTrace& nodes() const { return nodes_; }
    /// Sequence numbers of the exchanges, by node.
    const std::map<Number, std::uint64_t>& sequences() const { return sequences_; }

private:
    struct Work : Profile::Work {
        std::int64_t launched = 0;
        Number call = Profile::none;  ///< index into calls_
        Number node = Profile::none;
        bool waits = true;  ///< may wait for other streams
    };

    struct Call : Profile::Call {
        Number node = Profile::none;
        bool launches = false, waits = false;
        Number copies = Profile::none;  ///< index into works_: the call lasts until that copy is done
    };

    /// Works of a stream, in their order.
    struct Stream {
        std::vector<Number> works;
        std::size_t ended = 0;  ///< number of those that have ended
        /// By other stream: number of its works for which a work of this one has waited.
        std::map<Number, std::size_t> waited;
        Number last = Profile::none;                                  ///< node of the work that was added last
        std::int64_t end = std::numeric_limits<std::int64_t>::min();  ///< of all that were added
    };

    bool in_window(std::int64_t at) const { return at >= window_.begin && at < window_.end; }

    void find_calls() {
        for (const Profile::Call& call : profile_.calls) calls_.push_back({call});
        std::ranges::stable_sort(calls_, {}, [](const Call& call) { return std::pair(call.begin, call.end); });
        for (Number i = 0; i < calls_.size(); ++i)
            if (calls_[i].correlation != 0) by_correlation_.try_emplace(calls_[i].correlation, i);
    }

    /// Takes what was launched in the step, or began in it if its launch is unknown.
    void choose_works() {
        std::vector<Number> streams(profile_.streams, Profile::none);
        for (const Profile::Work& from : profile_.works) {
            Work work{from};
            if (const auto call = by_correlation_.find(work.correlation); call != by_correlation_.end())
                work.call = call->second;
            work.launched = work.call == Profile::none ? work.begin : calls_[work.call].begin;
            if (!in_window(work.launched)) continue;
            works_.push_back(work);
        }
        if (works_.empty())
            throw TraceError(profile_.works.empty()
                                 ? "it has no kernels: the profile may be of the processor alone"
                                 : fmt::format("ProfilerStep#{} has launched no kernels", window_.number));
        std::ranges::stable_sort(works_, {}, [](const Work& work) { return std::pair(work.begin, work.end); });
        for (Number i = 0; i < works_.size(); ++i) {
            Number& stream = streams[works_[i].stream];
            if (stream == Profile::none) {
                stream = static_cast<Number>(streams_.size());
                streams_.emplace_back();
            }
            works_[i].stream = stream;
            streams_[stream].works.push_back(i);
            if (works_[i].call == Profile::none) continue;
            Call& call = calls_[works_[i].call];
            call.launches = true;
            if (works_[i].copies && call.end >= works_[i].end) call.copies = i;
        }
        stream_of_ = std::move(streams);
        if (profile_.devices > 1) builder_.remark("kernels of several devices run on one");
    }

    /// Returns the number of works of a stream that were launched before a time.
    std::size_t launched_before(Number stream, std::int64_t time) const {
        const std::vector<Number>& works = streams_[stream].works;
        return static_cast<std::size_t>(
            std::ranges::lower_bound(works, time, {}, [&](Number work) { return works_[work].launched; }) -
            works.begin());
    }

    /// Decides which works wait for other streams, and for which ones if the profile says it.
    void choose_waits() {
        if (!profile_.waits.empty()) {
            for (Work& work : works_) work.waits = false;
            for (const Profile::Wait& wait : profile_.waits) choose_wait(wait);
            return builder_.remark("kernels wait for other streams where cuda_sync events say it");
        }
        const bool called =
            std::ranges::any_of(calls_, [](const Call& call) { return call.kind == Profile::Call::Kind::wait_event; });
        if (!called)
            return builder_.remark(
                "the profile does not say which kernels wait for exchanges: each waits for what had ended on other "
                "streams before it began; times may be too long, with too little overlap");
        find_called_waits();
        builder_.remark(
            "the profile does not say what kernels wait for: exchanges, and kernels that were launched after "
            "cudaStreamWaitEvent, wait for what had ended on other streams before they began; times may be too long");
    }

    void choose_wait(const Profile::Wait& wait) {
        const auto time_of = [&](std::uint64_t correlation, std::int64_t otherwise) {
            const auto call = by_correlation_.find(correlation);
            return call == by_correlation_.end() ? otherwise : calls_[call->second].begin;
        };
        const std::int64_t at = time_of(wait.correlation, wait.at);
        if (wait.on == Profile::none || wait.on == wait.stream || !in_window(at)) return;
        const Number stream = stream_of_[wait.stream], other = stream_of_[wait.on];
        if (stream == Profile::none || other == Profile::none) return;
        const std::size_t from = launched_before(stream, at);
        const std::size_t count = launched_before(other, time_of(wait.recorded, at));
        if (from == streams_[stream].works.size() || count == 0) return;
        said_[streams_[stream].works[from]].push_back(streams_[other].works[count - 1]);
    }

    /// ProcessGroupNCCL calls cudaStreamWaitEvent before it launches an exchange, and Work::wait() before the launch of
    /// the kernels that need it, maybe by another thread.
    void find_called_waits() {
        std::uint64_t all = 0;                                  // calls of all threads
        std::unordered_map<std::uint64_t, std::uint64_t> seen;  // by thread: those before its last launch
        std::vector<bool> exchanges(calls_.size(), false);
        for (const Work& work : works_)
            if (work.call != Profile::none && work.exchange != Profile::none) exchanges[work.call] = true;
        for (Number i = 0; i < calls_.size(); ++i) {
            if (calls_[i].kind == Profile::Call::Kind::wait_event) ++all;
            if (!calls_[i].launches) continue;
            std::uint64_t& before = seen[calls_[i].thread];
            calls_[i].waits = all > before;
            before = exchanges[i] ? std::min(before + 1, all) : all;
        }
        for (Work& work : works_)
            if (work.call != Profile::none && work.exchange == Profile::none) work.waits = calls_[work.call].waits;
    }

    /// Something that happens at a time: the processor has waited, it launches, or work begins on the device.
    struct Moment {
        enum class What : std::uint8_t { waited, launch, work };
        std::int64_t at;
        What what;
        Number index;
        auto operator<=>(const Moment&) const = default;
    };

    void add_in_order() {
        using What = Moment::What;
        std::vector<Moment> moments;
        std::int64_t first = window_.begin;
        for (Number i = 0; i < calls_.size(); ++i) {
            const Call& call = calls_[i];
            const bool synchronizes = call.kind == Profile::Call::Kind::synchronize && in_window(call.begin);
            if (!call.launches && !synchronizes) continue;
            if (moments.empty() && window_.end == never) first = call.begin;
            if (call.launches) moments.push_back({call.begin, What::launch, i});
            if (synchronizes || call.copies != Profile::none) moments.push_back({call.end, What::waited, i});
        }
        for (Number i = 0; i < works_.size(); ++i) moments.push_back({works_[i].begin, What::work, i});
        std::ranges::sort(moments);
        busy_until_ = first;
        for (const Moment& moment : moments) {
            for (; !running_.empty() && running_.top().first <= moment.at; running_.pop())
                ++streams_[running_.top().second].ended;
            after_.clear();
            switch (moment.what) {
                case What::waited:
                    add_waited(calls_[moment.index]);
                    break;
                case What::launch:
                    add_launch(calls_[moment.index]);
                    break;
                case What::work:
                    add_work(moment.index);
                    break;
            }
        }
    }

    Number add(TraceNode node) {
        std::ranges::sort(after_);
        after_.erase(std::unique(after_.begin(), after_.end()), after_.end());
        return nodes_.add(node, after_);
    }

    /// Adds what the processor does until a time: it has been busy since the last call.
    void add_busy(std::int64_t until) {
        TraceNode node{.kind = NodeKind::host, .stream = host_stream, .name = host_name_};
        node.seconds = static_cast<double>(std::max<std::int64_t>(until - busy_until_, 0)) * 1e-9;
        busy_until_ = std::max(busy_until_, until);
        if (host_ != Profile::none) after_.push_back(host_);
        host_ = add(node);
    }

    void add_launch(Call& call) {
        add_busy(call.copies == Profile::none ? call.end : call.begin);
        call.node = host_;
    }

    void add_waited(const Call& call) {
        if (call.copies == Profile::none) add_busy(call.begin);
        busy_until_ = std::max(busy_until_, call.end);
        after_.assign(host_ == Profile::none ? 0 : 1, host_);
        if (call.copies != Profile::none) {
            if (works_[call.copies].node != Profile::none) after_.push_back(works_[call.copies].node);
        } else {
            for (Number stream = 0; stream < streams_.size(); ++stream)
                if (const std::size_t count = std::min(streams_[stream].ended, launched_before(stream, call.begin));
                    count > 0)
                    after_.push_back(works_[streams_[stream].works[count - 1]].node);
        }
        host_ = add({.kind = NodeKind::nothing});
    }

    void add_work(Number index) {
        Work& work = works_[index];
        Stream& stream = streams_[work.stream];
        if (stream.last != Profile::none) after_.push_back(stream.last);
        if (work.call != Profile::none) {
            if (calls_[work.call].node != Profile::none)
                after_.push_back(calls_[work.call].node);
            else
                builder_.note("kernels that began before their launch, by the profile's clocks, do not wait for it");
        }
        if (work.waits) wait_for_others(work, stream);
        if (const auto said = said_.find(index); said != said_.end())
            for (const Number other : said->second) {
                if (works_[other].node != Profile::none && works_[other].end <= work.begin)
                    after_.push_back(works_[other].node);
                else
                    builder_.note("waits for work that ended later, by the profile's clocks, are left out");
            }
        TraceNode node{.stream = work.stream, .name = work.name};
        node.seconds = static_cast<double>(work.end - work.begin) * 1e-9;
        node.kind = work.copies ? NodeKind::copy : NodeKind::compute;
        const Profile::Exchange* const exchange =
            work.exchange == Profile::none ? nullptr : &profile_.exchanges[work.exchange];
        if (exchange != nullptr && !exchange->operation) {
            node.kind = NodeKind::copy;
            builder_.note(
                "exchanges of which the profile says no size, group or collective, as sends and receives, take their "
                "recorded times, which contain waiting");
        } else if (exchange != nullptr) {
            node.kind = NodeKind::collective;
            node.seconds = 0;
            node.operation = *exchange->operation;
            node.bytes = exchange->bytes;
            node.group = exchange->group;
            builder_.note("recorded durations of exchanges, which contain waiting, are left out");
        }
        work.node = stream.last = add(node);
        stream.end = std::max(stream.end, work.end);
        running_.emplace(stream.end, work.stream);
        if (exchange != nullptr && exchange->operation && exchange->sequence)
            sequences_.emplace(work.node, *exchange->sequence);
    }

    void wait_for_others(const Work& work, Stream& stream) {
        for (Number other = 0; other < streams_.size(); ++other) {
            std::size_t count = streams_[other].ended;
            std::size_t& waited = stream.waited[other];
            if (other == work.stream || count <= waited) continue;
            // What is launched later is not waited for.
            if (works_[streams_[other].works[count - 1]].launched > work.launched)
                count = std::min(count, launched_before(other, work.launched));
            if (count <= waited) continue;
            waited = count;
            after_.push_back(works_[streams_[other].works[count - 1]].node);
        }
    }

    /// Kernels of several streams run one at a time in the replay.
    void note_overlap() {
        std::int64_t sum = 0, together = 0, until = std::numeric_limits<std::int64_t>::min();
        for (const Work& work : works_) {
            if (work.copies || work.exchange != Profile::none) continue;
            sum += work.end - work.begin;
            together += work.end - std::min(work.end, std::max(work.begin, until));
            until = std::max(until, work.end);
        }
        constexpr double little = 1e-3;
        if (static_cast<double>(sum - together) > little * static_cast<double>(sum))
            builder_.remark(
                fmt::format("kernels of different streams run one at a time; {:.3g} % of their time overlapped",
                            100 * static_cast<double>(sum - together) / static_cast<double>(sum)));
    }

    static constexpr Number host_stream = 0;
    const Profile& profile_;
    TraceBuilder& builder_;
    const Number host_name_ = builder_.name("launch");
    Profile::Step window_{0, std::numeric_limits<std::int64_t>::min(), never};
    std::vector<Call> calls_;  ///< sorted by time
    std::unordered_map<std::uint64_t, Number> by_correlation_;
    std::vector<Work> works_;  ///< sorted by time
    std::vector<Stream> streams_;
    std::vector<Number> stream_of_;                         ///< index into streams_, by the profile's number
    std::unordered_map<Number, std::vector<Number>> said_;  ///< works that a work waits for
    ExecutionTrace nodes_;
    std::map<Number, std::uint64_t> sequences_;
    std::vector<Number> after_;
    /// Works that have been added and not ended: their ends and streams, the earliest first.
    std::priority_queue<std::pair<std::int64_t, Number>, std::vector<std::pair<std::int64_t, Number>>, std::greater<>>
        running_;
    std::int64_t busy_until_ = 0;
    Number host_ = Profile::none;  ///< the processor's last node
};

/// Returns the step to replay: the wanted one, or the middle one; nothing if the profile has no steps.
std::optional<Profile::Step> step_of(const Profile& profile, const std::optional<std::uint64_t>& wanted) {
    const std::vector<Profile::Step>& steps = profile.steps;
    if (!wanted) return steps.empty() ? std::nullopt : std::optional(steps[steps.size() / 2]);
    const auto found = std::ranges::find(steps, *wanted, &Profile::Step::number);
    if (found != steps.end()) return *found;
    if (steps.empty())
        throw TraceError(fmt::format("it has no steps (ProfilerStep#N), of which {} is wanted", *wanted));
    throw TraceError(
        fmt::format("it has no step {}, but those from {} to {}", *wanted, steps.front().number, steps.back().number));
}

/// What a process group of one rank is for the others: the same part of a mesh, which has ranks first + step × i.
struct Part {
    std::uint64_t size = 1, step = 1;

    std::uint64_t first_of(std::uint64_t rank) const { return rank / (step * size) * (step * size) + rank % step; }
    std::vector<std::uint32_t> ranks_of(std::uint64_t rank) const {
        std::vector<std::uint32_t> ranks;
        for (std::uint64_t i = 0; i < size; ++i) ranks.push_back(static_cast<std::uint32_t>(first_of(rank) + step * i));
        return ranks;
    }
};

/// Returns the part of `ranks` ranks that `group` is, of which rank `own` of `world` is a member.
Part part_of(const Profile::Group& group, std::uint64_t own, std::uint64_t world, std::uint64_t ranks) {
    const std::uint64_t size = group.size;
    if (size == world || size == 0) return {ranks, 1};
    const auto refuse_group = [&](const std::string& why) {
        throw TraceError(fmt::format("process group '{}' of {} ranks {}; give the files of all ranks",
                                     printable(group.name), size, why));
    };
    if (group.ranks.size() != size) refuse_group("has no list of ranks");
    const Part part{size, size == 1 ? 1 : group.ranks[1] - std::uint64_t{group.ranks[0]}};
    if (part.step == 0 || part.step > most_trace_ranks || part.ranks_of(own) != group.ranks)
        refuse_group("is no regular part of all ranks");
    if (ranks % (part.step * size) != 0)
        refuse_group(fmt::format("{} apart does not divide {} ranks", part.step, ranks));
    return part;
}

class KinetoTrace {
public:
    KinetoTrace(TraceBuilder& builder) : builder_(builder) {
        builder.trace.eager_bytes = std::numeric_limits<double>::infinity();
    }

    /// Adds what one rank does, as `rank`. `number_of` returns the trace's number of a group of the profile.
    void add(const RankNodes& from, std::uint32_t rank, const std::function<Number(Number)>& number_of) {
        const ExecutionTrace& nodes = from.nodes();
        const auto first = static_cast<Number>(builder_.trace.size());
        std::vector<Number> after;
        for (Number i = 0; i < nodes.size(); ++i) {
            TraceNode node = nodes.nodes()[i];
            node.rank = rank;
            if (node.kind == NodeKind::collective) {
                node.group = number_of(node.group);
                const auto sequence = from.sequences().find(i);
                calls_[node.group][rank].emplace_back(
                    sequence == from.sequences().end() ? std::nullopt : std::optional(sequence->second), first + i);
            }
            after.clear();
            for (const Number on : nodes.dependencies_of(i)) after.push_back(first + on);
            builder_.add(node, after);
        }
    }

    /// Returns the number of the group with this name and these ranks.
    Number group_of(const std::string& name, const std::vector<std::uint32_t>& ranks) {
        const auto [found, is_new] =
            groups_.try_emplace(std::pair(name, ranks), static_cast<Number>(builder_.trace.groups.size()));
        if (!is_new) return found->second;
        builder_.count_members(ranks.size());
        if (std::set(ranks.begin(), ranks.end()).size() != ranks.size())
            throw TraceError(fmt::format("process group '{}' has a rank twice", printable(name)));
        builder_.trace.groups.push_back(ranks);
        calls_.emplace_back();
        return found->second;
    }

    void finish() {
        for (Number group = 0; group < calls_.size(); ++group) {
            leave_out_unmatched(group);
            level_all_to_all(group);
        }
    }

private:
    /// Exchanges of a rank in a group, in order: their sequence numbers and nodes.
    using Calls = std::vector<std::pair<std::optional<std::uint64_t>, Number>>;

    /// Profiles of the same step may begin and end at different exchanges.
    void leave_out_unmatched(Number group) {
        using Key = std::pair<std::uint64_t, std::uint64_t>;  // sequence number, and which of those with it
        std::map<Key, std::vector<Number>> all;
        for (const auto& [rank, calls] : calls_[group]) {
            std::map<std::uint64_t, std::uint64_t> seen;
            for (const auto& [sequence, node] : calls) {
                if (!sequence) return;
                all[{*sequence, seen[*sequence]++}].push_back(node);
            }
        }
        for (const auto& [key, nodes] : all) {
            if (nodes.size() == builder_.trace.groups[group].size()) continue;
            for (const Number node : nodes) builder_.trace.node(node).kind = NodeKind::nothing;
            builder_.note("exchanges that not all members have in this step are left out", nodes.size());
        }
    }

    /// The members of an all-to-all may send different amounts, as tokens to experts; all take the time of the largest.
    void level_all_to_all(Number group) {
        std::vector<std::uint64_t> most;
        for (const bool raise : {true, false})
            for (const auto& [rank, calls] : calls_[group]) {
                std::size_t i = 0;
                for (const auto& [sequence, number] : calls) {
                    TraceNode& node = builder_.trace.node(number);
                    if (node.kind != NodeKind::collective) continue;
                    if (most.size() == i) most.push_back(0);
                    std::uint64_t& bytes = most[i++];
                    if (builder_.trace.operations[node.operation] != "all-to-all") continue;
                    if (!raise && node.bytes != bytes)
                        builder_.note("members of an all-to-all that send less than another one send as much");
                    (raise ? bytes : node.bytes) = std::max(bytes, node.bytes);
                }
            }
    }

    TraceBuilder& builder_;
    std::map<std::pair<std::string, std::vector<std::uint32_t>>, Number> groups_;
    std::vector<std::map<std::uint32_t, Calls>> calls_;  ///< by group and rank
};

/// The only file stands for all ranks.
void add_for_all(const Profile& profile, const TraceOptions& options, TraceBuilder& builder, KinetoTrace& trace) {
    std::uint64_t world = profile.world_size.value_or(0);
    for (const Profile::Group& group : profile.groups) world = std::max<std::uint64_t>(world, group.size);
    world = std::max<std::uint64_t>(world, 1);
    const std::uint64_t ranks = options.ranks != 0 ? options.ranks : world, own = profile.rank.value_or(0);
    if (ranks > most_trace_ranks) throw TraceError(fmt::format("there are at most {} ranks", most_trace_ranks));
    builder.trace.ranks = static_cast<std::uint32_t>(ranks);
    if (ranks > 1) builder.remark(fmt::format("all {} ranks do what rank {} does, without waiting", ranks, own));
    const RankNodes nodes(profile, step_of(profile, options.step), builder);
    if (nodes.nodes().size() > most_trace_nodes / ranks)
        throw TraceError(fmt::format("{} nodes on each of {} ranks are more than {}", nodes.nodes().size(), ranks,
                                     most_trace_nodes));
    std::map<Number, Part> parts;                                // by the profile's group
    std::map<std::pair<Number, std::uint64_t>, Number> numbers;  // by that and the first rank
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        trace.add(nodes, rank, [&](Number group) {
            const Profile::Group& from = profile.groups[group];
            auto part = parts.find(group);
            if (part == parts.end()) part = parts.emplace(group, part_of(from, own, world, ranks)).first;
            const auto [found, is_new] = numbers.try_emplace({group, part->second.first_of(rank)}, 0);
            if (is_new) found->second = trace.group_of(from.name, part->second.ranks_of(rank));
            return found->second;
        });
}

void add_rank(const Profile& profile, const TraceOptions& options, std::uint32_t rank, TraceBuilder& builder,
              KinetoTrace& trace) {
    std::map<Number, Number> numbers;  // by the profile's group
    trace.add(RankNodes(profile, step_of(profile, options.step), builder), rank, [&](Number group) {
        const Profile::Group& from = profile.groups[group];
        const auto [found, is_new] = numbers.try_emplace(group, 0);
        if (!is_new) return found->second;
        std::vector<std::uint32_t> ranks = from.ranks;
        if (ranks.empty() && from.size != builder.trace.ranks)
            throw TraceError(fmt::format("it does not say which {} ranks are in process group '{}'", from.size,
                                         printable(from.name)));
        if (ranks.empty()) {
            ranks.resize(builder.trace.ranks);
            std::iota(ranks.begin(), ranks.end(), 0);
        }
        return found->second = trace.group_of(from.name, ranks);
    });
}

}  // namespace

void read_kineto(const std::vector<std::string>& files, const TraceOptions& options, TraceBuilder& builder) {
    KinetoTrace trace(builder);
    TraceOptions chosen = options;
    std::vector<bool> seen(files.size(), false);
    builder.trace.ranks = static_cast<std::uint32_t>(files.size());
    for (std::size_t i = 0; i < files.size(); ++i)
        in_trace_file(files[i], [&] {
            const Profile profile = read_kineto_profile(read_trace_file(files[i]), builder);
            if (const auto step = step_of(profile, chosen.step)) {
                chosen.step = step->number;
                builder.remark(fmt::format("ProfilerStep#{} is replayed{}", step->number,
                                           profile.steps.size() == 1
                                               ? ""
                                               : fmt::format(", of {} to {} (`step`)", profile.steps.front().number,
                                                             profile.steps.back().number)));
            }
            if (files.size() == 1) return add_for_all(profile, chosen, builder, trace);
            const std::uint64_t rank = profile.rank.value_or(i);
            if (rank >= files.size())
                throw TraceError(
                    fmt::format("it is of rank {}, and there are {} files: give those of all ranks, or one for all",
                                rank, files.size()));
            if (seen[rank]) throw TraceError(fmt::format("another file is of rank {}, too", rank));
            seen[rank] = true;
            add_rank(profile, chosen, static_cast<std::uint32_t>(rank), builder, trace);
        });
    in_trace_files(files, [&] { trace.finish(); });
}

}  // namespace syncline
