"""What a host sets, and where compiled kernels are kept."""

import os
import tempfile
from pathlib import Path

import pytest

from moss_demo.errors import RequestError
from moss_demo.settings import from_environment, keep_kernels

NAMES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


@pytest.fixture(autouse=True)
def _unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that named none of the folders; whatever a test sets is taken back."""
    for name in NAMES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_a_switch_is_0_or_1() -> None:
    """Whoever writes `false` would otherwise leave open what they meant to close."""
    name = "MOSS_DEMO_ALLOW_DOWNLOAD"
    assert [from_environment({name: said}).allow_download for said in ("", "0", "1")] == [
        True, False, True,
    ]  # fmt: skip
    with pytest.raises(RequestError, match="ALLOW_DOWNLOAD must be 0 or 1, not 'false'"):
        from_environment({name: "false"})
    assert not from_environment({"SPACE_ID": "someone/space"}).full_benchmark
    assert from_environment(
        {"SPACE_ID": "someone/space", "MOSS_DEMO_FULL_BENCHMARK": "1"}
    ).full_benchmark


def test_remote_engines_have_names_of_their_own() -> None:
    """The second of one name would silently take the place of the first."""
    name = "MOSS_DEMO_REMOTES"
    two = from_environment({name: "a=http://one:8000/v1 b=http://:KEY@two"}).remotes
    assert [(server.name, server.base_url, server.key) for server in two] == [
        ("a", "http://one:8000/v1", None),
        ("b", "http://two/v1", "KEY"),
    ]
    with pytest.raises(RequestError, match="REMOTES names a twice; give each its own name"):
        from_environment({name: "a=http://one:8000/v1 a=http://two:8000/v1"})


def test_kernels_are_kept_in_the_folder_of_the_host(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Torch and Triton get a folder each; nothing is created before it is needed."""
    monkeypatch.setenv("MOSS_DEMO_CACHE", str(tmp_path / "kept"))
    keep_kernels()
    assert [os.environ[name] for name in NAMES] == [
        str(tmp_path / "kept" / "inductor"),
        str(tmp_path / "kept" / "triton"),
    ]
    assert not (tmp_path / "kept").exists()


def test_a_folder_that_the_host_named_for_torch_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The variables of torch and Triton are stronger than ours."""
    monkeypatch.setenv("MOSS_DEMO_CACHE", str(tmp_path))
    monkeypatch.setenv(NAMES[0], "/elsewhere")
    keep_kernels()
    assert os.environ[NAMES[0]] == "/elsewhere"
    assert os.environ[NAMES[1]] == str(tmp_path / "triton")


def test_the_users_own_cache_is_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a setting it is where programs of this user keep what they can make again."""
    monkeypatch.delenv("MOSS_DEMO_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    keep_kernels()
    assert os.environ[NAMES[0]] == str(tmp_path / "moss_demo" / "inductor")


def test_where_nothing_can_be_written_a_temporary_folder_serves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It belongs to this user alone, since code is loaded from it."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("MOSS_DEMO_CACHE", str(tmp_path / "file" / "kept"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    keep_kernels()
    folder = Path(os.environ[NAMES[0]]).parent
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("said", [",", " ", "ann", ":x", "ann:"])
def test_a_login_that_names_nobody_opens_no_page(said: str) -> None:
    """An empty template must not leave open what was meant to be closed."""
    with pytest.raises(RequestError, match="MOSS_DEMO_AUTH"):
        from_environment({"MOSS_DEMO_AUTH": said})


def test_keys_are_read_as_they_are_meant() -> None:
    """Files of secrets end in a line break, and an address spells some letters in per cent."""
    assert from_environment({"MOSS_DEMO_API_KEY": "s3cret\n"}).api_key == "s3cret"
    for key in ("ключ", "two words"):
        with pytest.raises(RequestError, match="MOSS_DEMO_API_KEY"):
            from_environment({"MOSS_DEMO_API_KEY": key})
    (remote,) = from_environment({"MOSS_DEMO_REMOTES": "a=http://:a%2Fb@h"}).remotes
    assert remote.key == "a/b"


@pytest.mark.parametrize("name", ["MAX_UPLOAD_MB", "MAX_TEMP_GB", "MAX_QUEUE"])
def test_a_limit_without_limit_is_refused(name: str) -> None:
    """Larger than any disk is a mistake, and no number of bytes."""
    with pytest.raises(RequestError, match=name):
        from_environment({f"MOSS_DEMO_{name}": "1e305"})
