"""What in an answer to a concept test leads back to the idea: a question, a doubt, a condition, a strong reaction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from pipeline.elements import Names, named
from pipeline.question.text import sentences, words

LeadKind = Literal["asks", "unclear", "unseen", "condition", "doubt", "against", "liking", "raised", "bare"]
"""The respondent asks something about the idea, has not understood it, has not noticed a part of it, says on what it
depends, doubts it, is against it, likes it, brings a part of it up; or says so little that nobody knows why."""

QUOTED = 12
"""Words that are said back at the most."""
LEAST_QUOTED = 3
CHECKED = 5
"""Words of a statement with a question mark from which on it asks whether it is so; fewer only say something back."""
BRIEF = 8
"""Words of an answer up to which it gives no reason unless it says so."""
STORY = 20
"""Words of an answer from which on it can be a story."""

_PATTERNS: Final[dict[str, dict[str, str]]] = {
    "en": {
        "fillers": r"(?:and|but|so|or|well|hm+|oh|then|honestly|just|also|actually|ok(?:ay)?|right|no|yes|because|i mean"
        r"|to be honest|of course|the thing is|and then|i thought|i was thinking)\b[\s,.:…–—-]*",
        "asks": r"^(?:who|what|where|when|how|which|why|is|are|do|does|can|could|would|will|has|have)\b(?=.*\?)"
        r"|\b(?:what if|what happens (?:if|when))\b(?=.*\?)"
        r"|\b(?:isn't|is|aren't|are|doesn't|does|don't|do|can|can't|won't|will) (?:it|they|there|you)\?$"
        r"|\bi(?:'d| would)? (?:really |still |also )?(?:want|like|need|love|have) to know\b"
        r"|\bi(?:'d)? (?:do )?wonder(?:ed)?(?:,| if| whether| who| what| how| where| when| why)"
        r"|\b(?:it|that) (?:doesn't|didn't) say\b"
        r"|\bi (?:don't|do not|didn't) (?:quite |really )?(?:understand|get|see|know) (?:how|who|what|where|when|whether|if)\b",
        "no_asks": r"\b(?:he|she|they|we|you|people) (?:said|asked|told|says|goes|ask|say)\b|^(?:why not|what else)\b"
        r"|\bwho (?:wouldn't|doesn't|needs|cares|knows)\b|\bwhat can (?:you|i|one) (?:do|say)\b|^what do you mean\b"
        r"|\b(?:was|were) (?:i|he|she|we|they) (?:to|supposed)\b|^(?:\w+ ){0,3}of what\b|^like what\b|\bwhat's not to\b"
        r"|^(?:when|what) was what\b|\byou know\?$|^you know (?:what|how)\b|\byou mean\b|\byou (?:ask|asking|want to know|want to hear|after)\b"
        r"|\bare you (?:a|an|real|human|recording|still|there)\b|\b(?:this|the) (?:interview|survey|study|conversation|chat)\b"
        r"|\bwhere (?:do|would|am|should|could) (?:i|we) (?:put|keep|store|to put)\b"
        r"|\b(?:quite|very|too|rather|pretty|really|a lot|a bit|so)\b.*\b(?:isn't|is|aren't|are|doesn't|does) (?:it|they)\?$"
        r"|\bmy (?:answers?|data|name)\b|\bquestions?\b|\bhow long (?:does|will|is|do) (?:this|we)\b|\bwho reads\b",
        "answers_itself": r"^(?:so|then|well|no|nope|yes|maybe|perhaps|probably|because|about|i guess|i think|i suppose|that's|not)\b",
        "unseen": r"\b(?:didn't|haven't|hadn't|don't|do not|did not) (?:really |even |actually )?"
        r"(?:(?:think|believe|remember|recall) (?:that )?(?:i |i've )?)?(?:see|saw|seen|seeing|notice|noticed|noticing"
        r"|read|spot|spotted)\b|\bdid i miss\b|\bmust have missed\b|\bi (?:only )?skimmed\b|\bwasn't aware\b",
        "unclear": r"\bi (?:really |still |just )?(?:don't|do not|didn't) (?:quite |really )?(?:get|understand) (?:it|this|the (?:idea|thing|point|concept))\b"
        r"|\b(?:it|this|that)(?:'s| is) (?:all )?(?:a bit |rather |very )?confusing\b|\bi'm (?:a bit )?confused\b",
        "condition": r"\bif only\b|\bonly if\b|\bunless\b|\bas long as\b|\bprovided\b|\bdepends? (?:on|how|what|who|whether)\b"
        r"|\bif\b(?! you know| i'm honest| i am honest| you ask| you like| anything| i remember| you see| not| so)"
        r"(?=.*\b(?:'d|'ll|would|could|might|then|will|don't need|yes|no|maybe|fine)\b)"
        r"|\b(?:'d|'ll|would|could|might|will)\b[^.?!]{0,60}\bif\b(?! you know| i'm honest| you ask| you like| anything)"
        r"|\b(?:it|that|they|there|he|she|somebody) (?:would have|'d have|has|have|needs?|must|should) (?:to )?"
        r"(?:be|do|have|work|come|fit|last|cost)\b|\bwhat would help\b|\bi(?:'d| would)? (?:only |just )?(?:hope|wish)\b",
        "no_condition": r"\b(?:if|when) i (?:was|were) (?:young|little|small|a)\b",
        "doubt": r"\bnot (?:so |that |quite |really |entirely |too )?(?:sure|certain|convinced)\b"
        r"|\b(?:hardly|don't|do not|can't|cannot|couldn't|wouldn't) (?:quite |really )?(?:believe|trust)\b"
        r"|\btrust (?:it |them |that )?(?:the )?(?:least|less)\b|\bi(?:'d)? (?:really |rather )?doubt\b"
        r"|\b(?:too good to be true|hard to believe|where's the catch|what's the catch|a catch|the small print)\b"
        r"|\bs[ck]eptical\b|\bdoubtful\b|\bsuspicious\b|\bworr(?:y|ied|ies)\b|\bafraid\b|\bconcern(?:s|ed)?\b|\brisk\w*\b"
        r"|\bbit of a stretch\b|\b(?:just|only) (?:marketing|advertising|talk|a trick|a gimmick)\b|\bgimmick\w*\b"
        r"|\b(?:might|could) (?:simply|just|well)\b|\b(?:the|my) (?:only )?(?:problem|trouble|snag|worry|question|thing)"
        r" (?:is|with|would)\b|\bonly thing\b|\bi(?:'d| would) (?:probably|only|just) (?:forget|end up|lose)\b"
        r"|\bhow (?:do|would|can) (?:i|you) know\b|\b(?:can't|cannot|don't|do not) (?:quite |really )?see (?:how|why|what|that|it)\b"
        r"|\bthey (?:never|always|all)\b|\bbut where (?:do|would|am|should|could) (?:i|we) (?:put|keep|store|to put)\b|\botherwise (?:i|it|they|we|you)\b|\bwhy (?:would|should) (?:they|it|he|she|somebody|anybody|anyone)\b",
        "no_doubt": r"\bnot (?:quite |really )?sure (?:what|how) (?:you|to)\b|\bsaid (?:it all|everything)\b",
        "against": r"\b(?:hate|dislike|don't like|do not like|didn't like|not keen|puts? me off|annoy\w*|bothers (?:me|us))\b"
        r"|\b(?:silly|stupid|pointless|useless|ridiculous|rip-?off|trap|scam|unfair|cheeky|a joke|a con|for nothing|no good to me|no use to me|i'm out|rules me out|waste of|nonsense|no use|too (?:expensive|dear|much|many"
        r"|little|small|big|long|short|slow|complicated|fiddly|heavy|risky|late|far))\b"
        r"|\b(?:steep|pricey|quite a (?:bit|lot)|a lot (?:of money|for))\b"
        r"|\b(?:i|we|i'd|we'd) (?:really |actually |just )?(?:don't|do not|wouldn't|would not|won't|never) (?:really |actually |even |ever )?"
        r"(?:need|want|buy|use|pay|take|bother|do)\b(?! (?:to|you|me|it justice))|\bnot for me\b|\bleaves? me cold\b|\bmakes no (?:sense|difference)\b",
        "liking": r"\b(?:love|like|liked|loved|prefer)\b(?! (?:a|an|to|this|when|that of|if|mine|my|everybody|every)\b)(?! \w+ (?:said|says)\b)"
        r"|\b(?:the best|best thing|best part|favourite|brilliant|great|so nice|really nice|looks good|lovely|perfect|clever|excellent|fantastic|amazing"
        r"|handy|appeals?|speaks to me|sold on|good idea|nice idea|the main thing|that's the bit|the bit for me"
        r"|matters? most|what counts|makes sense)\b",
        "no_liking": r"\b(?:don't|didn't|do not|not|wouldn't|never|'d|would|nothing|no) (?:\w+ )?"
        r"(?:like|love|prefer|great|perfect|brilliant|handy|the best)\b|\bwhat(?:'s| is) \w+ like\b|\b(?:feel|feels|felt|look|looks|looked|is|was|it's|are|were|sounds?|just|something|anything|things|more|quickly|stuff|somebody|someone|much|smells?|tastes?) like\b",
        "reason": r"\b(?:because|since|so that|so i|so it|cos|'cause|that way|which means|it means|then (?:i|it|they|you)"
        r"|for (?:me|us) (?:that|it) (?:is|means)|as i|the reason)\b",
        "verdict": r"\b(?:no|nope|yes|yeah|not|fine|good|bad|ok|okay|nice|great|useful|don't|can't|too|never|meh|whatever)\b",
        "one": r"\b(?:it|one|any|that|them|this)\b",
        "it": r"\b(?:it|it's|it'd|it'll|that|that's|they|they're|them|this)\b",
        "past": r"\b(?:was|were|had|did|didn't|went|came|said|told|got|took|gave|saw|found|felt|thought|knew|left|sat"
        r"|stood|ran|rang|heard|brought|bought|kept|made|put|met|began|broke|fell|held|lost|paid|sent|slept|spoke|woke"
        r"|wrote|used to|couldn't|wasn't|weren't|hadn't|(?!need|feed|speed|tired|bored|supposed|washed|included)[a-z]{3,}ed)\b",
        "now": r"\b(?:is|are|'s|isn't|do|does|don't|doesn't|would|wouldn't|will|won't|'d|'ll|can|could|might|am|i'm|want"
        r"|need|like|think|know|have|has|use|pay|buy)\b",
    },
    "de": {
        "fillers": r"(?:und|aber|also|oder|na ja|naja|hm+|ach|dann|ehrlich gesagt|ja|nein|weil|ich dachte|ich meine)\b[\s,.:…–—-]*",
        "asks": r"^(?:wer|wen|wem|was|wo|woher|wohin|wann|wie|welche\w*|warum|wieso|ist|sind|kann|können|muss|müssen|gibt|gilt"
        r"|hat|haben|darf|wird|werden)\b(?=.*\?)|\bwas (?:ist|passiert),? wenn\b(?=.*\?)|\b(?:oder|nicht wahr)\?$"
        r"|\b(?:würde|möchte|wüsste) ich (?:gern(?:e)? |noch |auch )*wissen\b|\bich (?:würde|möchte|wüsste) (?:gern(?:e)? |noch |auch )*(?:wissen)?\b(?=.*(?:wissen|,))"
        r"|\bfrage ich mich\b|\bich frage mich\b|\bda steht nicht\b|\bsteht nicht dabei\b",
        "no_asks": r"\b(?:er|sie|man|wir) (?:sagte|fragte|sagt|fragt|meinte)\b|^(?:warum nicht|was sonst)\b|\bmeinen sie\b|^wie bitte\b|\bfragen?\b|\b(?:dieses|das) (?:gespräch|interview)\b|\bmeine (?:antworten|daten)\b",
        "answers_itself": r"^(?:also|dann|nein|ja|vielleicht|wahrscheinlich|weil|etwa|ich glaube|ich denke|das ist)\b",
        "unseen": r"\b(?:habe|hab) (?:ich )?(?:gar |da |das |den |die |überhaupt )*(?:nicht|kein\w*) (?:\w+ )?(?:gesehen|gelesen|bemerkt)\b"
        r"|\b(?:übersehen|überlesen|überflogen)\b",
        "unclear": r"\b(?:verstehe|kapiere|versteh|kapier) ich (?:\w+ )?nicht\b|\bich (?:verstehe|kapiere) (?:das|es) (?:\w+ )?nicht\b|\bverwirrend\b",
        "condition": r"\b(?:nur wenn|wenn nur|außer wenn|es sei denn|vorausgesetzt|solange|hängt (?:davon )?ab|kommt (?:ganz )?darauf an|kommt drauf an)\b"
        r"|\bwenn\b(?! ich ehrlich| sie mich fragen)(?=.*\b(?:würde|würden|wäre|dann|könnte|hätte|müsste)\b)"
        r"|\b(?:würde|wäre|könnte|hätte)\b[^.?!]{0,60}\bwenn\b|\b(?:es|das|der|die) müsste\b",
        "no_condition": r"\bals ich\b",
        "doubt": r"\b(?:sonst|ansonsten)\b|\bnicht (?:so |ganz |wirklich )*(?:sicher|überzeugt)\b|\b(?:zweifle|bezweifle|skeptisch|misstrauisch|unsicher)\b"
        r"|\b(?:glaube|traue)\b[^.?!]{0,20}\b(?:nicht|kaum)\b|\b(?:zu schön|haken|kleingedruckte\w*|befürchte|fürchte|angst|sorge\w*|risiko|bedenken)\b"
        r"|\bdas (?:einzige|problem) (?:ist|wäre)\b|\bwoher weiß ich\b|\bnur (?:werbung|ein trick)\b",
        "against": r"\b(?:hasse|mag (?:ich )?(?:\w+ )?nicht|gefällt mir (?:\w+ )?nicht|stört|nervt|schreckt|unsinn|quatsch|überflüssig|sinnlos|verschwendung)\b"
        r"|\bzu (?:teuer|viel|wenig|klein|groß|lang|kurz|langsam|kompliziert|umständlich|schwer)\b"
        r"|\b(?:brauche|will|nehme|kaufe|benutze) ich (?:\w+ )?(?:nicht|nie)\b|\bnichts für mich\b",
        "liking": r"\b(?:gefällt mir|mag ich|ich mag|liebe|finde ich (?:\w+ )?(?:gut|toll|super|klasse|prima)|großartig|toll|super|klasse|genial|praktisch|spricht mich an|das beste|am besten|leuchtet mir ein)\b",
        "no_liking": r"\bnicht\b",
        "reason": r"\b(?:weil|denn|damit|da ich|deshalb|deswegen|dann (?:habe|kann|muss|brauche)|so dass|sodass)\b",
        "verdict": r"\b(?:nein|nee|ja|nicht|gut|schlecht|ok|okay|nett|schön|toll|nützlich|zu|nie|egal|kein\w*)\b",
        "one": r"\b(?:es|das|davon|keine\w*|ihn|sie|den|die)\b",
        "it": r"\b(?:es|das|sie|die|der|daran|davon|dafür)\b",
        "past": r"\b(?:war|waren|hatte|hatten|ging|kam|sagte|stand|saß|musste|mussten|konnte|wollte|wurde|wurden|damals|früher|ge[a-zäöü]{3,}(?:t|en))\b",
        "now": r"\b(?:ist|sind|habe|haben|hat|würde|wäre|kann|will|möchte|brauche|finde|denke|mag)\b",
    },
}  # fmt: skip
_CLAUSES = re.compile(r"\s*(?:[,;:–—]|\s-\s|\s\(|\)\s)\s*")


@dataclass(frozen=True)
class Lead:
    """Something in an answer that is worth a question.

    Attributes:
        kind: what it is.
        words: the respondent's words, short enough to be said back; empty where none are.
        sentence: the whole sentence.
        elements: ids of the elements that the sentence names.
        last: whether “that” would be taken for it: it ends the answer.
    """

    kind: LeadKind
    words: str
    sentence: str
    elements: tuple[str, ...] = ()
    last: bool = False


def leads_of(answer: str, names: Names, language: str) -> tuple[Lead, ...]:
    """The leads of an answer, in its order, one for a sentence at the most; none in languages that are not known.

    Args:
        answer: what was said.
        names: what the elements of the concept are called.
        language: code of the respondent's language.
    """
    rules = _rules(language)
    return tuple(_leads(answer, names, rules)) if rules else ()


def asks_of_idea(answer: str, language: str) -> bool:
    """Whether a message asks something about the idea, rather than about the interview or the question."""
    return any(lead.kind == "asks" for lead in leads_of(answer, (), language))


def is_bare(answer: str, language: str) -> bool:
    """Whether an answer is brief and gives no reason."""
    rules, said = _rules(language), _plain(answer)
    return bool(rules) and 0 < len(words(said)) <= BRIEF and not rules["reason"].search(said)


def subject_of(answer: str, names: Names) -> str | None:
    """The one element that a brief first sentence names, so that “it” stands for it in what follows."""
    told = sentences(answer)
    found = named(told[0], names) if len(told) > 1 and len(words(told[0])) <= BRIEF else ()
    return found[0] if len(found) == 1 else None


def judges(text: str, language: str) -> bool:
    """Whether a text says yes or no to something, or calls it good or bad."""
    rules = _rules(language)
    return bool(rules) and rules["verdict"].search(_plain(text)) is not None


def refers(text: str, language: str) -> bool:
    """Whether a text speaks of something by a mere “it” or “that”."""
    rules = _rules(language)
    return bool(rules) and rules["it"].search(_plain(text)) is not None


def tells_past(answer: str, names: Names, language: str) -> bool:
    """Whether an answer tells of what was, rather than of the idea: a story that names no part of it at its end."""
    rules = _rules(language)
    if not rules or len(words(answer)) < STORY:
        return False
    said = [_plain(sentence) for sentence in sentences(answer)]
    if named(said[-1], names):
        return False
    past = sum(len(rules["past"].findall(sentence)) for sentence in said)
    return past > sum(len(rules["now"].findall(sentence)) for sentence in said)


def _leads(answer: str, names: Names, rules: dict[str, re.Pattern[str]]) -> Iterator[Lead]:
    told = sentences(answer)
    for at, sentence in enumerate(told):
        said = _plain(sentence)
        elements = named(sentence, names)
        found = _kind(said, rules, bool(elements))
        if found is None:
            continue
        kind, start = found
        more = at + 1 < len(told)
        if kind == "asks" and more and not sentence.rstrip().endswith(("?", "？")):
            continue  # What somebody would like to know, and goes on from, is told rather than asked.
        if kind == "asks" and more and rules["answers_itself"].search(_plain(told[at + 1])):
            continue
        back = _said_back(sentence, said, start)
        back = back[len(back) - len(rules["fillers"].sub("", _plain(back))) :] if back == " ".join(back.split()) else back
        yield Lead(kind, back, sentence, elements, at == len(told) - 1)


def _kind(said: str, rules: dict[str, re.Pattern[str]], names_element: bool) -> tuple[LeadKind, int] | None:
    """What a sentence is, and where the words begin that show it."""
    unseen = rules["unseen"].search(said)
    if unseen and (names_element or rules["one"].search(said)):
        return "unseen", unseen.start()
    unclear = rules["unclear"].search(said)
    if unclear and not rules["no_asks"].search(said):
        return "unclear", unclear.start()
    asks = _asks(said, rules)
    if asks is not None:
        return "asks", asks
    kinds: tuple[LeadKind, ...] = ("doubt", "condition", "against", "liking")
    for kind in kinds:
        match, against = rules[kind].search(said), rules.get(f"no_{kind}")
        if match and not (against and against.search(said)):
            return kind, match.start()
    return None


def _asks(said: str, rules: dict[str, re.Pattern[str]]) -> int | None:
    """Where a question about the idea begins; it may come behind a comma."""
    if rules["no_asks"].search(said):
        return None
    starts = [0, *(found.end() for found in _CLAUSES.finditer(said))]
    for start in starts:
        bare = rules["fillers"].sub("", said[start:])
        match = rules["asks"].search(bare)
        if match and len(words(bare)) >= LEAST_QUOTED:
            return len(said) - len(bare) + match.start()
    return 0 if said.endswith("?") and len(words(said)) >= CHECKED else None


def _said_back(sentence: str, said: str, start: int) -> str:
    """The part of a sentence that shows a lead, as it was written; empty where it is too long or too short."""
    whole = sentence.strip().rstrip(".!…").strip()
    if len(words(whole)) <= QUOTED:
        parts = [whole]
    else:
        shows = words(said[start:])[:2]
        parts = [part for part in _CLAUSES.split(whole) if _contains(words(part), shows)]
    fitting = [part for part in parts if LEAST_QUOTED <= len(words(part)) <= QUOTED and "“" not in part and '"' not in part]
    return fitting[0] if fitting else ""


def _contains(whole: Sequence[str], part: Sequence[str]) -> bool:
    return any(list(whole[at : at + len(part)]) == list(part) for at in range(len(whole)))


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())


@lru_cache(maxsize=32)
def _rules(language: str) -> dict[str, re.Pattern[str]]:
    found = _PATTERNS.get(language.casefold().split("-")[0], {})
    return {
        name: re.compile(rf"^(?:{pattern})+" if name == "fillers" else rf"(?:{pattern})")
        for name, pattern in found.items()
    }
