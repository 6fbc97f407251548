#include <fmt/format.h>

#include "sim/execution/byte_stream.hpp"
#include "sim/execution/chakra.pb.h"
#include "sim/execution/chakra_trace.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

/// A node with its process groups, or the names of its inputs, is no larger.
constexpr std::uint64_t largest_message = 4 << 20;

using Attribute = chakra::Attribute;

/// Returns a whole number in whatever type it was written: some writers take int64, others uint64 or int32.
std::optional<std::uint64_t> whole(const Attribute& attribute) {
    switch (attribute.value_case()) {
        case Attribute::kInt32Val:
            return static_cast<std::uint64_t>(attribute.int32_val());
        case Attribute::kInt64Val:
            return static_cast<std::uint64_t>(attribute.int64_val());
        case Attribute::kUint32Val:
            return attribute.uint32_val();
        case Attribute::kUint64Val:
            return attribute.uint64_val();
        case Attribute::kSint32Val:
            return static_cast<std::uint64_t>(attribute.sint32_val());
        case Attribute::kSint64Val:
            return static_cast<std::uint64_t>(attribute.sint64_val());
        case Attribute::kFixed32Val:
            return attribute.fixed32_val();
        case Attribute::kFixed64Val:
            return attribute.fixed64_val();
        case Attribute::kSfixed32Val:
            return static_cast<std::uint64_t>(attribute.sfixed32_val());
        case Attribute::kSfixed64Val:
            return static_cast<std::uint64_t>(attribute.sfixed64_val());
        case Attribute::kBoolVal:
            return attribute.bool_val() ? 1 : 0;
        default:
            return std::nullopt;
    }
}

void take(const Attribute& attribute, ChakraNode& node) {
    const std::string_view name = attribute.name();
    const auto into = [&](std::optional<std::uint64_t>& value) {
        value = whole(attribute);
        if (!value) throw TraceError(fmt::format("node {}: its {} is no whole number", node.id, name));
    };
    if (name == "is_cpu_op") {
        const auto value = whole(attribute);
        if (!value) throw TraceError(fmt::format("node {}: its is_cpu_op is neither true nor false", node.id));
        node.on_cpu = *value != 0;
    } else if (name == "comm_type") {
        into(node.comm_type);
    } else if (name == "comm_size") {
        into(node.bytes);
    } else if (name == "comm_src") {
        into(node.source);
    } else if (name == "comm_dst") {
        into(node.destination);
    } else if (name == "comm_tag") {
        into(node.tag);
    } else if (name == "stream") {
        into(node.stream);
    } else if (name == "tid") {
        into(node.thread);
    } else if (name == "num_ops") {
        into(node.operations);
    } else if (name == "pg_name") {
        node.process_group = attribute.string_val();
    } else if (name == "seconds") {
        node.seconds = attribute.double_val();
    } else if (name == "involved_dim") {
        for (const bool involved : attribute.bool_list().values())
            if (!involved) node.some_dimensions = true;
    }
}

void read_rank(std::uint32_t rank, const TraceFile& file, ChakraTrace& trace) {
    ByteStream stream(file.bytes);
    chakra::GlobalMetadata metadata;
    chakra::Node message;
    ChakraNode node;
    bool first = true;
    while (!stream.at_end()) {
        const std::uint64_t begin = stream.offset();
        const std::uint64_t length = stream.take_varint();
        if (length > largest_message)
            throw TraceError(
                fmt::format("byte {}: a node of {} bytes; none has more than {}", begin, length, largest_message));
        const std::string_view bytes = stream.take(static_cast<std::size_t>(length));
        const auto parse = [&](auto& into, const char* what) {
            if (!into.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
                throw TraceError(fmt::format("byte {}: this is no {} of Chakra", begin, what));
        };
        if (first) {
            first = false;
            constexpr char id_of_node = 0x08;
            if (bytes.starts_with(id_of_node))
                throw TraceError(fmt::format("byte {}: the first message should be the trace's metadata", begin));
            parse(metadata, "metadata");
            for (const Attribute& attribute : metadata.attr())
                if (attribute.name() == "schema") trace.from_pytorch(rank);
            continue;
        }
        if (bytes.empty()) throw TraceError(fmt::format("byte {}: an empty node", begin));
        parse(message, "node");
        node.clear();
        node.id = message.id();
        node.name = message.name();
        node.type = static_cast<ChakraType>(message.type());
        node.micros = message.duration_micros();
        node.inputs = message.inputs().values();
        const auto& control = message.ctrl_deps();
        const auto& data = message.data_deps();
        node.control.assign(control.begin(), control.end());
        node.data.assign(data.begin(), data.end());
        try {
            for (const Attribute& attribute : message.attr()) take(attribute, node);
            trace.add(rank, node);
        } catch (const TraceError& error) {
            throw TraceError(fmt::format("byte {}: {}", begin, error.what()));
        }
    }
    if (first) throw TraceError("it is empty");
}

}  // namespace

void read_chakra(const std::vector<std::string>& files, const TraceOptions& options, TraceBuilder& builder) {
    ChakraTrace trace(files.size(), options, builder);
    for (std::uint32_t rank = 0; rank < files.size(); ++rank)
        in_trace_file(files[rank], [&] { read_rank(rank, read_trace_file(files[rank]), trace); });
    in_trace_files(files, [&] { trace.finish(); });
}

}  // namespace syncline
