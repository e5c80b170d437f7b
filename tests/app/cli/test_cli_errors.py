"""Invalid files and targets, signals, pipes and exit codes."""

import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest
from test_cli import bad, good, run, write_csv

from eigenscape.app.cli import errors
from eigenscape.app.cli.errors import handle_errors


@pytest.fixture
def small(tmp_path):
    return write_csv(tmp_path / "small.csv", np.random.default_rng(0).normal(size=(60, 4)))


@pytest.fixture
def model(tmp_path, small):
    good("embed", small, "-m pca --save", tmp_path / "small.model", "-q")
    return tmp_path / "small.model"


# --- names of options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-m isomap -q --n-neighbors 100", "--n-neighbors 100 needs at least 101 samples"),
        ("-m isomap --radius 3 --symmetrize mutual", "--radius 3.0, --symmetrize mutual cannot be combined"),
        ("-m le --affinity rbf --symmetrize mutual", "--symmetrize mutual is for graphs, got --affinity rbf"),
        ("-m le --weights local --width 3", "--width 3.0 is for --weights heat"),
        ("-m le --independence-threshold .3", "without independent; set --independent"),
        ("-m lle --symmetrize mutual", "no such option: --symmetrize"),
    ],
)
def test_errors_name_options_of_the_command_line(small, tmp_path, options, message):
    assert message in bad("embed", small, options, "-o", tmp_path / "map.csv")


def test_objects_and_other_words_stay_in_errors(monkeypatch):
    monkeypatch.setattr(
        errors, "option_names", {"width": "--width", "n_init": "--n-init", "metric": "--metric"}
    )
    text = "KNNGraph(width=2) and metric: n_samples=3, n_init=True, width=None, x.width=3"
    assert errors.with_option_names(text) == (
        "KNNGraph(width=2) and metric: n_samples=3, --n-init, --width none, x.width=3"
    )


# --- bad files ----------------------------------------------------------------------------------------------


def _empty(path):
    path.write_text("")


def _ragged(path):
    path.write_text("a,b\n1,2\n3,4\n5,6,7\n")


def _words(path):
    path.write_text("a,b\n" + "1,2\n" * 10 + "3,four\n")


def _gaps(path):
    path.write_text("a,b\n1,2\n3,\n5,6\n")


def _one_row(path):
    path.write_text("a,b\n1,2\n")


def _header_only(path):
    path.write_text("a,b\n")


def _wide(path):
    path.write_text(",".join(map(str, range(1_000_000))) + "\n" + ",".join(["1"] * 1_000_000) + "\n")


def _latin(path):
    path.write_bytes("name,größe\nä,1\nö,2\n".encode("latin-1"))


def _truncated(path):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": np.arange(1000.0)}), path)
    path.write_bytes(path.read_bytes()[:-100])


def _pickle(path):
    path.write_bytes(pickle.dumps(np.arange(10.0)))


def _objects(path):
    np.save(path, np.array([{"a": 1}, None], dtype=object), allow_pickle=True)


BAD_FILES = {
    "empty.csv": (_empty, "empty"),
    "ragged.csv": (_ragged, "3 cells"),
    "words.csv": (_words, "'four' in line 12"),
    "gaps.csv": (_gaps, "row(s) 2,"),
    "one-row.csv": (_one_row, "one-row.csv has 1 row;"),
    "header-only.csv": (_header_only, "no rows"),
    "wide.csv": (_wide, "1000000 columns"),
    "latin.csv": (_latin, "UTF-8"),
    "cut.parquet": (_truncated, "cut.parquet"),
    "pickle.npy": (_pickle, "pickle.npy"),
    "objects.npy": (_objects, "objects.npy"),
    "what.xyz": (_empty, "what.xyz"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_line_and_code_2(name, tmp_path):
    make, message = BAD_FILES[name]
    make(tmp_path / name)
    line = bad("embed", tmp_path / name, "-m pca -o", tmp_path / "out.csv", "-q")
    assert message in line
    assert not (tmp_path / "out.csv").exists()


def test_missing_values_name_the_option(tmp_path):
    _gaps(tmp_path / "gaps.csv")
    assert "--missing drop" in bad("embed", tmp_path / "gaps.csv", "-m pca -o", tmp_path / "out.csv")


def test_no_file_and_a_folder_without_images(tmp_path):
    assert "does not exist" in bad("embed", tmp_path / "nothing.csv", "-m pca -o", tmp_path / "out.csv")
    (tmp_path / "folder").mkdir()
    assert "folder" in bad("embed", tmp_path / "folder", "-m pca -o", tmp_path / "out.csv")


def _bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("eigenscape.json", "{}")
        archive.writestr("schema.json", " " * 50_000_000)


@pytest.mark.parametrize(
    "make",
    [_bomb, _empty, _pickle, lambda path: path.mkdir(), lambda _: None],
    ids=["bomb", "empty", "pickle", "folder", "none"],
)
def test_a_bad_model_is_one_line_and_code_2(make, tmp_path, small):
    make(tmp_path / "bad.model")
    assert "bad.model" in bad("transform", tmp_path / "bad.model", small, "-o", tmp_path / "out.csv")
    assert "bad.model" in bad("info", tmp_path / "bad.model")


def test_a_damaged_model_is_an_error(tmp_path, model, small):
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 0xFF
    (tmp_path / "damaged.model").write_bytes(content)
    (tmp_path / "cut.model").write_bytes(content[: len(content) // 2])
    for name in ("damaged.model", "cut.model"):
        assert name in bad("transform", tmp_path / name, small, "-o", tmp_path / "out.csv")


@pytest.mark.long
def test_bad_parameter_values_are_code_2(tmp_path, small):
    assert "--n-neighbors 500" in bad(
        "embed", small, "-m isomap --n-neighbors 500 -o", tmp_path / "o.csv", "-q"
    )
    assert "--symmetrize must be union or mutual or shared, got 'all'" in bad(
        "embed", small, "-m isomap --symmetrize all -o", tmp_path / "o.csv", "-q"
    )
    for words, message in (
        ("-m isomap --radius 2 --n-neighbors 4", "--n-neighbors 4, --radius 2.0 cannot be combined"),
        ("-m isomap --n-init 2", "--n-init 2 is not used without ordinal"),
        (
            "-m laplacian-eigenmaps --affinity rbf --weights heat",
            "--weights heat is for graphs, got --affinity rbf",
        ),
        ("-m laplacian-eigenmaps --dictionary-size 9 --n-anchors 9", "cannot be combined"),
        ("-m isomap --weights heat", "no such option: --weights"),
    ):
        assert message in bad("embed", small, words, "-o", tmp_path / "o.csv", "-q")
    assert "no column" in bad("embed", small, "-m pca --columns a,zz -o", tmp_path / "o.csv", "-q")
    assert "--label" in bad("embed", small, "-m oriented-pca -o", tmp_path / "o.csv", "-q")
    assert "--size" in bad("embed", small, "-m pca --size big -o", tmp_path / "o.csv", "-q")


# --- targets ------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
@pytest.mark.parametrize("flag", ["-o", "--plot", "--report", "--save"])
def test_existing_files_are_overwritten_only_with_force(flag, tmp_path, small):
    old = tmp_path / {"-o": "x.csv", "--plot": "x.png", "--report": "x.html", "--save": "x.model"}[flag]
    old.write_text("old")
    # The parameter is invalid, too: the error shows that targets are checked before the fit.
    line = bad("embed", small, "-m isomap --n-neighbors 500", flag, old)
    assert "--force" in line
    assert old.read_text() == "old"
    good("embed", small, "-m pca", flag, old, "--force -q")
    assert old.read_bytes() != b"old"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "nothing to write"),
        (["-o", "{}/no/folder.csv"], "does not exist; create it"),
        (["-o", "{}"], "directory"),
        (["-o", "{}/a.csv", "--plot", "{}/a.csv"], "also the target of -o"),
        (["-o", "{}/small.csv", "--force"], "also the input"),
        (["--plot", "{}/a.bmp"], ".png"),
        (["--report", "{}/a.pdf"], ".html"),
        (["-o", "{}/a.xlsx"], "a.xlsx"),
        (["--save", "-"], "needs a file"),
    ],
)
def test_targets_are_checked_before_the_fit(words, message, tmp_path, small):
    assert message in bad(
        "embed", small, "-m isomap --n-neighbors 500", *(word.format(tmp_path) for word in words)
    )
    assert small.read_text().startswith("sepal")


def test_a_read_only_folder_is_an_error(tmp_path, small, monkeypatch):
    writable = os.access
    folder = tmp_path / "locked"
    folder.mkdir()
    # root may write to any folder, so os.access itself is replaced
    monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in str(path) and writable(path, mode))
    assert "read-only" in bad("embed", small, "-m pca -o", folder / "out.csv")


# --- processes ----------------------------------------------------------------------------------------------


@contextmanager
def started(*words, **options):
    """Start a process; kill it and close its pipes at the end of the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "eigenscape", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def long_input(tmp_path_factory):
    """Write rows that Isomap needs some seconds for."""
    path = tmp_path_factory.mktemp("long") / "rows.npy"
    np.save(path, np.random.default_rng(0).normal(size=(4000, 20)))
    return path


def until(process, text):
    """Read standard error up to a line that contains the text."""
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"{text!r} was not printed")


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_an_interruption_leaves_no_file(tmp_path, long_input):
    with started(
        "embed", long_input, "-m", "isomap", "-o", tmp_path / "map.csv", "--save", tmp_path / "map.model"
    ) as process:
        until(process, "isomap: about")
        process.send_signal(signal.SIGINT)
        stderr = process.communicate()[1]
    assert process.returncode == 130
    assert stderr == "interrupted; no file was left half-written\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
def test_an_interrupt_that_python_ignores_is_raised_again(capfd):
    """dask listens to the garbage collector; an interrupt inside its callback was printed and forgotten."""

    class Interrupted:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def wait_for_interrupt():
        Interrupted()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            time.sleep(0.01)

    with pytest.raises(SystemExit) as exit_, handle_errors(debug=False):
        wait_for_interrupt()
    assert exit_.value.code == 130
    assert capfd.readouterr().err == "interrupted; no file was left half-written\n"


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
def test_an_interrupt_inside_exec_ends_with_the_exit_code(tmp_path):
    """Modules that define dataclasses run exec while they are imported, which may be during a command."""
    (tmp_path / "command.py").write_text(
        "from eigenscape.app.cli.errors import handle_errors\n"
        "with handle_errors(debug=False):\n"
        "    exec('raise KeyboardInterrupt')\n"
    )
    command = [sys.executable, "-m", "command"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 130
    assert result.stderr == "interrupted; no file was left half-written\n"


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_a_killed_process_leaves_the_old_file(tmp_path, long_input):
    out = tmp_path / "map.csv"
    out.write_text("old\n")
    with started("embed", long_input, "-m", "isomap", "-o", out, "--force") as process:
        until(process, "isomap: about")
        process.kill()
    assert out.read_text() == "old\n"


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_figures_of_all_formats_report_a_full_disk_alike(tmp_path):
    """matplotlib's writer of PDF replaced the error by one of its own."""
    code = (
        "import resource, numpy as np\n"
        "from eigenscape.app.cli.options import OutputOptions\n"
        "from eigenscape.app.cli.output import write_plot\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))\n"
        "for suffix in ('png', 'svg', 'pdf'):\n"
        "    try:\n"
        "        write_plot(OutputOptions(plot=f'map.{suffix}'), np.eye(2), 'map')\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__, str(error).split(';')[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    expected = [f"WriteError no space left to write map.{suffix}" for suffix in ("png", "svg", "pdf")]
    assert done.stdout.splitlines() == expected, done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_a_broken_pipe_is_quiet(tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(20_000, 3)))
    with started("embed", tmp_path / "rows.npy", "-m", "pca", "-o", "-", "-q") as process:
        assert process.stdout.readline().startswith('"pca0"')
        process.stdout.close()
        stderr = process.stderr.read()
    assert stderr == ""


@pytest.mark.long
def test_debug_prints_a_traceback(tmp_path, small):
    for words in (["--debug", "embed"], ["embed", "--debug"]):
        result = run(*words, small, "-m isomap --n-neighbors 500 -o", tmp_path / "o.csv")
        assert result.exit_code == 2
        assert "Traceback" in result.stderr
        assert result.stderr.splitlines()[-1].startswith("error: --n-neighbors 500")


@pytest.mark.long
def test_failed_computations_are_code_1(tmp_path, small, monkeypatch):
    from eigenscape import PCA
    from eigenscape.exceptions import NotConvergedError, NotEnoughMemoryError

    for error in (
        NotConvergedError("the solver stopped"),
        NotEnoughMemoryError("needs 900 GiB"),
        KeyError("inside"),
    ):

        def fail(self, X, y=None, error=error):
            raise error

        monkeypatch.setattr(PCA, "fit", fail)
        line = bad("embed", small, "-m pca -o", tmp_path / "o.csv", "-q", code=1)
        assert str(error.args[0]) in line


def test_too_little_memory_is_an_error_before_the_fit(tmp_path, small, monkeypatch):
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: 10_000)
    line = bad("embed", small, "-m isomap -o", tmp_path / "o.csv", "-q", code=1)
    assert "only 10 KiB are free" in line
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.long
def test_progress_is_shown_on_request(tmp_path, small):
    shown = run("embed", small, "-m isomap -o", tmp_path / "o.csv", "--progress")
    assert shown.exit_code == 0
    assert "neighbours" in shown.stderr
    assert shown.stdout == ""
    silent = run("embed", small, "-m isomap -o", tmp_path / "o.csv", "--force")
    assert "neighbours" not in silent.stderr
