#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

/// Bytes of MPI's types by the numbers of SimGrid's smpi_datatype.cpp: double, int, char, short, long, float, byte,
/// long long, signed and unsigned ones, long double, wchar_t, bool, those of fixed size, complex ones, addresses.
constexpr std::array<std::uint8_t, 30> datatypes{8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4,  8,  8, 16,
                                                 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8};

constexpr std::uint8_t size_of_byte = 1, size_of_double = 8;

/// Reads the actions of all ranks. Each rank does one after the other, but for requests that it waits for later.
class TiReader {
public:
    TiReader(std::uint32_t ranks, TraceBuilder& builder) : builder_(builder), states_(ranks) {
        builder.trace.ranks = ranks;
        builder.trace.eager_bytes = 65535;  // below SMPI's default of smpi/send-is-detached-thresh
    }

    void read(const TraceFile& file) {
        TraceWords words(file, '#');
        words_ = &words;
        while (words.next_line()) {
            rank_ = static_cast<std::uint32_t>(words.whole("the rank", states_.size() - 1));
            read_action(words.word("the action"));
            if (words.has_word()) words.refuse(fmt::format("'{}' is too much here", printable(words.word(""))));
        }
    }

    void finish() {
        // A receive may leave the size to the sender.
        std::map<Channel, std::deque<std::uint64_t>> sent;
        ExecutionTrace& trace = builder_.trace;
        if (unsized_.empty()) return;
        for (const TraceNode& node : trace.nodes())
            if (node.kind == NodeKind::send) sent[{node.rank, node.peer, node.tag}].push_back(node.bytes);
        for (std::uint32_t i = 0; i < trace.size(); ++i) {
            TraceNode& node = trace.node(i);
            if (node.kind != NodeKind::receive) continue;
            std::deque<std::uint64_t>& sizes = sent[{node.peer, node.rank, node.tag}];
            if (sizes.empty()) return;  // check() says so
            if (std::ranges::binary_search(unsized_, i)) node.bytes = sizes.front();
            sizes.pop_front();
        }
    }

private:
    using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, tag

    struct State {
        std::vector<std::uint32_t> after;  ///< what the next action depends on
        std::map<Channel, std::deque<std::uint32_t>> requests;
        std::uint8_t datatype = size_of_byte;
    };

    State& state() { return states_[rank_]; }

    void read_action(std::string_view action) {
        TraceWords& words = *words_;
        if (action == "init") {
            state().datatype = words.has_word() ? size_of_double : size_of_byte;
            skip();
        } else if (action == "finalize" || action == "comm_size" || action == "comm_split" || action == "comm_dup") {
            skip();
        } else if (action == "location") {
            builder_.note("locations in a source are left out");
            skip();
        } else if (action == "test" || action == "testall" || action == "testany") {
            builder_.note("tests of requests are left out");
            skip();
        } else if (action == "compute") {
            compute(words.number("the flop"));
        } else if (action == "sleep") {
            builder_.note("sleeps keep the device as computation does");
            compute(0, words.number("the time"));
        } else if (action == "send" || action == "isend" || action == "recv" || action == "irecv") {
            const bool begins = action.starts_with('i');
            message(action.ends_with("send"), begins);
        } else if (action == "sendRecv" || action == "sendrecv") {
            send_and_receive();
        } else if (action == "wait") {
            const auto from = rank("the source"), to = rank("the destination");
            wait({from, to, tag()});
        } else if (action == "waitall") {
            skip();
            for (auto& [channel, requests] : state().requests)
                for (const std::uint32_t request : requests) depend_on(request);
            state().requests.clear();
        } else {
            collective(action);
        }
    }

    void skip() {
        while (words_->has_word()) words_->word("");
    }

    std::uint32_t rank(std::string_view what) {
        return static_cast<std::uint32_t>(words_->whole(what, states_.size() - 1));
    }

    std::uint32_t tag() {
        if (words_->peek().starts_with('-')) words_->word(""), words_->refuse("any tag cannot be replayed");
        return static_cast<std::uint32_t>(words_->whole("the tag", std::numeric_limits<std::uint32_t>::max()));
    }

    /// A number of elements. -1 means as many as are sent.
    std::optional<double> count() {
        if (words_->peek() != "-1") return words_->number("the count");
        words_->word("");
        return std::nullopt;
    }

    /// The size of the type that may follow, else of the default.
    std::uint8_t datatype() {
        if (!words_->has_word()) return state().datatype;
        const std::uint64_t type = words_->whole("the datatype");
        if (type >= datatypes.size()) words_->refuse(fmt::format("datatype {} is not known", type));
        return datatypes[type];
    }

    std::uint64_t bytes(double elements, std::uint8_t size) const {
        const double bytes = elements * size;
        constexpr double most = 9e18;
        if (bytes > most) words_->refuse("these are too many bytes");
        return static_cast<std::uint64_t>(std::llround(bytes));
    }

    TraceNode node(NodeKind kind, std::string_view name) {
        TraceNode node;
        node.kind = kind;
        node.rank = rank_;
        node.name = builder_.name(name);
        return node;
    }

    std::uint32_t add(const TraceNode& node) { return builder_.add(node, state().after); }

    void compute(double flop, double seconds = 0) {
        if (flop == 0 && seconds == 0) return;
        TraceNode work = node(NodeKind::compute, "compute");
        work.flop = flop;
        work.seconds = seconds;
        work.stream = 0;
        state().after = {add(work)};
    }

    std::uint32_t begin(bool sends, std::uint32_t peer, std::uint32_t tag, std::optional<double> elements,
                        std::uint8_t size) {
        TraceNode message = node(sends ? NodeKind::send : NodeKind::receive, sends ? "send" : "recv");
        message.peer = peer;
        message.tag = tag;
        if (elements) message.bytes = bytes(*elements, size);
        const std::uint32_t added = add(message);
        if (!sends && elements.value_or(0) == 0) unsized_.push_back(added);
        return added;
    }

    void message(bool sends, bool begins) {
        const std::uint32_t peer = rank(sends ? "the destination" : "the source");
        const std::uint32_t tag = this->tag();
        const std::optional<double> elements = count();
        if (sends && !elements) words_->refuse("a message must have a size where it is sent");
        const std::uint32_t request = begin(sends, peer, tag, elements, datatype());
        if (!begins)
            state().after = {request};
        else
            state().requests[sends ? Channel{rank_, peer, tag} : Channel{peer, rank_, tag}].push_back(request);
    }

    void send_and_receive() {
        const std::optional<double> sent = count();
        const std::uint32_t to = rank("the destination");
        const std::optional<double> received = count();
        const std::uint32_t from = rank("the source");
        const std::uint8_t send_size = datatype(), receive_size = datatype();
        if (!sent) words_->refuse("a message must have a size where it is sent");
        const std::uint32_t send = begin(true, to, 0, sent, send_size);
        const std::uint32_t receive = begin(false, from, 0, received, receive_size);
        state().after = {send, receive};
    }

    /// A request that is waited for no more has been tested, or was never made.
    void wait(const Channel& channel) {
        const auto found = state().requests.find(channel);
        if (found == state().requests.end()) {
            builder_.note("waits for requests that were not begun, or are done, are left out");
            return;
        }
        depend_on(found->second.front());
        found->second.pop_front();
        if (found->second.empty()) state().requests.erase(found);
    }

    /// Makes the next action depend on a request, which takes the place of what it depends on itself.
    void depend_on(std::uint32_t request) {
        std::vector<std::uint32_t>& after = state().after;
        // Nodes that join requests keep the number of dependencies small.
        constexpr std::size_t many = 4;
        if (after.size() >= many) after = {add(node(NodeKind::nothing, "wait"))};
        const auto before = builder_.trace.dependencies_of(request);
        std::erase_if(after, [&](std::uint32_t on) { return std::ranges::find(before, on) != before.end(); });
        after.push_back(request);
    }

    void collective(std::string_view action) {
        const auto ranks = static_cast<double>(states_.size());
        double flop = 0;
        if (action == "barrier") {
            exchange("barrier", 0, 0);
        } else if (action == "bcast") {
            const double elements = words_->number("the count");
            const std::uint32_t root = root_of();
            exchange("broadcast", bytes(elements, datatype()), root);
        } else if (action == "reduce") {
            const double elements = words_->number("the count");
            flop = words_->number("the flop");
            const std::uint32_t root = root_of();
            exchange("reduce", bytes(elements, datatype()), root);
        } else if (action == "allreduce") {
            const double elements = words_->number("the count");
            flop = words_->number("the flop");
            exchange("allreduce", bytes(elements, datatype()), 0);
        } else if (action == "alltoall" || action == "allgather" || action == "gather" || action == "scatter") {
            const double sent = words_->number("the count to send");
            words_->number("the count to receive");
            const std::uint32_t root = action == "gather" || action == "scatter" ? root_of() : 0;
            const std::uint64_t all = bytes(sent * ranks, datatype());
            datatype();
            exchange(action == "alltoall" ? "all-to-all" : action, all, root);
        } else if (action == "allgatherv" || action == "gatherv") {
            words_->number("the count to send");
            const double sum = counts(action);
            const std::uint32_t root = action == "gatherv" ? root_of() : 0;
            const std::uint64_t all = bytes(sum, datatype());
            datatype();
            exchange(action == "gatherv" ? "gather" : "allgather", all, root);
        } else if (action == "scatterv") {
            const double sum = counts(action);
            words_->number("the count to receive");
            const std::uint32_t root = root_of();
            const std::uint64_t all = bytes(sum, datatype());
            datatype();
            exchange("scatter", all, root);
        } else if (action == "reducescatter") {
            const double sum = counts(action);
            flop = words_->number("the flop");
            exchange("reduce-scatter", bytes(sum, datatype()), 0);
        } else if (action == "alltoallv") {
            words_->number("the size of the buffer to send");
            const double each = equal_counts();
            words_->number("the size of the buffer to receive");
            equal_counts();
            const std::uint64_t all = bytes(each * ranks, datatype());
            datatype();
            exchange("all-to-all", all, 0);
        } else if (action == "scan" || action == "exscan") {
            builder_.note("scans are left out");
            skip();
        } else {
            words_->refuse(fmt::format("there is no action '{}'", printable(action.substr(0, 40))));
        }
        compute(flop);
    }

    std::uint32_t root_of() { return words_->has_word() ? rank("the root") : 0; }

    /// Returns the sum of one count per rank. Our blocks have the same size.
    double counts(std::string_view action) {
        double sum = 0, least = std::numeric_limits<double>::infinity(), most = 0;
        for (std::size_t i = 0; i < states_.size(); ++i) {
            const double one = words_->number("a count");
            sum += one, least = std::min(least, one), most = std::max(most, one);
        }
        if (least != most)
            builder_.note(fmt::format("different blocks of {} are taken as equal ones of the same sum", action));
        return sum;
    }

    /// Returns the count that a rank sends to each other one.
    double equal_counts() {
        std::optional<double> all;
        for (std::size_t i = 0; i < states_.size(); ++i) {
            const double one = words_->number("a count");
            if (i != rank_ && all.value_or(one) != one)
                words_->refuse("all blocks of an alltoallv must have the same size");
            if (i != rank_) all = one;
        }
        return all.value_or(0);
    }

    void exchange(std::string_view operation, std::uint64_t bytes, std::uint32_t root) {
        TraceNode exchange = node(NodeKind::collective, operation);
        exchange.operation = builder_.operation(operation);
        exchange.bytes = bytes;
        exchange.group = group_with(root);
        state().after = {add(exchange)};
    }

    /// The root is the first rank of its group.
    std::uint32_t group_with(std::uint32_t root) {
        const auto [found, is_new] = groups_.try_emplace(root, 0);
        if (!is_new) return found->second;
        std::vector<std::uint32_t> ranks(states_.size());
        std::iota(ranks.begin(), ranks.end(), 0);
        std::rotate(ranks.begin(), ranks.begin() + root, ranks.begin() + root + 1);
        return found->second = builder_.group(ranks);
    }

    TraceBuilder& builder_;
    TraceWords* words_ = nullptr;
    std::uint32_t rank_ = 0;
    std::vector<State> states_;
    std::vector<std::uint32_t> unsized_;  ///< receives, sorted
    std::map<std::uint32_t, std::uint32_t> groups_;
};

/// Returns one more than the largest rank at the beginning of a line.
std::uint32_t count_ranks(const TraceFile& file) {
    std::uint64_t ranks = 0;
    for (TraceWords words(file, '#'); words.next_line();)
        ranks = std::max(ranks, 1 + words.whole("the rank", most_trace_ranks - 1));
    if (ranks == 0) throw TraceError("it is empty");
    return static_cast<std::uint32_t>(ranks);
}

/// Returns the names in a file that lists the file of each rank; nothing if it has actions.
std::vector<std::string> listed(const TraceFile& file) {
    std::vector<std::string> names;
    for (TraceWords words(file, '#'); words.next_line();) {
        if (number_in<std::uint64_t>(words.peek())) return {};
        const std::string_view name = words.word("the name of a file");
        if (words.has_word()) words.refuse("a line should begin with a rank, or be the name of a file");
        names.push_back((std::filesystem::path(file.name).parent_path() / name).string());
    }
    if (names.size() > most_trace_ranks) throw TraceError(fmt::format("there are at most {} ranks", most_trace_ranks));
    return names;
}

}  // namespace

void read_simgrid_ti(const std::vector<std::string>& given, const TraceOptions&, TraceBuilder& builder) {
    std::vector<std::string> files = given;
    if (files.size() == 1)
        in_trace_file(given.front(), [&] {
            std::vector<std::string> names = listed(read_trace_text(given.front()));
            if (!names.empty()) files = std::move(names);
        });
    if (files.size() == 1) {
        in_trace_file(files.front(), [&] {
            const TraceFile file = read_trace_text(files.front());
            TiReader reader(count_ranks(file), builder);
            reader.read(file);
            reader.finish();
        });
        return;
    }
    TiReader reader(static_cast<std::uint32_t>(files.size()), builder);
    for (const std::string& name : files) in_trace_file(name, [&] { reader.read(read_trace_text(name)); });
    reader.finish();
}

}  // namespace syncline
