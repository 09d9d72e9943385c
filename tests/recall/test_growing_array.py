import numpy as np

from noodlings.recall.growing_array import GrowingArray


def test_rows_stay_as_it_grows():
    growing = GrowingArray(np.float32, 3)
    for number in range(1_000):
        growing.extend(np.array([[number, 0, -number]]))
    assert growing.rows.shape == (1_000, 3)
    assert growing.rows[:, 0].tolist() == list(range(1_000))


def test_rows_can_be_written():
    growing = GrowingArray(np.int64)
    growing.extend(np.array([1]))
    growing.rows[0] = 5
    assert growing.rows.tolist() == [5]


def test_nothing_is_copied_within_what_was_reserved():
    growing = GrowingArray(np.int64)
    growing.reserve(10_000)
    before = growing.rows.__array_interface__["data"]
    for number in range(10_000):
        growing.extend(np.array([number]))
    assert growing.rows.__array_interface__["data"] == before


def test_rows_of_zeros_can_be_added_at_once():
    growing = GrowingArray(np.int64)
    growing.extend(np.array([7]))
    growing.extend(500)
    growing.extend(np.array([8]))
    assert growing.rows.tolist() == [7, *[0] * 500, 8]
