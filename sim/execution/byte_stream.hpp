#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace syncline {

/// Largest file that is read, and what a compressed one may hold: traces shrink to a twentieth, bombs to a thousandth.
inline constexpr std::size_t largest_trace_file = std::size_t{256} << 20;
inline constexpr std::uint64_t largest_inflated = std::uint64_t{1} << 30;
inline constexpr std::uint64_t largest_inflation = 100;

/// The bytes of a file in their order; those of a gzip file are inflated bit by bit. All functions throw TraceError.
class ByteStream {
public:
    /// `bytes` must outlive the stream.
    explicit ByteStream(std::string_view bytes);
    ~ByteStream();
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    /// Number of bytes that were taken.
    std::uint64_t offset() const { return offset_; }

    bool at_end() { return peek().empty(); }

    /// Returns some of the next bytes, without taking them; none at the end.
    std::string_view peek();

    /// Takes bytes, which are valid until the next call. It is an error if there are fewer.
    std::string_view take(std::size_t count);

    /// Takes a number of Protocol Buffers: seven bits a byte, the lowest first.
    std::uint64_t take_varint();

    /// Takes all that is left, of at most `most` bytes.
    std::string take_rest(std::size_t most);

private:
    /// Makes at least `count` bytes ready, unless the stream has fewer.
    void prepare(std::size_t count);

    struct Inflater;
    std::unique_ptr<Inflater> inflater_;  ///< none if the file is not compressed
    std::string_view ready_;
    std::string buffer_;  ///< of inflated bytes, of which `ready_` is the end
    std::uint64_t offset_ = 0;
};

}  // namespace syncline
