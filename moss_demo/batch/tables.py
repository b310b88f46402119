"""The tables of a finished run, put together part by part in the order of the manifest.

All but `timings.parquet` and `report.json`, which holds times as well, are functions of recordings,
references and transcripts: the same transcripts give the same bytes.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types

from moss_demo.batch.plan import Plan
from moss_demo.batch.report import CLIP_COLUMNS, TIMING_COLUMNS, Report, make_report, report_dict
from moss_demo.batch.rows import ClipRow, csv_cell, schema_of
from moss_demo.batch.store import KINDS, Store, write_whole
from moss_demo.batch.summary import summary_cells

CLIPS_CSV = "clips.csv"
CLIPS_PARQUET = "clips.parquet"
TIMINGS_PARQUET = "timings.parquet"
SUMMARY_CSV = "summary.csv"
TAKES_CSV = "takes.csv"
REPORT_JSON = "report.json"


def write_tables(store: Store, plan: Plan) -> Report:
    """Write all tables anew; memory holds one part and the columns that a report needs."""
    parts = range(len(plan.parts))
    for kind, name in (("clips", CLIPS_PARQUET), ("timings", TIMINGS_PARQUET)):
        _join(store.folder / name, kind, [store.part_file(part, kind) for part in parts])
    report = make_report(
        _columns(store.folder / CLIPS_PARQUET, CLIP_COLUMNS),
        _columns(store.folder / TIMINGS_PARQUET, TIMING_COLUMNS),
    )
    records = (
        record
        for part in parts
        for record in pq.read_table(store.part_file(part, "clips")).to_pylist()
    )
    _write_csv(store.folder / CLIPS_CSV, schema_of(ClipRow).names, records)
    rows = [summary_cells(one) for one in report.summaries]
    _write_csv(store.folder / SUMMARY_CSV, list(rows[0]), rows)
    if report.takes:
        header = list(asdict(report.takes[0]))
        _write_csv(store.folder / TAKES_CSV, header, map(asdict, report.takes))
    text = json.dumps(report_dict(report), ensure_ascii=False, indent=1)
    write_whole(store.folder / REPORT_JSON, lambda file: file.write(text.encode()))
    return report


def _join(path: Path, kind: str, files: Sequence[Path]) -> None:
    def write(file: BinaryIO) -> None:
        with pq.ParquetWriter(file, schema_of(KINDS[kind])) as writer:
            for part in files:
                writer.write_table(pq.read_table(part))

    write_whole(path, write)


def _columns(path: Path, names: Sequence[str]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = pq.read_table(path, columns=list(names)).to_pydict()
    return columns


def _write_csv(path: Path, header: Sequence[str], records: Iterable[Mapping[str, Any]]) -> None:
    """Write a table after RFC 4180."""

    def write(file: BinaryIO) -> None:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(header)
        for record in records:
            writer.writerow([csv_cell(record[column]) for column in header])
        text.detach()  # flushes, and leaves the file open for its owner

    write_whole(path, write)
