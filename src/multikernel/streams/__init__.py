"""Samples that are read piece by piece, again and again: files larger than memory, arrays, generators.

source.py        the interface of a source: chunks of rows, with their place
arrays.py        arrays, data frames and .npy files
frames.py        files of rows with named columns: target, weight and features
parquet.py       Parquet files, their types of columns kept
missing.py       the words for a missing value
encoding.py      the encoding of a text file
first_row.py     whether a CSV file begins with the names of its columns
records.py       the rows of a CSV file, for chunks and for whole tables: delimiters, and errors in rows
csv.py           CSV files
dask.py          arrays, data frames and pieces of Dask, which workers of a cluster read
pieces.py        chunks that a function yields
survey.py        the number of all rows, the classes, and a sample of rows
predictions.py   the predictions for a source, chunk by chunk, and in a file
"""

from multikernel._memory import available_memory
from multikernel.streams.arrays import ArraySource, arrays
from multikernel.streams.csv import CSVSource, csv
from multikernel.streams.dask import DaskSource, dask
from multikernel.streams.missing import is_missing
from multikernel.streams.parquet import ParquetSource, parquet
from multikernel.streams.pieces import PieceSource, pieces
from multikernel.streams.predictions import harmless, predict, without_sums, write_predictions
from multikernel.streams.records import DELIMITERS, Records
from multikernel.streams.source import Chunk, Source, bytes_of
from multikernel.streams.survey import Survey, survey

__all__ = [
    "DELIMITERS",
    "ArraySource",
    "CSVSource",
    "Chunk",
    "DaskSource",
    "ParquetSource",
    "PieceSource",
    "Records",
    "Source",
    "Survey",
    "arrays",
    "available_memory",
    "bytes_of",
    "csv",
    "dask",
    "harmless",
    "is_missing",
    "parquet",
    "pieces",
    "predict",
    "survey",
    "without_sums",
    "write_predictions",
]
