import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.recall import vectors
from noodlings.recall.neighbours import Neighbours
from noodlings.recall.vectors import VectorIndex
from tests.recall.archives import append_row, append_vector, neighbours_of

SIZE = 8
WIDE = 256


def unit(seed):
    vector = np.random.default_rng(seed).normal(size=SIZE).astype(np.float32)
    return vector / np.linalg.norm(vector)


def filled(count, gap=1.0, without=()):
    index, neighbours = VectorIndex("toy", SIZE), Neighbours()
    for row in range(count):
        append_row(neighbours, row * gap, "")
        append_vector(index, None if row in without else unit(row), neighbours)
    return index, neighbours


@given(st.integers(1, 200), st.integers(0, 99))
@pytest.mark.slow
def test_the_nearest_are_those_of_exact_numpy(count, seed):
    index, _ = filled(count)
    query = unit(10_000 + seed)
    cosines = np.array([unit(row) for row in range(count)]) @ query
    found = index.search(query, 10)
    assert [row for row, _ in found] == np.argsort(-cosines, kind="stable")[:10].tolist()
    assert [cosine for _, cosine in found] == pytest.approx(np.sort(cosines)[::-1][:10], abs=1e-5)


def mixed_cosines(index, neighbours, query, vectors):
    """What `score` promises, the long way."""
    result = []
    for row in range(len(index)):
        total = sum(weight * vectors[source] for weight, source in neighbours_of(neighbours, row))
        result.append(max(float(total @ query / np.linalg.norm(total)), 0.0))
    return result


@pytest.mark.slow
@given(st.integers(1, 30), st.sampled_from([1.0, 2_500.0, 9_999.0]))
def test_a_score_is_the_cosine_with_a_row_and_its_neighbours(count, gap):
    index, neighbours = filled(count, gap)
    expected = mixed_cosines(index, neighbours, unit(999), [unit(row) for row in range(count)])
    assert index.meaning(unit(999), neighbours) == pytest.approx(expected, abs=1e-5)


def test_what_all_have_in_common_is_subtracted_from_the_query_and_from_each_row():
    index, neighbours = filled(40, gap=9_999.0)
    rows = np.array([unit(row) for row in range(40)])
    common = 0.5 * rows.mean(axis=0)
    expected = np.clip((rows - common) @ (unit(999) - common), 0.0, 1.0)
    assert index.meaning(unit(999), neighbours, 0.0, common=common) == pytest.approx(expected, abs=1e-5)
    assert not index.meaning(unit(7), neighbours, 0.0, common=unit(7)).any()


def test_some_rows_score_as_among_all():
    index, neighbours = filled(100)
    few = np.array([3, 50, 51])
    whole = index.meaning(unit(999), neighbours)
    assert index.meaning(unit(999), neighbours, rows=few) == pytest.approx(whole[few], abs=1e-6)
    many = np.arange(0, 100, 2)
    assert index.meaning(unit(999), neighbours, rows=many) == pytest.approx(whole[many], abs=1e-6)


def test_a_vector_may_come_later_in_any_order():
    index, neighbours = filled(6, without=range(6))
    assert [row for row in range(len(index)) if index.likeness(row, row) is None] == [0, 1, 2, 3, 4, 5]
    for row in (4, 0, 5, 2, 1, 3):
        index.place(np.array([row]), unit(row)[None], neighbours)
    assert index.count == len(index)
    at_once, _ = filled(6)
    assert index.meaning(unit(9), neighbours) == pytest.approx(at_once.meaning(unit(9), neighbours), abs=1e-6)


def test_rows_around_which_nothing_is_embedded_count_as_average():
    index, neighbours = filled(3, gap=9_999.0, without={1})
    scores = index.meaning(unit(0), neighbours)
    assert scores[1] == pytest.approx((scores[0] + scores[2]) / 2)
    assert 1 not in [row for row, _ in index.search(unit(0))]


def test_a_cleared_vector_is_gone():
    index, neighbours = filled(3, gap=9_999.0)
    index.clear(np.array([1]), neighbours)
    assert [row for row, _ in index.search(unit(1))].count(1) == 0
    assert [row for row in range(len(index)) if index.likeness(row, row) is None] == [1]


def test_vectors_are_scaled_to_length_one():
    assert np.linalg.norm(VectorIndex("toy", 2).checked([3.0, 4.0])) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "vector",
    [[1.0] * 7, [[1.0] * SIZE], [0.0] * SIZE, [float("nan")] * SIZE, [1e300] * SIZE, ["a"] * SIZE, None],
)
def test_what_is_no_vector_of_the_model_is_refused(vector):
    with pytest.raises(UserError):
        VectorIndex("toy", SIZE).checked(vector)


def test_a_model_has_dimensions():
    with pytest.raises(UserError, match="at least one"):
        VectorIndex("toy", 0)


def of_many(many, common=0.0):
    """An index of random vectors in talks of ten, and what stands around each; so much all have in common."""
    random = np.random.default_rng(5)
    centres = random.normal(size=(20, WIDE)) + common * random.normal(size=WIDE)
    index, neighbours = VectorIndex("m", WIDE), Neighbours()
    for row, vector in enumerate(centres[random.integers(20, size=many)]):
        append_row(neighbours, row % 10 * 20.0 + row // 10 * 9_000.0, "hall")
        append_vector(index, index.checked(vector + random.normal(size=WIDE)), neighbours)
    return index, neighbours, index.checked(centres[3])


@pytest.mark.slow
def test_of_many_rows_the_nearest_are_those_that_all_products_give(monkeypatch):
    index, neighbours, query = of_many(3_000)
    exact, mixed = index.search(query, 10), index.meaning(query, neighbours)
    monkeypatch.setattr(vectors, "EXACT", 100)
    monkeypatch.setattr(vectors, "CANDIDATES", 300)
    assert [row for row, _ in index.search(query, 10)] == [row for row, _ in exact]
    few = np.arange(7, 3_000, 11)
    by_itself = index.meaning(query, neighbours, 0.0, few)
    assert [row for row, _ in index.search(query, 5, few)] == few[np.argsort(-by_itself)[:5]].tolist()
    rough = index.meaning(query, neighbours, rough=True)
    assert np.abs(rough - mixed).max() < 0.5
    assert np.corrcoef(rough, mixed)[0, 1] > 0.9
    common = np.mean([index.vector(row) for row in range(512)], axis=0)
    rough, centred = (
        index.meaning(query, neighbours, 0.0, rough=few, common=common) for few in (True, False)
    )
    assert np.corrcoef(rough, centred)[0, 1] > 0.8


@pytest.mark.slow
def test_vectors_that_have_much_in_common_or_few_numbers_are_all_measured_exactly(monkeypatch):
    index, _, query = of_many(3_000, common=4.0)
    asked = ((index, query), (filled(3_000)[0], unit(9_999)))
    wanted = [[row for row, _ in one.search(what, 10)] for one, what in asked]
    monkeypatch.setattr(vectors, "EXACT", 100)
    monkeypatch.setattr(vectors, "CANDIDATES", 10)
    assert [[row for row, _ in one.search(what, 10)] for one, what in asked] == wanted
    assert not index.many(None)
    assert of_many(3_000)[0].many(None)
    assert not index.only(np.arange(2_000)).many(np.arange(1_000))


def test_a_part_is_measured_roughly_as_if_there_were_no_others():
    index, neighbours, query = of_many(200)
    theirs = np.arange(0, 200, 3)
    near = neighbours.only(theirs)
    part = index.only(theirs)
    alone = VectorIndex("m", WIDE)
    there = Neighbours()
    for row in theirs.tolist():
        append_row(there, row % 10 * 20.0 + row // 10 * 9_000.0, "hall")
        append_vector(alone, index.vector(row), there)
    assert part.meaning(query, near) == pytest.approx(alone.meaning(query, there), abs=1e-6)
    rough = part.meaning(query, near, rough=True)
    assert np.corrcoef(rough, part.meaning(query, near))[0, 1] > 0.8
