#include "sim/execution/byte_stream.hpp"

#include <fmt/format.h>
#define ZLIB_CONST  // its input is const
#include <zlib.h>

#include <algorithm>

#include "sim/execution/trace_error.hpp"

namespace syncline {

struct ByteStream::Inflater {
    explicit Inflater(std::string_view bytes) : compressed(bytes) {
        stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
        stream.avail_in = static_cast<uInt>(bytes.size());  // the file is not larger than 4 GiB
        constexpr int with_gzip_header = 16;
        if (inflateInit2(&stream, MAX_WBITS + with_gzip_header) != Z_OK) throw TraceError("zlib has no memory");
    }
    ~Inflater() { inflateEnd(&stream); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    /// Fills `block`, and returns how many bytes there were.
    std::size_t inflate_into(char* block, std::size_t size) {
        stream.next_out = reinterpret_cast<Bytef*>(block);
        stream.avail_out = static_cast<uInt>(size);
        while (stream.avail_out > 0 && !ended) {
            const int result = ::inflate(&stream, Z_NO_FLUSH);
            if (result == Z_STREAM_END) {
                // gzip files may follow one another in a file.
                ended = stream.avail_in == 0 || inflateReset(&stream) != Z_OK;
                continue;
            }
            if (result == Z_BUF_ERROR || (result == Z_OK && stream.avail_in == 0 && stream.avail_out > 0))
                throw TraceError(fmt::format("byte {}: the gzip file ends too early", compressed.size()));
            if (result != Z_OK)
                throw TraceError(fmt::format("byte {}: this is no gzip file: {}", compressed.size() - stream.avail_in,
                                             stream.msg != nullptr ? stream.msg : "it is damaged"));
        }
        const std::size_t count = size - stream.avail_out;
        inflated += count;
        constexpr std::uint64_t small = 1 << 20;
        if (inflated > largest_inflated || inflated > small + compressed.size() * largest_inflation)
            throw TraceError(fmt::format("{} bytes of gzip hold more than {}, which no trace does", compressed.size(),
                                         inflated - count));
        return count;
    }

    std::string_view compressed;
    z_stream stream{};
    std::uint64_t inflated = 0;
    bool ended = false;
};

ByteStream::ByteStream(std::string_view bytes) {
    if (bytes.starts_with("\x1f\x8b"))
        inflater_ = std::make_unique<Inflater>(bytes);
    else
        ready_ = bytes;
}

ByteStream::~ByteStream() = default;

void ByteStream::prepare(std::size_t count) {
    if (!inflater_ || ready_.size() >= count) return;
    constexpr std::size_t block = 1 << 18;
    std::string kept(ready_);
    while (kept.size() < count && !inflater_->ended) {
        const std::size_t before = kept.size();
        kept.resize(before + block);
        kept.resize(before + inflater_->inflate_into(kept.data() + before, block));
    }
    buffer_ = std::move(kept);
    ready_ = buffer_;
}

std::string_view ByteStream::peek() {
    prepare(1);
    return ready_;
}

std::string_view ByteStream::take(std::size_t count) {
    prepare(count);
    if (ready_.size() < count)
        throw TraceError(
            fmt::format("byte {}: {} bytes should follow, and there are {}", offset_, count, ready_.size()));
    const std::string_view taken = ready_.substr(0, count);
    ready_.remove_prefix(count);
    offset_ += count;
    return taken;
}

std::uint64_t ByteStream::take_varint() {
    const std::uint64_t begin = offset_;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(take(1).front());
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    throw TraceError(fmt::format("byte {}: a length takes more than ten bytes", begin));
}

std::string ByteStream::take_rest(std::size_t most) {
    std::string rest;
    while (!at_end()) {
        if (rest.size() + ready_.size() > most) throw TraceError(fmt::format("it holds more than {} MiB", most >> 20));
        rest += take(ready_.size());
    }
    return rest;
}

}  // namespace syncline
