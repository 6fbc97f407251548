#include "sim/execution/kineto_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_json.hpp"

namespace syncline {

namespace {

constexpr std::size_t most_calls = std::size_t{1} << 22;
constexpr std::size_t most_streams = 512, most_groups = 1 << 16, most_steps = 1 << 16;

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, text) != words.end();
}

/// Returns the operation of a collective by PyTorch's name of it, or its kernel's: "_allgather_base" and
/// "ncclDevKernel_AllGather_RING_LL" are an all-gather.
std::optional<std::string_view> operation_of(std::string_view name) {
    std::string plain;
    for (const char c : name)
        if (c != '_') plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> operations{{
        {"allreduce", "allreduce"},
        {"reducescatter", "reduce-scatter"},
        {"allgather", "allgather"},
        {"alltoall", "all-to-all"},
        {"broadcast", "broadcast"},
        {"reduce", "reduce"},
        {"gather", "gather"},
        {"scatter", "scatter"},
        {"barrier", "barrier"},
    }};
    for (const auto& [part, operation] : operations)
        if (plain.find(part) != std::string::npos) return operation;
    return std::nullopt;
}

/// Returns the bytes of an element of PyTorch's type, 0 if it is unknown.
std::uint64_t bytes_of(std::string_view type) {
    if (one_of(type, {"Double", "Long", "ComplexFloat", "UInt64"})) return 8;
    if (one_of(type, {"Float", "Int", "UInt32"})) return 4;
    if (one_of(type, {"BFloat16", "Half", "Short", "UInt16"})) return 2;
    return one_of(type, {"Byte", "Char", "Bool"}) || type.starts_with("Float8") ? 1 : 0;
}

/// Returns the numbers in a text: "[0, 1, 2]"; nothing if one is too large.
std::vector<std::uint32_t> numbers_in(std::string_view text) {
    std::vector<std::uint32_t> numbers;
    const char *at = text.data(), *const end = at + text.size();
    while (at < end) {
        if (*at < '0' || *at > '9') {
            ++at;
            continue;
        }
        std::uint32_t number = 0;
        const auto [after, error] = std::from_chars(at, end, number);
        if (error != std::errc{} || number >= most_trace_ranks) return {};
        numbers.push_back(number);
        at = after;
    }
    return numbers;
}

/// Returns the ranks of a group of `size` from PyTorch's text, which leaves out the middle of a long list.
std::vector<std::uint32_t> ranks_in(std::string_view text, std::uint64_t size) {
    std::vector<std::uint32_t> ranks = numbers_in(text);
    if (text.find("...") == std::string_view::npos) return ranks;
    if (ranks.size() < 3 || size < ranks.size() || size > most_trace_ranks) return {};
    const std::uint32_t first = ranks[0], step = ranks[1] - first;
    if (ranks[1] <= first || ranks.back() != first + step * (size - 1)) return {};
    ranks.clear();
    for (std::uint32_t i = 0; i < size; ++i) ranks.push_back(first + step * i);
    return ranks;
}

/// The members of an event that are read, of those of every depth.
enum class Member : std::uint8_t {
    unknown,
    phase,
    category,
    name,
    begin,
    duration,
    process,
    thread,
    arguments,
    stream,
    device,
    correlation,
    external,
    collective,
    sent,
    received,
    type,
    group_size,
    group_name,
    group_ranks,
    sequence,
    waits_on,
    waits_for
};

Member event_member(std::string_view key) {
    constexpr std::array<std::pair<std::string_view, Member>, 8> members{{{"ph", Member::phase},
                                                                          {"cat", Member::category},
                                                                          {"name", Member::name},
                                                                          {"ts", Member::begin},
                                                                          {"dur", Member::duration},
                                                                          {"pid", Member::process},
                                                                          {"tid", Member::thread},
                                                                          {"args", Member::arguments}}};
    const auto* const found = std::ranges::find(members, key, [](const auto& member) { return member.first; });
    return found == members.end() ? Member::unknown : found->second;
}

Member argument(std::string_view key) {
    constexpr std::array<std::pair<std::string_view, Member>, 15> members{
        {{"stream", Member::stream},
         {"device", Member::device},
         {"correlation", Member::correlation},
         {"External id", Member::external},
         {"external id", Member::external},
         {"Collective name", Member::collective},
         {"In msg nelems", Member::sent},
         {"Out msg nelems", Member::received},
         {"dtype", Member::type},
         {"Group size", Member::group_size},
         {"Process Group Name", Member::group_name},
         {"Process Group Ranks", Member::group_ranks},
         {"Seq", Member::sequence},
         {"wait_on_stream", Member::waits_on},
         {"wait_on_cuda_event_record_corr_id", Member::waits_for}}};
    const auto* const found = std::ranges::find(members, key, [](const auto& member) { return member.first; });
    return found == members.end() ? Member::unknown : found->second;
}

/// What an event says of an exchange.
struct Communication {
    std::string collective, type, group_name, group_ranks;
    std::uint64_t sent = 0, received = 0, group_size = 0;
    std::optional<std::uint64_t> sequence;
};

struct Event {
    std::string phase, category, name;
    std::optional<std::int64_t> begin;
    std::int64_t duration = 0;
    std::uint64_t process = 0, thread = 0, device = 0, correlation = 0, external = 0, waits_for = 0;
    std::optional<std::uint64_t> stream, waits_on;
    Communication communication;
};

class Reader : public TraceJson {
public:
    Reader(const TraceFile& file, TraceBuilder& builder) : TraceJson(file), builder_(builder) {}

    KinetoProfile finish() {
        if (!found_) throw TraceError("it has no list \"traceEvents\"");
        for (const auto& [work, external] : nameless_) {
            const auto found = communications_.find(external);
            if (found != communications_.end()) describe(profile_.exchanges[work], found->second);
        }
        std::ranges::stable_sort(profile_.steps, {}, &KinetoProfile::Step::number);
        profile_.streams = static_cast<std::uint32_t>(streams_.size());
        for (const auto& [stream, number] : streams_)
            if (devices_.empty() || devices_.back() != stream.first) devices_.push_back(stream.first);
        profile_.devices = static_cast<std::uint32_t>(devices_.size());
        return std::move(profile_);
    }

    bool start_object(std::size_t) override {
        deeper();
        if (section_ == Section::events && depth_ == event_depth) event_ = {};
        if (section_ == Section::distribution && depth_ == event_depth + 1) group_name_.clear(), group_ranks_.clear();
        return true;
    }
    bool end_object() override {
        if (section_ == Section::events && depth_ == event_depth) add_event();
        if (section_ == Section::distribution && depth_ == event_depth + 1 && !group_ranks_.empty())
            configured_.try_emplace(group_name_, group_ranks_);
        higher();
        return true;
    }
    bool start_array(std::size_t) override {
        if (depth_ == 1 && section_ == Section::events) found_ = true;
        deeper();
        return true;
    }
    bool end_array() override {
        higher();
        return true;
    }
    bool key(string_t& text) override {
        if (depth_ == 1)
            section_ = text == "traceEvents"       ? Section::events
                       : text == "distributedInfo" ? Section::distribution
                                                   : Section::other;
        if (section_ == Section::events) {
            if (depth_ == event_depth) member_ = event_member(text), in_arguments_ = member_ == Member::arguments;
            if (depth_ == event_depth + 1) member_ = in_arguments_ ? argument(text) : Member::unknown;
        } else if (section_ == Section::distribution && depth_ <= event_depth + 1) {
            key_ = text;
        }
        return true;
    }
    bool boolean(bool) override { return true; }
    bool string(string_t& text) override {
        if (section_ == Section::distribution && depth_ == event_depth + 1) {
            if (key_ == "pg_name") group_name_ = text;
            if (key_ == "ranks") group_ranks_ = ranks_in(text, 0);
        }
        if (!is_member()) return true;
        switch (member_) {
            case Member::phase:
                event_.phase = text;
                break;
            case Member::category:
                event_.category = text;
                break;
            case Member::name:
                event_.name = text;
                break;
            case Member::collective:
                event_.communication.collective = text;
                break;
            case Member::type:
                event_.communication.type = text;
                break;
            case Member::group_name:
                event_.communication.group_name = text;
                break;
            case Member::group_ranks:
                event_.communication.group_ranks = text;
                break;
            case Member::begin:
            case Member::duration:
                break;
            default:  // "stream 7"
                if (const std::vector<std::uint32_t> numbers = numbers_in(text); !numbers.empty())
                    whole(numbers.back());
                break;
        }
        return true;
    }
    bool number_integer(number_integer_t value) override {
        if (is_member()) {
            if (value >= 0)
                whole(static_cast<std::uint64_t>(value));
            else
                time(static_cast<double>(value));
        }
        return true;
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (section_ == Section::distribution) {
            if (depth_ == 2 && key_ == "rank") profile_.rank = value;
            if (depth_ == 2 && key_ == "world_size") profile_.world_size = value;
            if (depth_ == event_depth + 1 && key_ == "pg_name") group_name_ = std::to_string(value);
            if (depth_ == event_depth + 2 && key_ == "ranks" && value < most_trace_ranks)
                group_ranks_.push_back(static_cast<std::uint32_t>(value));
        }
        if (is_member()) whole(value);
        // A list of ranks, in place of its text.
        if (section_ == Section::events && depth_ == event_depth + 2 && member_ == Member::group_ranks)
            event_.communication.group_ranks += fmt::format("{} ", value);
        return true;
    }
    bool number_float(number_float_t value, const string_t& text) override {
        if (is_member()) time(value, text);
        return true;
    }

private:
    enum class Section : std::uint8_t { other, events, distribution };
    static constexpr int event_depth = 3;  ///< in the object in the list in the file's object

    bool is_member() const {
        return section_ == Section::events && (depth_ == event_depth || (depth_ == event_depth + 1 && in_arguments_)) &&
               member_ != Member::unknown;
    }

    [[noreturn]] void refuse_event(const std::string& why) const {
        throw TraceError(fmt::format("event {} of traceEvents {}", events_, why));
    }

    std::int64_t nanoseconds(double microseconds) const {
        constexpr double most = 8e15;
        if (!(std::abs(microseconds) < most)) refuse_event("has a time that is no time");
        return std::llround(microseconds * 1e3);
    }

    /// Takes a time in microseconds. `text` has more digits than a double.
    void time(double value, std::string_view text = {}) {
        std::int64_t ns = nanoseconds(value);
        if (const std::size_t point = text.find('.');
            point != std::string_view::npos && text.find_first_of("eE-") == std::string_view::npos) {
            std::int64_t whole = 0, fraction = 0;
            std::from_chars(text.data(), text.data() + point, whole);
            for (std::size_t i = 1; i <= 3; ++i)
                fraction = fraction * 10 + (point + i < text.size() ? text[point + i] - '0' : 0);
            ns = whole * 1000 + fraction;
        }
        if (member_ == Member::begin) event_.begin = ns;
        if (member_ == Member::duration) event_.duration = ns;
    }

    void whole(std::uint64_t value) {
        switch (member_) {
            case Member::begin:
            case Member::duration:
                nanoseconds(static_cast<double>(value));  // checks it
                if (member_ == Member::begin)
                    event_.begin = static_cast<std::int64_t>(value) * 1000;
                else
                    event_.duration = static_cast<std::int64_t>(value) * 1000;
                break;
            case Member::process:
                event_.process = value;
                break;
            case Member::thread:
                event_.thread = value;
                break;
            case Member::stream:
                event_.stream = value;
                break;
            case Member::device:
                event_.device = value;
                break;
            case Member::correlation:
                event_.correlation = value;
                break;
            case Member::external:
                event_.external = value;
                break;
            case Member::sent:
                event_.communication.sent = value;
                break;
            case Member::received:
                event_.communication.received = value;
                break;
            case Member::group_size:
                event_.communication.group_size = value;
                break;
            case Member::group_name:
                event_.communication.group_name = std::to_string(value);
                break;
            case Member::sequence:
                event_.communication.sequence = value;
                break;
            case Member::waits_on:
                event_.waits_on = value;
                break;
            case Member::waits_for:
                event_.waits_for = value;
                break;
            default:
                break;
        }
    }

    std::uint32_t stream(std::uint64_t number) {
        const auto [found, is_new] =
            streams_.try_emplace({event_.device, number}, static_cast<std::uint32_t>(streams_.size()));
        if (is_new && streams_.size() > most_streams)
            throw TraceError(fmt::format("it has more than {} streams of a device", most_streams));
        return found->second;
    }

    void add_event() {
        ++events_;
        if (event_.phase != "X") return;
        const std::string_view category = event_.category;
        const bool kernel = one_of(category, {"kernel", "Kernel"});
        if (kernel || one_of(category, {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"})) return add_work(kernel);
        if (one_of(category, {"cuda_runtime", "cuda_driver", "Runtime", "Driver"})) return add_call();
        if (category == "cuda_sync") return add_wait();
        if (category == "gpu_user_annotation") return;
        if (event_.name == "record_param_comms" && event_.external != 0) {
            limit(communications_.size(), most_calls / 8, "collectives");
            communications_.try_emplace(event_.external, event_.communication);
        }
        constexpr std::string_view step = "ProfilerStep#";
        if (event_.name.starts_with(step)) {
            const std::vector<std::uint32_t> number = numbers_in(event_.name);
            if (number.empty() || !event_.begin) return;
            limit(profile_.steps.size(), most_steps, "steps");
            profile_.steps.push_back({number.front(), *event_.begin, end()});
        }
    }

    std::int64_t end() const { return event_.begin.value_or(0) + std::max<std::int64_t>(event_.duration, 0); }

    static void limit(std::size_t present, std::size_t most, const char* what) {
        if (present >= most) throw TraceError(fmt::format("it has more than {} {}", most, what));
    }

    void check_time() const {
        if (!event_.begin) refuse_event("has no time \"ts\"");
    }

    void add_work(bool kernel) {
        check_time();
        limit(profile_.works.size(), most_trace_nodes, "kernels and copies");
        KinetoProfile::Work work{*event_.begin, end(), event_.correlation};
        work.stream = stream(event_.stream.value_or(event_.thread));
        work.copies = !kernel;
        const std::string_view name = event_.name;
        const bool exchanges = kernel && (!event_.communication.collective.empty() || name.starts_with("nccl") ||
                                          name.starts_with("rccl"));
        // An exchange's parameters are the same for all: "(ncclDevKernelArgsStorage<4096ul>)".
        work.name = builder_.name(exchanges ? name.substr(0, name.find('(')) : name);
        if (exchanges) {
            work.exchange = static_cast<std::uint32_t>(profile_.exchanges.size());
            profile_.exchanges.emplace_back();
            if (!event_.communication.collective.empty())
                describe(profile_.exchanges.back(), event_.communication);
            else if (event_.external != 0)
                nameless_.emplace_back(work.exchange, event_.external);
        }
        profile_.works.push_back(work);
    }

    void describe(KinetoProfile::Exchange& exchange, const Communication& from) {
        const auto operation = operation_of(from.collective);
        const std::uint64_t element = bytes_of(from.type), elements = std::max(from.sent, from.received);
        if (!operation || element == 0 || elements > std::numeric_limits<std::uint64_t>::max() / 8) return;
        exchange.bytes = *operation == "barrier" ? 0 : elements * element;
        exchange.sequence = from.sequence;
        exchange.group = group(from);
        exchange.operation = builder_.operation(*operation);
    }

    std::uint32_t group(const Communication& from) {
        std::vector<std::uint32_t> ranks = ranks_in(from.group_ranks, from.group_size);
        if (const auto found = configured_.find(from.group_name); ranks.empty() && found != configured_.end())
            ranks = found->second;
        const auto [found, is_new] = groups_.try_emplace(std::pair(from.group_name, ranks), groups_.size());
        if (is_new) {
            limit(groups_.size(), most_groups, "process groups");
            group_members_ += ranks.size();
            limit(group_members_, most_group_members, "members of process groups");
            const std::uint64_t size = ranks.empty() ? from.group_size : ranks.size();
            profile_.groups.push_back({from.group_name, std::move(ranks),
                                       static_cast<std::uint32_t>(std::min<std::uint64_t>(size, most_trace_ranks))});
        }
        return static_cast<std::uint32_t>(found->second);
    }

    void add_call() {
        using Kind = KinetoProfile::Call::Kind;
        const std::string_view name = event_.name;
        const Kind kind = name.find("StreamWaitEvent") != std::string_view::npos ? Kind::wait_event
                          : name.find("Synchronize") != std::string_view::npos   ? Kind::synchronize
                                                                                 : Kind::other;
        if (kind == Kind::other && event_.correlation == 0) return;
        check_time();
        limit(profile_.calls.size(), most_calls, "calls of the CUDA runtime");
        profile_.calls.push_back({*event_.begin, end(), event_.correlation, event_.thread, kind});
    }

    void add_wait() {
        if (event_.name != "Stream Wait Event" || !event_.stream || !event_.begin) return;
        limit(profile_.waits.size(), most_calls / 4, "waits for events");
        KinetoProfile::Wait wait{*event_.begin, event_.correlation, event_.waits_for};
        wait.stream = stream(*event_.stream);
        if (event_.waits_on) wait.on = stream(*event_.waits_on);
        profile_.waits.push_back(wait);
    }

    TraceBuilder& builder_;
    KinetoProfile profile_;
    Section section_ = Section::other;
    bool found_ = false, in_arguments_ = false;
    Member member_ = Member::unknown;
    std::string key_, group_name_;
    std::vector<std::uint32_t> group_ranks_;
    Event event_;
    std::size_t events_ = 0, group_members_ = 0;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> streams_;  ///< by device and its number
    std::vector<std::uint64_t> devices_;
    std::map<std::string, std::vector<std::uint32_t>> configured_;  ///< ranks of groups, in the file's head
    std::map<std::pair<std::string, std::vector<std::uint32_t>>, std::size_t> groups_;
    std::map<std::uint64_t, Communication> communications_;  ///< by external id
    /// Exchanges of which the kernel does not say what they are, and their external ids.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> nameless_;
};

}  // namespace

KinetoProfile read_kineto_profile(const TraceFile& file, TraceBuilder& builder) {
    Reader reader(file, builder);
    parse_json(file, reader);
    return reader.finish();
}

}  // namespace syncline
