"""The tables of a finished run, put together part by part in the order of the manifest.

All but `timings.parquet` and `report.json`, which holds times as well, are functions of recordings,
references and transcripts: the same transcripts give the same bytes.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types

from moss_demo.batch.plan import Plan
from moss_demo.batch.report import CLIP_COLUMNS, TIMING_COLUMNS, Report, make_report, report_dict
from moss_demo.batch.rows import ClipRow, TimingRow, arrow_table, csv_cell, schema_of
from moss_demo.batch.store import KINDS, Store, write_whole
from moss_demo.batch.summary import summary_cells
from moss_demo.errors import ManifestError

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
    return _write_others(store.folder)


def write_rows(folder: Path, clips: Sequence[ClipRow], timings: Sequence[TimingRow]) -> Report:
    """Write the tables of rows at hand, such as those of a run that was stopped."""
    for name, table in (
        (CLIPS_PARQUET, arrow_table(ClipRow, clips)),
        (TIMINGS_PARQUET, arrow_table(TimingRow, timings)),
    ):
        write_whole(folder / name, partial(pq.write_table, table))
    return _write_others(folder)


def _write_others(folder: Path) -> Report:
    """Write what follows from the two Parquet tables."""
    report = make_report(
        _columns(folder / CLIPS_PARQUET, CLIP_COLUMNS),
        _columns(folder / TIMINGS_PARQUET, TIMING_COLUMNS),
    )
    batches = pq.ParquetFile(folder / CLIPS_PARQUET).iter_batches()
    records = (record for batch in batches for record in batch.to_pylist())
    _write_csv(folder / CLIPS_CSV, schema_of(ClipRow).names, records)
    rows = [summary_cells(one) for one in report.summaries]
    _write_csv(folder / SUMMARY_CSV, list(rows[0]), rows)
    if report.takes:
        header = list(asdict(report.takes[0]))
        _write_csv(folder / TAKES_CSV, header, map(asdict, report.takes))
    text = json.dumps(report_dict(report), ensure_ascii=False, indent=1)
    write_whole(folder / REPORT_JSON, lambda file: file.write(text.encode()))
    return report


def _join(path: Path, kind: str, files: Sequence[Path]) -> None:
    def write(file: BinaryIO) -> None:
        with pq.ParquetWriter(file, schema_of(KINDS[kind])) as writer:
            for part in files:
                try:
                    table = pq.read_table(part)
                except (pa.ArrowException, OSError) as error:
                    raise ManifestError(
                        part, " is damaged; start again in an empty folder."
                    ) from error
                writer.write_table(table)

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
