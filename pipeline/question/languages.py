"""Whether a short text is in another language than expected; in doubt it counts as the expected one.

Two kinds of evidence count: the script of the letters, and function words, which names and loan words do not contain.
Languages without a list of function words are judged by their script alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from pipeline.question.patterns import QUOTED, word_set
from pipeline.question.refusals import Refusal
from pipeline.question.text import sentences

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "en": word_set(
        "the of and to in that it is was for you your what how why when which who with this about did do does tell me "
        "are have has on from most more as at by be an or not there would could if than where were had been they he "
        "she we us my our their his her its him them so but all any some can will just into out up then now when's "
        "what's these those because after before while without during over very much many other else first last time "
        "feel feels felt like mean means come comes came make makes made think thinks let say says said happened next "
        "looking describe walk through imagine whose while yourself"
    ),
    "de": word_set(
        "der die das und ist in zu den mit sich auf für von sie es ein eine wie was haben ihnen ihr dem nicht war bei "
        "wenn als auch am im an wurde würden mir über welche warum dass aus noch ihre ihren ihrem ihrer ihres einen "
        "einem einer eines des zum zur nach vor um so oder aber wer wo wann woher wohin wofür womit woran worauf "
        "inwiefern welcher welches welchen welchem hat hatten hätte würde werden wird sind waren kann können könnten "
        "dabei daran damit davon dafür danach da dann diese dieser dieses diesen diesem etwas mehr mal man ich wir uns "
        "du dich dir dein deine sehr nur schon gerade immer ohne seit bis gab gibt geht ging kommt kam fällt gefällt "
        "mögen erzählen beschreiben ganz alles bedeutet"
    ),
    "fr": word_set(
        "le la les des est et que qui vous dans pour une un avec sur pas quoi comment pourquoi votre ce cela du de au "
        "aux en il elle on nous je vos mon ma mes son sa ses leur leurs cette ces quel quelle quels quelles où quand "
        "qu ne plus moins très était êtes avez avait été fait faire dit peut pouvez seriez avez-vous si ou mais donc "
        "lorsque depuis sans entre chez par comme tout toute tous quelque chose moment où décrivez racontez moi lui ça "
        "ce quoi ensuite après avant encore aussi"
    ),
    "es": word_set(
        "el la los las que es en por para una un con su qué cómo cuándo usted le más del al de y o no se lo sus mi me "
        "te tu nos les este esta eso esa ese esto estos esas quién quiénes dónde cuál cuáles fue era ha han había hay "
        "son está estaba como pero muy sin sobre entre cuando donde porque si ya también desde hasta todo algo cada "
        "hace haría hizo siente sintió gusta después antes cuénteme describa"
    ),
    "nl": word_set(
        "het een van en dat u uw wat hoe waarom voor met op zijn niet aan er bij de in is was die dit deze te om ik je "
        "jij we wij ze zij hij hun haar mij me ons wie waar wanneer welk welke waarom heeft hebt had hebben wordt werd "
        "zou zouden kunt kan kon als maar ook nog dan naar uit over onder tot geen meer zich daar daarbij daarna "
        "daarvan waarop waaraan iets alles vertel vindt vond komt kwam ging gaat voelde bent waren zonder toen door"
    ),
    "it": word_set(
        "il lo gli che di per una con della cosa come perché suo lei sono più nel la le un uno del dei delle dello "
        "degli al alla alle ai allo nella nei nelle da dal dalla in su sulla sul si ci mi ti ne non ma se anche è era "
        "ha hanno ho fu sua suoi sue questo questa quello quella quale quali chi quando dove cui era stato stata molto "
        "ancora dopo prima senza tra fra ogni tutto qualcosa modo fatto dice sente sentito piace racconti descriva"
    ),
    "pt": word_set(
        "o os as um uma do da dos das no na nos nas em por para com que não você seu sua seus suas é foi era são como "
        "quando onde quem qual quais porque mais mas ou se ao à pelo pela isso este esta essa esse sobre até depois "
        "antes sem também muito lhe ele ela já tem sentiu gosta"
    ),
    "tr": word_set(
        "bir bu şu ve ile için ne nasıl neden niçin niye kim nerede nereye nereden hangi hangisi kadar mı mi mu mü "
        "mısınız "
        "misiniz siz sizi size sizin sizce ben bana beni benim biz bize onu ona onun orada burada daha en çok az gibi "
        "ama veya ya da de ki her hiç şey olarak olan oldu olur var yok değil sonra önce zaman o nedir neydi neler "
        "neyi "
        "bunu bunun buna mıydı miydi üzerinde hakkında göre"
    ),
}  # fmt: skip
"""Function words by language; a word that several languages share is no evidence between them."""

_SUFFIXES: dict[str, tuple[str, ...]] = {
    "tr": tuple(
        "ıyor iyor uyor üyor yorsunuz dınız diniz dunuz dünüz tınız tiniz tunuz tünüz rsınız rsiniz rdınız rdiniz "
        "ğınız ğiniz larınız leriniz nızda nizde ınıza inize".split()
    ),
}

_LETTERS: dict[str, frozenset[str]] = {"tr": frozenset("ğşı")}

_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("Latin", re.compile(r"[A-Za-z\xaa\xba\xc0-\xd6\xd8-\xf6\xf8-\u024f\u1e00-\u1eff]")),
    ("Arabic", re.compile(r"[\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]")),
    ("Cyrillic", re.compile(r"[\u0400-\u052f]")),
    ("Greek", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("Hebrew", re.compile(r"[\u05d0-\u05ea]")),
    ("Japanese", re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")),
    ("Chinese", re.compile(r"[\u3400-\u9fff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af\u1100-\u11ff\u4e00-\u9fff]")),
    ("Devanagari", re.compile(r"[\u0904-\u0939\u0958-\u097f]")),
    ("Thai", re.compile(r"[\u0e01-\u0e4e]")),
)
_SCRIPT_PATTERNS = dict(_SCRIPTS)
_SCRIPT_OF: dict[str, str] = {
    **dict.fromkeys(
        "en de fr es nl it tr pt pl sv da no nb nn fi cs sk hu ro hr sl et lv lt id ms vi sw ca eu gl is ga cy sq "
        "af".split(),
        "Latin",
    ),
    **dict.fromkeys(("ar", "fa", "ur", "ps"), "Arabic"),
    **dict.fromkeys(("ru", "uk", "bg", "be", "mk"), "Cyrillic"),
    **dict.fromkeys(("hi", "mr", "ne"), "Devanagari"),
    "el": "Greek", "he": "Hebrew", "ja": "Japanese", "zh": "Chinese", "ko": "Korean", "th": "Thai",
}  # fmt: skip
_KANA = re.compile(r"[\u3041-\u30ff]")

LEAST_LETTERS = 6
_WORD = re.compile(r"[^\W\d_]+")
_POLITE = frozenset(("Sie", "Ihnen", "Ihr", "Ihre", "Ihrem", "Ihren", "Ihrer", "Ihres", "Usted", "Lei", "Vous", "Uw"))
_LATIN_NAME = re.compile(r"\b[A-Z][\w-]*")
_SPANISH_MARK = re.compile(r"¿\s*\w+\s+\w+")


def language_refusals(text: str, language: str) -> list[Refusal]:
    """A refusal if a text is clearly in another language; quotations are not considered.

    Args:
        text: as it came, quotations replaced by `«q»`, case kept.
        language: code of the language it should be in.
    """
    code = language.casefold()[:2]
    own_words = text.replace(QUOTED, " ")
    for what in (_other_script(own_words, code), _other_words(own_words, code)):
        if what:
            return [Refusal(code="language", detail=what)]
    for sentence in sentences(own_words)[-1:]:
        if sentence != own_words.strip() and (what := _other_words(sentence, code)):
            return [Refusal(code="language", detail=what)]
    return []


def _other_script(text: str, code: str) -> str:
    script = _SCRIPT_OF.get(code)
    if script is None:
        return ""
    if script != "Latin":
        text = _LATIN_NAME.sub(" ", text)
    letters = sum(map(str.isalpha, text))
    if letters < LEAST_LETTERS and not (letters >= 3 and text.rstrip()[-1:] in "?؟？"):
        return ""
    if script == "Latin" and text.isascii():
        return ""
    mine = len(_SCRIPT_PATTERNS[script].findall(text))
    if code == "zh" and _KANA.search(text):
        mine -= 2 * len(_KANA.findall(text))
    dense = script in ("Chinese", "Japanese", "Korean")
    return f"not in {script} script" if mine < letters / (4 if dense else 2) else ""


def _other_words(text: str, code: str) -> str:
    """The other language that a text is in by its words; empty if it may be in the expected one."""
    if code not in FUNCTION_WORDS:
        return ""
    if code not in ("es", "gl", "ca") and _SPANISH_MARK.search(text):
        return f"reads like “es”, not “{code}”"
    said = frozenset(_spoken(text))
    worst, most = "", 0
    for name, theirs_only, mine_only in _against(code):
        theirs = len(theirs_only & said) + _endings(said, name)
        if theirs < 2 or theirs <= most:
            continue
        mine = len(mine_only & said) + _endings(said, code)
        if theirs >= 3 * mine:
            worst, most = name, theirs
    return f"reads like “{worst}”, not “{code}”" if worst else ""


@cache
def _against(code: str) -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    """Every other language with the number of words of evidence for it, and of those for `code`."""
    own = FUNCTION_WORDS[code]
    return tuple((name, known - own, own - known) for name, known in FUNCTION_WORDS.items() if name != code)


def _endings(said: frozenset[str], code: str) -> int:
    """How many words have an ending or a letter that only this language has, and are no function words of it."""
    endings, letters = _SUFFIXES.get(code), _LETTERS.get(code, frozenset())
    if not endings:
        return 0
    known = FUNCTION_WORDS[code]
    return sum(
        word not in known and ((len(word) > 4 and word.endswith(endings)) or not letters.isdisjoint(word))
        for word in said
    )


def _spoken(text: str) -> list[str]:
    """The words, case-folded, without names: capitalised words inside a sentence and little words between them."""
    return [word for sentence in sentences(text) for word in _without_names(_WORD.findall(sentence))]


def _without_names(said: Sequence[str]) -> list[str]:
    named = [at > 0 and word[0].isupper() and word not in _POLITE and word != "I" for at, word in enumerate(said)]
    if True not in named:
        return [word.casefold() for word in said]
    kept = []
    for at, word in enumerate(said):
        between = any(named[max(0, at - 2) : at]) and any(named[at + 1 : at + 3])
        if not named[at] and not between:
            kept.append(word.casefold())
    return kept
