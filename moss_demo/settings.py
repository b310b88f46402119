"""The host's settings. The only place that reads environment variables.

Everything a host may change lives here with its default; the visitor's choices live on the page.
"""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from moss_demo.errors import RequestError


def default_temp_folder() -> Path:
    """Return Gradio's own default."""
    return Path(tempfile.gettempdir()) / "gradio"


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """A server that answers `/audio/transcriptions` as OpenAI does.

    Attributes:
        name: what people call it.
        base_url: address up to the version, such as `http://gpu:8000/v1`.
        key: what it wants to be shown, never shown to anybody else.
    """

    name: str
    base_url: str
    key: str | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """The name beside those of checkpoints."""
        return f"{self.name} (remote)"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the host decides.

    Attributes:
        model: checkpoint that is loaded when nobody asks for another one.
        adapter: folder of a LoRA adapter that is merged into that checkpoint, if any.
        models: checkpoints that visitors may choose, names or folders; empty offers all that are
            here.
        precisions: number formats that visitors may choose; empty offers all.
        max_duration_s: longest recording that is accepted, in seconds.
        max_evaluation_s: longest recordings of one evaluation on the page together, in seconds.
        max_file_bytes: largest upload, in bytes.
        max_queue: how many runs may wait behind the one on the device.
        temp_folder: where the files of visitors and programs lie while they are needed.
        max_temp_bytes: how large it may grow.
        api_key: what programs have to present, or None to serve everybody.
        logins: names with passwords that may open the page; empty asks nobody.
        zero_gpu: whether this is a Space that borrows a GPU for each run.
        hub_endpoint: address of the Hugging Face hub, or None for the public one.
        allow_download: offer visitors to fetch the published weights onto this server.
        remotes: servers that visitors may send recordings to.
        cache: folder of compiled kernels and of reports of benchmarks.
        full_benchmark: let visitors run more than quick benchmarks.
    """

    model: str = "auto"
    adapter: str | None = None
    models: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    max_duration_s: float = 90 * 60.0
    max_evaluation_s: float = 180 * 60.0
    max_file_bytes: int = 1 << 30
    max_queue: int = 32
    temp_folder: Path = field(default_factory=default_temp_folder)
    max_temp_bytes: int = 20 << 30
    api_key: str | None = field(default=None, repr=False)
    logins: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    zero_gpu: bool = False
    hub_endpoint: str | None = None
    allow_download: bool = True
    remotes: tuple[RemoteServer, ...] = ()
    cache: Path = Path("~/.cache/moss_demo")
    full_benchmark: bool = True


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings.

    Args:
        environment: variables by name; the README lists those that are known.

    Raises:
        RequestError: a variable holds something that it cannot mean.
    """
    defaults = Settings()
    return Settings(
        model=environment.get("MOSS_DEMO_MODEL") or defaults.model,
        adapter=environment.get("MOSS_DEMO_ADAPTER") or None,
        models=_list(environment, "MOSS_DEMO_MODELS"),
        precisions=_list(environment, "MOSS_DEMO_PRECISIONS"),
        max_duration_s=60 * _number(environment, "MOSS_DEMO_MAX_MINUTES", 90),
        max_evaluation_s=60 * _number(environment, "MOSS_DEMO_MAX_EVALUATION_MINUTES", 180),
        max_file_bytes=int(_number(environment, "MOSS_DEMO_MAX_UPLOAD_MB", 1024) * (1 << 20)),
        max_queue=max(1, int(_number(environment, "MOSS_DEMO_MAX_QUEUE", defaults.max_queue))),
        temp_folder=Path(environment.get("GRADIO_TEMP_DIR") or default_temp_folder()),
        max_temp_bytes=int(_number(environment, "MOSS_DEMO_MAX_TEMP_GB", 20) * (1 << 30)),
        api_key=_key(environment),
        logins=_logins(environment),
        zero_gpu=environment.get("SPACES_ZERO_GPU", "").lower() in ("1", "true"),
        hub_endpoint=environment.get("HF_ENDPOINT") or None,
        allow_download=_flag(environment, "MOSS_DEMO_ALLOW_DOWNLOAD", default=True),
        remotes=_remotes(environment),
        cache=_cache(environment),
        full_benchmark=_flag(
            environment,
            "MOSS_DEMO_FULL_BENCHMARK",
            default="SPACE_ID" not in environment,  # a public Space is everybody's
        ),
    )


def read_remote(address: str, name: str | None = None) -> RemoteServer:
    """Read a server's address; a key may stand in it as `http://:KEY@host:8000/v1`.

    Args:
        address: with or without the version; `/v1` is added to a bare host.
        name: what people call it, its host by default.

    Raises:
        RequestError: it is no address.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https"):
        raise RequestError(
            "A remote engine is an address such as http://host:8000/v1, with its key as "
            "http://:KEY@host:8000/v1 if it wants one."
        )
    place = f"[{host}]" if ":" in host else host
    place = place if port is None else f"{place}:{port}"
    base_url = f"{parts.scheme}://{place}{parts.path.rstrip('/') or '/v1'}"
    key = unquote(parts.password or "")
    if not key.isascii():
        raise RequestError("The key of a remote engine must be made of ASCII characters.")
    return RemoteServer(name or place, base_url, key or None)


def _remotes(environment: Mapping[str, str]) -> tuple[RemoteServer, ...]:
    named: dict[str, RemoteServer] = {}
    for pair in environment.get("MOSS_DEMO_REMOTES", "").split():
        name, separator, address = pair.partition("=")
        if not separator or not name:
            raise RequestError("MOSS_DEMO_REMOTES holds pairs such as vllm=http://host:8000/v1.")
        if name in named:
            raise RequestError(f"MOSS_DEMO_REMOTES names {name} twice; give each its own name.")
        named[name] = read_remote(address, name)
    return tuple(named.values())


@dataclass(frozen=True, slots=True)
class Worker:
    """Which of several processes of one command this is, as `torchrun` says it.

    Attributes:
        rank: number among all processes, from 0.
        local_rank: number among those of this machine, from 0.
        count: how many there are.
    """

    rank: int = 0
    local_rank: int = 0
    count: int = 1


def worker_from_environment(environment: Mapping[str, str] = os.environ) -> Worker:
    """Read `RANK`, `LOCAL_RANK` and `WORLD_SIZE`; without them there is one process.

    Raises:
        RequestError: a variable holds something that is not a whole number.
    """
    try:
        rank, local_rank, count = (
            int(environment.get(name) or default)
            for name, default in (("RANK", 0), ("LOCAL_RANK", 0), ("WORLD_SIZE", 1))
        )
    except ValueError as error:
        raise RequestError(
            "RANK, LOCAL_RANK and WORLD_SIZE must be whole numbers, as torchrun sets them."
        ) from error
    return Worker(rank, local_rank, count)


def keep_gradio_offline() -> None:
    """Switch Gradio's own look-ups of versions and telemetry off, unless the host set them."""
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")


def keep_files_in(folder: Path) -> None:
    """Let Gradio keep uploads and results in a folder; it reads that from the environment alone."""
    os.environ["GRADIO_TEMP_DIR"] = str(folder)


def keep_kernels() -> None:
    """Keep compiled kernels between starts; in a folder of this start where none can be written.

    Belongs before the import of torch, which names folders of its own. What the host named stays.
    """
    folders = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
    missing = [name for name in folders if name not in os.environ]
    if missing:
        cache = _writable(_cache(os.environ))
        os.environ.update({name: str(cache / folders[name]) for name in missing})


def keep_weights() -> None:
    """Keep weights in the usual cache; in a folder of this start where that cannot be written.

    Belongs before the import of huggingface_hub. What the host named stays.
    """
    if not {"HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME"} & os.environ.keys():
        os.environ["HF_HOME"] = str(_writable(Path("~/.cache/huggingface")))


def _cache(environment: Mapping[str, str]) -> Path:
    users = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(environment.get("MOSS_DEMO_CACHE") or f"{users}/moss_demo")


def _writable(folder: Path) -> Path:
    with suppress(RuntimeError):  # nobody's home
        folder = folder.expanduser().absolute()
        found = next(path for path in (folder, *folder.parents) if path.exists())
        if found.is_dir() and os.access(found, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="moss_demo-"))  # for this user alone: code is loaded


def _list(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, environment.get(name, "").split(","))))


def _logins(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition(":") for text in _list(environment, "MOSS_DEMO_AUTH")]
    said = environment.get("MOSS_DEMO_AUTH")  # a variable that names nobody must not open the page
    if (said and not pairs) or not all(name and password for name, _, password in pairs):
        raise RequestError("MOSS_DEMO_AUTH must be name:password, more of them behind commas.")
    return tuple((name, password) for name, _, password in pairs)


def _key(environment: Mapping[str, str]) -> str | None:
    key = environment.get("MOSS_DEMO_API_KEY", "").strip()  # files of secrets end in a line break
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise RequestError("MOSS_DEMO_API_KEY must be made of ASCII characters without blanks.")
    return key or None


def _flag(environment: Mapping[str, str], name: str, *, default: bool) -> bool:
    said = environment.get(name) or str(int(default))
    if said not in ("0", "1"):
        raise RequestError(f"{name} must be 0 or 1, not {said!r}.")
    return said == "1"


_FAR_TOO_MUCH = 1e9
"""Minutes, megabytes or visitors; a thousand times more would not fit a file's size."""


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < _FAR_TOO_MUCH:
        raise RequestError(f"{name} must be a positive number below 1e9, not {text!r}.")
    return value
