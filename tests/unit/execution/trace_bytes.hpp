#pragma once

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sim/execution/trace_files.hpp"
#include "tests/unit/stores.hpp"

/// Files of traces, written byte by byte: independent of the libraries that read them.
namespace syncline::test {

/// Writes the files of a trace, and returns their names.
inline std::vector<std::string> written(const ExecutionTrace& trace, const std::string& format,
                                        const std::string& path) {
    return write_trace(trace, format, path, [](const std::string& name, const std::string& bytes) {
        std::ofstream(name, std::ios::binary) << bytes;
    });
}

inline std::string varint(std::uint64_t number) {
    std::string bytes;
    for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7f) | 0x80);
    return bytes + static_cast<char>(number);
}

/// A field of Protocol Buffers: a number, or bytes.
inline std::string field(std::uint64_t number, std::uint64_t value) {
    return varint(number << 3) + varint(value);
}
inline std::string field(std::uint64_t number, std::string_view bytes) {
    return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

/// An attribute of Chakra: `type` is its field in AttributeProto, 9 for int64.
inline std::string attribute(std::string_view name, std::uint64_t value, std::uint64_t type = 9) {
    return field(10, field(1, name) + field(type, value));
}
inline std::string text_attribute(std::string_view name, std::string_view value) {
    return field(10, field(1, name) + field(29, value));
}
inline std::string on_cpu(bool yes) {
    return attribute("is_cpu_op", yes ? 1 : 0, 27);
}

inline std::string packed(std::initializer_list<std::uint64_t> numbers) {
    std::string bytes;
    for (const std::uint64_t number : numbers) bytes += varint(number);
    return bytes;
}

/// The numbers of Chakra's types.
enum : std::uint64_t { metadata = 1, mem_load = 2, comp = 4, comm_send = 5, comm_recv = 6, comm_coll = 7 };

inline std::string chakra_node(std::uint64_t id, std::string_view name, std::uint64_t type, const std::string& rest,
                               std::initializer_list<std::uint64_t> data_deps = {}) {
    std::string bytes = (id > 0 ? field(1, id) : "") + field(2, name) + field(3, type);
    if (data_deps.size() > 0) bytes += field(5, packed(data_deps));
    bytes += rest;
    return varint(bytes.size()) + bytes;
}

inline std::string chakra_file(std::initializer_list<std::string> nodes, const std::string& more_metadata = "") {
    const std::string first = field(1, "0.0.4") + more_metadata;
    std::string bytes = varint(first.size()) + first;
    for (const std::string& node : nodes) bytes += node;
    return bytes;
}

/// A gzip file whose only block is not compressed (RFC 1952 and 1951).
inline std::string stored_gzip(const std::string& text) {
    std::uint32_t check = 0xffffffff;
    for (const char c : text) {
        check ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) check = check >> 1 ^ ((check & 1) != 0 ? 0xedb88320 : 0);
    }
    check = ~check;
    const auto little = [](std::uint64_t number, int bytes) {
        std::string result;
        for (int i = 0; i < bytes; ++i) result += static_cast<char>(number >> 8 * i);
        return result;
    };
    return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11) + little(text.size(), 2) + little(~text.size(), 2) +
           text + little(check, 4) + little(text.size(), 4);
}

/// Files in a temporary directory.
class TraceFiles {
public:
    std::string write(const std::string& name, const std::string& bytes) {
        const fs::path file = scratch_.path / name;
        write_bytes(file, bytes);
        return file.string();
    }
    std::string path(const std::string& name) const { return (scratch_.path / name).string(); }

    ExecutionTrace read(const std::string& name, const std::string& bytes, const TraceOptions& options = {}) {
        return read_trace({write(name, bytes)}, options);
    }

    static std::string bytes_of(const std::string& file) {
        std::ifstream stream(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

private:
    Scratch scratch_;
};

inline std::size_t count(const ExecutionTrace& trace, NodeKind kind) {
    std::size_t number = 0;
    for (const TraceNode& node : trace.nodes())
        if (node.kind == kind) ++number;
    return number;
}

inline std::vector<std::uint32_t> dependencies(const ExecutionTrace& trace, std::uint32_t node) {
    const auto all = trace.dependencies_of(node);
    return {all.begin(), all.end()};
}

}  // namespace syncline::test
