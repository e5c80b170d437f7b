"""Weights of edges in text files."""

import eigenscape


def test_integer_weights_beyond_double_precision_are_rounded(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target,weight\na,b,1\nb,c,9007199254740993\n")
    table = eigenscape.read(path, kind="edges")
    assert table.array.toarray().tolist() == [[0, 1, 0], [1, 0, 2.0**53], [0, 2.0**53, 0]]
