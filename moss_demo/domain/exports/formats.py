"""The closed set of formats a transcript can be written in. Knows no writer."""

from enum import StrEnum


class ExportFormat(StrEnum):
    """The formats; each has the extension of its files and a label for people."""

    TXT = "txt"
    RAW = "raw"
    JSON = "json"
    DIARIZED_JSON = "diarized_json"
    VERBOSE_JSON = "verbose_json"
    SRT = "srt"
    VTT = "vtt"
    ASS = "ass"
    RTTM = "rttm"
    UEM = "uem"
    STM = "stm"
    SEGLST = "seglst"
    TEXTGRID = "textgrid"
    AUDACITY = "audacity"
    CSV = "csv"

    @property
    def extension(self) -> str:
        """What follows the dot of a file name; no two formats share one."""
        return _NAMES[self][0]

    @property
    def label(self) -> str:
        """What people call the format."""
        return _NAMES[self][1]


_NAMES = {
    ExportFormat.TXT: ("txt", "Plain text"),
    ExportFormat.RAW: ("raw.txt", "Raw model text"),
    ExportFormat.JSON: ("json", "JSON of this app"),
    ExportFormat.DIARIZED_JSON: ("diarized.json", "OpenAI diarized JSON"),
    ExportFormat.VERBOSE_JSON: ("verbose.json", "OpenAI verbose JSON"),
    ExportFormat.SRT: ("srt", "SubRip subtitles"),
    ExportFormat.VTT: ("vtt", "WebVTT subtitles"),
    ExportFormat.ASS: ("ass", "SubStation Alpha subtitles"),
    ExportFormat.RTTM: ("rttm", "RTTM speaker turns"),
    ExportFormat.UEM: ("uem", "UEM scored region"),
    ExportFormat.STM: ("stm", "STM reference"),
    ExportFormat.SEGLST: ("seglst.json", "SegLST JSON"),
    ExportFormat.TEXTGRID: ("TextGrid", "Praat TextGrid"),
    ExportFormat.AUDACITY: ("audacity.txt", "Audacity labels"),
    ExportFormat.CSV: ("csv", "CSV table"),
}
