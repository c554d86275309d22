"""The map of docs/architecture.md, and what a committed file may not hold."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
import tomllib
from pathlib import Path

import pytest

PACKAGES = ("server", "pipeline", "audio", "web", "config", "artefacts")
TOP_LEVEL = {
    *PACKAGES, "tools", "requirements", "tests", "docs", ".ci", "pyproject.toml", "constraints.txt", "Makefile",
    "Dockerfile", "compose.yaml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
    ".gitignore", ".dockerignore", ".editorconfig",
}  # fmt: skip
LONGEST_FUNCTION = 60
LONGEST_CLASS = 250
"""Most lines of code; docstrings, comments and blank lines don't count."""
LONGER = {
    ("server/store/migrations/versions/0001_first_schema.py", "upgrade"): "a migration is one step",
    ("pipeline/language/clauses.py", "_Splitter"): "the splits of one sentence share its tokens",
}
QUIET = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
REGISTRY = re.compile(r"//[a-z.-]*(" + "|".join(("py" + "pi", "npm" + "js", "python" + "hosted")) + ")", re.IGNORECASE)
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")

pytestmark = pytest.mark.needs("git")


@pytest.fixture(scope="module")
def files(root: Path) -> list[Path]:
    """Committed files and those about to be, relative to the root."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=60)
    return [Path(line) for line in sorted(set(run.stdout.splitlines())) if (root / line).is_file()]


def lines(root: Path, path: Path) -> list[str]:
    """Lines of a text file; none of a binary one."""
    try:
        return (root / path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []


def product(files: list[Path]) -> list[Path]:
    """Python modules that are installed."""
    return [path for path in files if path.suffix == ".py" and path.parts[0] in PACKAGES]


def test_top_level_holds_only_what_the_map_shows(files: list[Path]) -> None:
    assert {path.parts[0] for path in files} <= TOP_LEVEL


def test_web_holds_no_python_but_its_init(files: list[Path]) -> None:
    assert [path for path in files if path.parts[0] == "web" and path.suffix == ".py"] == [Path("web/__init__.py")]


def test_modules_say_what_they_are_for(root: Path, files: list[Path]) -> None:
    silent = [
        str(path)
        for path in product(files)
        if "migrations" not in path.parts and ast.get_docstring(ast.parse("\n".join(lines(root, path)))) is None
    ]
    assert silent == []


def too_long(source: str) -> dict[str, int]:
    """Lines of code of the functions and classes that are longer than they may be, by name."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {line for token in tokens if token.type not in QUIET for line in range(token.start[0], token.end[0] + 1)}
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            code -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    found: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            count = len(code & set(range(node.lineno, (node.end_lineno or node.lineno) + 1)))
            if count > (LONGEST_CLASS if isinstance(node, ast.ClassDef) else LONGEST_FUNCTION):
                found[node.name] = count
    return found


def test_functions_and_classes_are_short_enough_to_read(root: Path, files: list[Path]) -> None:
    long = {
        (str(path), name): count
        for path in product(files)
        for name, count in too_long((root / path).read_text(encoding="utf-8")).items()
    }
    assert {place: count for place, count in long.items() if place not in LONGER} == {}
    assert [place for place in LONGER if place not in long] == [], "needs no exception any more"


def test_length_counts_code_and_nothing_else() -> None:
    def function(lines_of_code: int, indent: str = "") -> str:
        said = [f"{indent}def work() -> None:", f'{indent}    """Say\n\n    something."""', "", f"{indent}    # why"]
        return "\n".join([*said, *[f"{indent}    print()"] * (lines_of_code - 1)])

    assert too_long(function(LONGEST_FUNCTION)) == {}
    assert too_long(function(LONGEST_FUNCTION + 1)) == {"work": LONGEST_FUNCTION + 1}
    methods = "\n".join(function(50, "    ") for _ in range(5))
    assert too_long(f"class Big:\n{methods}") == {"Big": 251}
    assert too_long(f"class Big:\n{methods.removesuffix('    print()')}") == {}


def test_files_name_no_package_registry(root: Path, files: list[Path]) -> None:
    found = [f"{path}:{n}" for path in files for n, line in enumerate(lines(root, path), 1) if REGISTRY.search(line)]
    assert found == []


def test_files_know_nothing_of_this_machine(root: Path, files: list[Path]) -> None:
    places = (f"{root}/", f"{Path.home()}/")
    found = [
        f"{path}:{n}"
        for path in files
        for n, line in enumerate(lines(root, path), 1)
        if any(place in line for place in places)
    ]
    assert found == []


def test_code_carries_no_unfinished_marks(root: Path, files: list[Path]) -> None:
    code = [path for path in files if path.suffix in (".py", ".js", ".css", ".html", ".yaml", ".lua")]
    found = [f"{path}:{n}" for path in code for n, line in enumerate(lines(root, path), 1) if UNFINISHED.search(line)]
    assert found == []


def test_images_in_the_docs_exist(root: Path, files: list[Path]) -> None:
    picture = re.compile(r"!\[[^\]]*\]\(([^)#]+)\)|<img[^>]+src=\"([^\"]+)\"")
    missing = [
        f"{path}: {target}"
        for path in files
        if path.suffix == ".md"
        for line in lines(root, path)
        for pair in picture.findall(line)
        if not (target := pair[0] or pair[1]).startswith("http") and not (root / path.parent / target).is_file()
    ]
    assert missing == []


def test_links_in_the_docs_lead_somewhere(root: Path, files: list[Path]) -> None:
    link = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
    dead = [
        f"{path}: {target}"
        for path in files
        if path.suffix == ".md"
        for line in lines(root, path)
        for target in link.findall(line)
        if not re.match(r"[a-z]+:|#", target) and not (root / path.parent / target.split("#")[0]).exists()
    ]
    assert dead == []


def test_torch_stays_out_of_the_core_and_the_tested_versions(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    pinned = [line for line in lines(root, Path("constraints.txt")) if not line.startswith("#")]
    heavy = re.compile(r"^(torch|triton|nvidia|cuda|sentence[-_]transformers)\b")
    assert [name for name in project["dependencies"] if heavy.match(name)] == []
    assert [line for line in pinned if re.match(r"^(torch|triton|nvidia|cuda)", line)] == []
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line) for line in pinned)


def test_dependencies_each_have_a_tested_version(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(name for names in project["optional-dependencies"].values() for name in names),
    ]

    def plain(requirement: str) -> str:
        return re.split(r"[\[<>=!~ ]", requirement)[0].lower().replace("_", "-")

    pinned = {plain(line) for line in lines(root, Path("constraints.txt")) if not line.startswith("#")}
    # torch is missing on purpose: pinned, it would bring gigabytes of CUDA (pyproject.toml).
    assert sorted({plain(name) for name in wanted} - pinned - {"torch"}) == []
