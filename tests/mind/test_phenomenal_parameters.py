import json
from importlib.resources import files

import numpy as np
import pytest

from noodlings.mind.phenomenal import Parameters, shipped
from tools.fit_predictor import born


@pytest.mark.slow
def test_the_shipped_file_is_what_the_script_makes():
    made = born()[0]
    for name in Parameters.__slots__:
        np.testing.assert_allclose(getattr(shipped(), name), getattr(made, name), atol=1e-9, err_msg=name)


def test_the_file_says_what_it_was_made_of():
    with np.load(files("noodlings.mind") / "parameters.npz", allow_pickle=False) as archive:
        provenance = json.loads(str(archive["provenance"]))
    assert {"made by", "seed", "data"} <= set(provenance)
    measured = provenance["distance on unseen synthetic streams"]
    assert measured["forecast"] < min(measured["same as before"], measured["mean of the stream"])
