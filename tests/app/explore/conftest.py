"""One explorer of digits for all tests of a module that do not close it."""

import pytest

from explore.explorers import client_of, wait_for_jobs, write_digits


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return write_digits(tmp_path_factory.mktemp("digits") / "digits.csv")


@pytest.fixture(scope="module")
def explorer(digits, forked_python_of_module):
    from eigenscape.app.cli.explore import ServerOptions, open_input
    from eigenscape.app.cli.options import InputOptions
    from eigenscape.app.explore import Explorer

    options = InputOptions(label="digit", id="name")
    methods = {"pca": {}, "isomap": {"n_neighbors": 8}}
    session = open_input(str(digits), None, options, methods, ServerOptions(images="8x8"), quiet=True)
    with Explorer(session) as running:
        running.start()
        yield running


@pytest.fixture(scope="module")
def client(explorer):
    with client_of(explorer) as found:
        wait_for_jobs(found)
        wait_for_jobs(found)  # the measures are added when fits end
        yield found


@pytest.fixture
def state(client):
    return client.get("api/state").json()
