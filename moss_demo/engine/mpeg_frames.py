"""Frame headers of codecs that come without a file header. Reads headers only, never sound.

A chain of headers, each at the place that the one before announces, recognises such a stream:
one sync word alone turns up in any noise.
"""

from dataclasses import dataclass

_CHAIN = 4
"""So many headers in a row make a stream; a file that ends sooner needs only those it holds."""

_BITRATES_KBPS: dict[tuple[bool, int], tuple[int, ...]] = {
    (True, 1): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (True, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 1): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (False, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 3): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""By "is MPEG-1" and layer, index 1 to 14 of the header (ISO 11172-3 and 13818-3)."""

_RATES_HZ = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}

_AC3_FRAME_WORDS = tuple(
    (2 * kbps, round(2 * kbps * 48_000 / 44_100 - 0.5), 3 * kbps)
    for kbps in (
        32,
        40,
        48,
        56,
        64,
        80,
        96,
        112,
        128,
        160,
        192,
        224,
        256,
        320,
        384,
        448,
        512,
        576,
        640,
    )
)
"""Words a frame by bit-rate code and rate code (ATSC A/52, table 5.18)."""


@dataclass(frozen=True, slots=True)
class MpegFrame:
    """One frame of MPEG audio, as its 4-byte header describes it.

    Attributes:
        size_bytes: distance to the next header.
        stream: version, layer and rate; the same in every frame of a stream.
    """

    size_bytes: int
    stream: tuple[int, int, int]

    @property
    def layer(self) -> int:
        """1 to 3; MP3 is layer III."""
        return self.stream[1]


def mpeg_frame(head: bytes) -> MpegFrame | None:
    """Read a header of MPEG-1, 2 or 2.5 audio, layers I to III; None when it is none."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    version, layer = head[1] >> 3 & 3, 4 - (head[1] >> 1 & 3)
    bitrate_index, rate_index = head[2] >> 4, head[2] >> 2 & 3
    if version == 1 or layer == 4 or rate_index == 3 or bitrate_index in (0, 15):
        return None
    bits_per_s = 1000 * _BITRATES_KBPS[version == 3, layer][bitrate_index - 1]
    rate_hz, padding = _RATES_HZ[version][rate_index], head[2] >> 1 & 1
    if layer == 1:
        size = (12 * bits_per_s // rate_hz + padding) * 4
    else:
        factor = 72 if layer == 3 and version != 3 else 144
        size = factor * bits_per_s // rate_hz + padding
    return MpegFrame(size, (version, layer, rate_hz))


def mpeg_layer(head: bytes) -> int | None:
    """Return the layer of the first run of MPEG audio frames in these bytes, None without one.

    A recording may begin within a frame; one that holds less than a run must begin with a frame
    and hold two.
    """
    start = head.find(b"\xff")
    while 0 <= start < len(head) - 3:
        frames = _mpeg_run(head, start)
        if len(frames) == _CHAIN or (start == 0 and len(frames) > 1):
            return frames[0].layer
        start = head.find(b"\xff", start + 1)
    return None


def _mpeg_run(head: bytes, start: int) -> list[MpegFrame]:
    """Follow frames of one stream from here, up to a run; none when the chain breaks."""
    frames: list[MpegFrame] = []
    while len(frames) < _CHAIN and start < len(head) - 3:
        frame = mpeg_frame(head[start : start + 4])
        if frame is None or (frames and frame.stream != frames[0].stream):
            return []
        frames.append(frame)
        start += frame.size_bytes
    return frames


def adts_chain(head: bytes) -> bool:
    """Tell whether a run of ADTS frames (AAC) starts these bytes."""
    start = 0
    for seen in range(_CHAIN):
        if start > len(head) - 7:
            return seen > 0
        if head[start] != 0xFF or head[start + 1] & 0xF6 != 0xF0:
            return False
        size = (head[start + 3] & 3) << 11 | head[start + 4] << 3 | head[start + 5] >> 5
        if size < 7:
            return False
        start += size
    return True


def ac3_chain(head: bytes) -> int | None:
    """Return the bitstream number of AC-3 (up to 10) or E-AC-3 frames that start these bytes."""
    start, bitstream = 0, None
    for _ in range(_CHAIN):
        if start > len(head) - 6:
            break
        if head[start : start + 2] != b"\x0b\x77":
            return None
        bitstream = head[start + 5] >> 3
        if bitstream > 10:
            words = ((head[start + 2] & 7) << 8 | head[start + 3]) + 1
        else:
            rate_code, size_code = head[start + 4] >> 6, head[start + 4] & 0x3F
            if rate_code == 3 or size_code >= 2 * len(_AC3_FRAME_WORDS):
                return None
            words = _AC3_FRAME_WORDS[size_code // 2][rate_code]
            words += size_code & 1 if rate_code == 1 else 0
        start += 2 * words
    return bitstream
