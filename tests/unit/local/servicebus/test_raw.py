"""Encoded AMQP values: held to Proton's encoder and decoder."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proton import (
    UNDESCRIBED,
    Array,
    Data,
    Described,
    byte,
    char,
    decimal32,
    float32,
    int32,
    short,
    symbol,
    timestamp,
    ubyte,
    uint,
    ulong,
    ushort,
)

from local.servicebus import raw
from local.servicebus.raw import DecodeError

NO_DESCRIPTOR: Any = UNDESCRIBED

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
names = st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=200)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-128, 127).map(byte),
    st.integers(-(2**15), 2**15 - 1).map(short),
    st.integers(-(2**31), 2**31 - 1).map(int32),
    st.integers(0, 255).map(ubyte),
    st.integers(0, 2**16 - 1).map(ushort),
    st.integers(0, 2**32 - 1).map(uint),
    st.integers(0, 2**64 - 1).map(ulong),
    st.floats(allow_nan=False),
    st.floats(width=32, allow_nan=False).map(float32),
    st.uuids(),
    st.binary(max_size=300),
    texts,
    names.map(symbol),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(texts, inner, max_size=5),
        st.builds(Described, st.integers(0, 2**64 - 1).map(ulong), inner),
    ),
    max_leaves=10,
)


@given(values, st.binary(max_size=20))
def test_the_end_of_any_value_is_found(value: object, rest: bytes) -> None:
    encoded = raw.encode(value)
    assert raw.end_of(encoded + rest, 0) == len(encoded)


@given(scalars)
def test_a_simple_value_is_read_as_what_it_is(value: object) -> None:
    decoded = raw.decode(raw.encode(value))
    assert decoded == value
    assert decoded is None or isinstance(value, type(decoded))


@pytest.mark.parametrize(
    ("value", "decoded"),
    [
        (timestamp(1_500), datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC)),
        (timestamp(-(2**62)), None),
        (char("ä"), "ä"),
        (decimal32(5), None),
        ([1, 2], None),
        ({"a": 1}, None),
        (Array(NO_DESCRIPTOR, Data.LONG, 1, 2), None),
    ],
)
def test_times_are_moments_and_what_filters_cannot_use_is_none(
    value: object, decoded: object
) -> None:
    assert raw.decode(raw.encode(value)) == decoded


@given(st.lists(values, max_size=8))
def test_the_items_of_a_list_are_its_bytes(items: list[object]) -> None:
    encoded = raw.encode(items)
    assert raw.list_items(encoded, 0) == [raw.encode(item) for item in items]


@given(st.dictionaries(texts, values, max_size=8))
def test_the_pairs_of_a_map_are_its_bytes(pairs: dict[str, object]) -> None:
    encoded = raw.encode(pairs)
    assert raw.map_items(encoded, 0) == [
        (raw.encode(key), raw.encode(value)) for key, value in pairs.items()
    ]


@given(st.lists(st.tuples(texts, scalars), max_size=8))
def test_what_is_written_is_what_proton_reads(pairs: list[tuple[str, object]]) -> None:
    encoded = [(raw.string(key), raw.encode(value)) for key, value in pairs]
    data = Data()
    data.decode(raw.map_section(raw.APPLICATION_PROPERTIES, encoded))
    data.rewind()
    data.next()
    section = data.get_py_described()
    assert section.descriptor == raw.APPLICATION_PROPERTIES
    assert section.value == dict(pairs)


@pytest.mark.parametrize(
    ("encoded", "value"),
    [
        (raw.integer(-5), int32(-5)),
        (raw.unsigned(2**32 - 1), uint(2**32 - 1)),
        (raw.long(-(2**63)), -(2**63)),
        (raw.timestamp(1_700_000_000_000), timestamp(1_700_000_000_000)),
        (raw.symbol("x-opt-a"), symbol("x-opt-a")),
        (raw.string("ä" * 200), "ä" * 200),
        (raw.NULL, None),
    ],
)
def test_each_writer_writes_the_type_it_is_named_for(encoded: bytes, value: object) -> None:
    data = Data()
    data.decode(encoded)
    data.rewind()
    data.next()
    decoded = data.get_object()
    assert decoded == value
    assert type(decoded) is type(value)


@given(st.binary(max_size=60))
def test_any_bytes_are_sections_or_a_decode_error(encoded: bytes) -> None:
    try:
        found = raw.sections(encoded)
    except DecodeError:
        return
    assert [start for _, start, _ in found] == [0, *(end for _, _, end in found[:-1])][: len(found)]


@pytest.mark.parametrize(
    "encoded",
    [
        b"\x00",
        b"\x00\x53",
        b"\x00\x53\x75",
        b"\x00\x53\x75\xa0\x05abc",
        b"\x00\x53\x75\xb0\xff\xff\xff\xff",
        b"\x00\x53\x75\x3f",
        b"\x40",
        b"\x00\x53\x01\x40",
        b"\x00\x53\x79\x40",
        b"\x00\x53\x75\xa0\x00\x00\x53\x73\x45",
        b"\x00\x53\x73\x45\x00\x53\x73\x45",
        b"\x00\x00\x00\x00\x00\x00",
    ],
)
def test_bytes_that_are_no_message_are_told_apart(encoded: bytes) -> None:
    with pytest.raises(DecodeError):
        raw.sections(encoded)


@pytest.mark.parametrize(
    "encoded",
    [
        b"\xc0\x02\x02\x40",
        b"\xc0\x03\x01\x40\x40",
        b"\xc0\x03\x01\xa1\x05",
        b"\xa1\x01a",
        b"\xc0\x00",
    ],
)
def test_a_list_that_does_not_hold_what_it_announces_is_an_error(encoded: bytes) -> None:
    with pytest.raises(DecodeError):
        raw.list_items(encoded, 0)


def test_a_map_with_a_key_too_many_is_an_error() -> None:
    with pytest.raises(DecodeError, match="key without a value"):
        raw.map_items(b"\xc1\x02\x01\x40", 0)


def test_the_empty_list_and_the_uuid_have_forms_of_their_own() -> None:
    assert raw.list_items(b"\x45", 0) == []
    assert raw.decode(b"\x98" + bytes(16)) == UUID(int=0)
