"""What people ask of the study, and which part of what they told is to go, in so many words (English)."""

from __future__ import annotations

import re
from typing import Final

from pipeline.acts import Act
from pipeline.language.acts.outright import Said
from pipeline.language.acts.words import REPORTS

_REQUEST = (
    r"(?:(?:^|[.!?,;…\n]\s{0,3}|\b(?:please|pls|plz|just|but|so|ok|okay|no|actually|sorry),? )"
    r"|\b(?:can|could|would|will)(?: you| u| we| i| it| that)?(?: please| pls| just| maybe| also| be)* "
    r"|\b(?:want|like|wish|prefer|need)(?: for)?(?: you| u| that| it)?(?: to)?(?: be)? |\b(?:you|u) (?:can|could"
    r"|should|must|may|might) )"
)
"""What stands before something that the interviewer is to do."""
_OBJECT = (
    r"(?:that|the|this|what) (?:bit |part |thing |sentence |line |stuff |one |last \w+ |answer |comment |word |i "
    r"|we |he |she |my |name )?"
    r"(?:(?:i )?(?:just )?(?:said|told you|mentioned|wrote|put)(?: \w+){0,3} )?(?:about|on|of|with|where"
    r"|regarding|concerning)\b[^.!?\n]{1,60}"
    r"|(?:that|the|this|my) (?:last |first )?(?:bit|part|thing|sentence|line|comment|remark|word)\b"
    r"|that (?:my|i|he|she|we|they) [^.!?\n]{2,60}"
    r"|what i (?:just )?(?:said|told you|wrote|put)(?: just now| last| there| before| earlier| a (?:minute"
    r"|moment) ago)(?! about)\b"
    r"|(?:my|his|her|their|our|the)(?: \w+(?:'s)?){0,2} (?:names?|surname|address|phone number|number|e-?mail"
    r"|employer|workplace)\b"
    r"|\w+'s (?:names?|surname|address|number)\b"
    r"|the \w+(?: \w+)? (?:bit|part|story|thing)\b|just the \w+(?: \w+)? (?:bit|part|story|thing)\b|just (?:his"
    r"|her|my|their|the|that)(?: \w+)? (?:name|bit|part)\b"
)
_ALL: Final = re.compile(
    r"\b(?:everything|all of (?:it|this|that)|it all|all (?:that )?i(?:'ve)?|all my|the (?:whole|entire)"
    r"|whole (?:thing|interview|lot)"
    r"|my answers|my data|this interview)\b",
    re.IGNORECASE,
)
"""Words of who wants all of it to go."""
_PART_OUT = re.compile(
    rf"{_REQUEST}(?:"
    rf"(?:delete|erase|remove|strike|wipe|scratch|scrap|bin|lose|forget|redact|blank)(?: out)? (?:{_OBJECT})"
    rf"|(?:take|leave|cut|cross|strike|scratch) out (?:{_OBJECT})"
    rf"|(?:take|leave|cut|cross|keep|strike) (?:{_OBJECT}) (?:out|off)\b"
    r"|(?:delete|erase|remove|cross out|get rid of)(?: please| pls| only| just)* (?:my last (?:answer|message"
    r"|sentence|one)|that one about\b[^.!?]{1,40}"
    r"|only (?:that|this|the)\b|that (?:i|my|he|she|we|they)\b[^.!?]{2,50})"
    rf"|(?:leave|keep|take) (?!me\b|it\b)[A-Z]\w+ out\b"
    r"|(?:not |don'?t |do not )(?:please )?(?:write|put|note|record|include|use|keep|save) "
    r"(?:that|this|it|the|my|his|her|their|our|any)(?: \w+(?:'s)?){0,3}?(?: (?:down|in there|in it"
    r"|in the (?:study|report|text)|in(?! \w)|on record|anywhere)\b)"
    r")",
    re.IGNORECASE,
)
"""Only a part of what was told is to go, or not to be written down."""
_NOT_DOWN = re.compile(
    r"\b(?:don'?t|do not|please not|(?:can|could|would) you(?: please)? not)(?: please)? (?:write|note|put|save"
    r"|store|record|include|mention|quote"
    r"|publish|print|keep)(?: down)? (?:that|this|the|my|his|her|their|any|what i)\b(?:(?! (?:he|she|they"
    r"|we) )[^.!?,]){0,40}?"
    r"(?:\b(?:down|anywhere|please|pls|in the (?:study|report|text|record|interview))\b"
    r"|\b(?:sentence|address|name|bit|part|number|word|said about \w+ \w+)\b)"
    r"|\b(?:the|that|this|my|his|her) (?:last |first |whole )?(?:sentence|name|bit|part|thing|address|number"
    r"|story|word|answer|message)(?: \w+){0,5}? "
    r"(?:should|can|could|must|may|please)(?: please| you)?(?: not)? (?:be (?:not )?(?:saved|deleted|removed"
    r"|written down|crossed out|erased|taken out"
    r"|left out|kept out|shared)|not write down)\b"
    r"|\b(?:like|want|wish) (?:that|the|this|my) (?:\w+ ){1,6}?(?:crossed|taken|left|struck) out\b",
    re.IGNORECASE,
)
"""Something is not to be written down, or kept."""
_NAMES = re.compile(r"\b(?:names?|surname|address|phone number|number|e-?mail)\b|\b[A-Z]\w+ out\b")
_SUBJECT = re.compile(r"\b(?:i|we|they|he|she|people|nobody|who)(?: \w+)? $", re.IGNORECASE)
"""Who does it, where that is told."""
_MEANT_OTHERWISE = re.compile(
    r"\b(?:scrap|scratch) (?:that (?:i|my|he|she|we|they)\b|the thing\b)|\bmy name off\b", re.IGNORECASE
)
"""Words of somebody who puts right what they said, or wants no part in it."""
_QUESTIONS: Final = tuple(
    (about, re.compile(pattern, re.IGNORECASE))
    for about, pattern in (
        (
            "recording",
            r"\b(?:are|r|do) (?:you|u|they)(?: also| now| secretly)? (?:record(?:ing)?|listen(?:ing)?"
            r"|tap(?:ing)?)\b[^.!?]{0,30}\b(?:me|my|this|voice|audio|call|microphone|mic|sound)\b"
            r"|\bis (?:this|it|my voice|the (?:call|microphone|mic|chat))(?: being| getting)? record(?:ed|ing)\b",
        ),
        (
            "data",
            r"\b(?:do|have) (?:you|u|they)(?: got| also| already)? (?:have |know |store |keep |see |got )?(?:my|our) "
            r"(?:\w+ )?(?:address|name|e-?mail|phone|number|location|data|details|ip)\b"
            r"|\b(?:is|are) my (?:\w+ )?(?:address|name|e-?mail|phone(?: number)?|number|location|data|details"
            r"|answers)(?: \w+)? (?:stored|saved|kept|shared|passed on|sold|known|linked|safe|private)\b"
            r"|\b(?:if|whether) (?:you|they) (?:have|know|store|keep|got) my (?:\w+ )?(?:address|name|e-?mail"
            r"|phone|number|location|data|details)\b"
            r"|\b(?:can|could|will|would) (?:you|they|anyone|anybody|someone|my \w+|people) (?:find out|tell|know"
            r"|see|work out|trace|recogni[sz]e)(?: that)? (?:(?:it's|it is|it was|this is|that's) (?:me|from me)"
            r"|who i am)\b(?=[^.!?]{0,20}\?)",
        ),
        (
            "who",
            r"\b(?:which|what) (?:company|firm|organi[sz]ation|university|brand|business|people"
            r"|agency)\b(?: \w+){0,2} (?:is|are|does|do|pays?|runs?|wants?|behind|asked|ordered|made"
            r"|makes)\b[^.!?]{0,40}(?:\?|(?:this|it|that)\W*$)"
            r"|(?:^|[.!?] *|\b(?:but|and|yes|ok),? )(?:but )?(?:who|which company|what company"
            r"|whose study)(?:,? (?:then|exactly|though|is it|is that))* ?\?"
            r"|(?<!people )(?<!those )(?<!ones )(?<!realised )\bwho(?:'s| is| are)?(?: actually| really"
            r"| even)? (?:pay(?:s|ing)?(?: for)?|runs?|running|behind|doing|funding|funds|ordered|commissioned"
            r"|asking for|making) (?:all )?(?:this|it|that|the (?:study|survey|research|interview|questions))\b"
            r"|\bi asked (?:you )?(?:which|what) (?:company|firm|organi[sz]ation|brand)\b"
            r"|\b(?:do|are|will|does) (?:my|these|our|the) answers (?:go(?:ing)?|sent|get|end up|being sent"
            r"|passed)(?: on)?(?: \w+)? to [A-Z]\w+",
        ),
        (
            "selling",
            r"\b(?:will|is|are|does|do|would|going"
            r"|gonna)\b[^.!?]{0,40}\b(?:try(?:ing)? to )?(?:sell(?:ing)? (?:me|us|my|it|them|that|things|stuff"
            r"|something)|send(?:ing)? me (?:\w+ )?(?:ads?|adverts?|spam|e-?mails?|letters?|post|offers?|stuff"
            r"|things)"
            r"|(?:contact|ring|call|phone|e-?mail|spam|bother) me (?:after|later|about|with|because|if|now)"
            r"|advertis\w+)\b[^.!?]{0,40}\?",
        ),
        (
            "purpose",
            r"(?:^|[.!?,;\n] *|\b(?:and|but|so|anyway) )what(?:'?s| is| are) (?:all )?(?:this|that|it|these|the)"
            r"(?: (?:study|survey|interview|research|questions?))?(?: all| actually| really| exactly)* for"
            r"(?:,? (?:anyway|exactly|actually|then|really|this (?:study|survey|interview)|if i may ask))*\?"
            r"(?=(?:[^.!?\n]*\?)?\W*$)"
            r"|\bwhat (?:do|would|will) (?:you|they|u)(?: people| lot| all| guys)? (?:even |really |actually )?"
            r"(?:want|need|use|do with) (?:all )?(?:this|that|it|these (?:answers|questions)) for\b[^.!?]{0,40}\?"
            r"(?=(?:[^.!?\n]*\?)?\W*$)",
        ),
        (
            "left",
            r"(?:^|[.!?,;\n] *|\b(?:and|but|so|well|anyway|sorry|ok|okay),? )(?:is|are) (?:there|we|it|this|you)"
            r"(?: (?:still|nearly|almost|about|going to be))*"
            r" (?:(?:much|many|a lot|lots) (?:more|left|longer)(?: (?:of (?:this|these|it)|to (?:go|come|answer)"
            r"|questions?))?|(?:nearly|almost) (?:over|done|finished|through|there|at the end)"
            r"|(?:over|done|finished) soon)(?:,? (?:please|then|now|of this|with (?:this|it)))*\?"
            r"|(?:^|[.!?,;\n] *|\b(?:and|but|so|well|anyway|sorry|ok|okay),? )how (?:much|many)"
            r" (?:(?:is|are) (?:there|left)|(?:more|questions|longer)\b)[^.!?]{0,30}\?(?=\W*$|\W*\bif\b)",
        ),
    )
)
"""Questions of the study that need an answer, with what they are about."""
TOLD: Final = 40
"""Words of a message up to which such a question is one to the interviewer, as it is at the end of a longer one."""
_IN_THE_END: Final = re.compile(r"(?<![^.!?\n])[^.!?\n]*\?(?:[^.!?\n]*\?)?\W*$")
"""The last question of a message that ends with it, and the one before."""


_DENIED: Final = re.compile(
    r"(?:n't|\bnot|\bnever)(?: really| even| actually)? (?:ask(?:ing|ed)?|mean(?:ing|t)?|wonder(?:ing)?|want(?:ing)?"
    r" to know)(?: you| about)?[\s,]*$",
    re.IGNORECASE,
)
"""Words right before something that was not asked: “No, I wasn't asking who pays you.”"""
_WHICH_ONE: Final = re.compile(
    r"\b(?:which|what) (\w+)(?:,? (?:then|exactly|though|is it|is that))* ?\?", re.IGNORECASE
)
"""A question which of them is meant, where the question had the word: “about a company?” – “Which company?”."""


def of_the_study(text: str, question: str = "") -> tuple[Said, ...]:
    """What of a message asks for a part to go, or something of the study; nothing else in it is heard as something
    that would undo it.

    Args:
        text: the message.
        question: what was asked.
    """
    plain = text.replace("’", "'")
    if len(plain) != len(text):
        return ()
    found = (_part(plain), _question(plain, question))
    return tuple(one for one in found if one is not None)


def _part(text: str) -> Said | None:
    if _ALL.search(text):
        return None
    for found in (*_PART_OUT.finditer(text), *_NOT_DOWN.finditer(text)):
        quoted = text[: found.start()].count('"') % 2 == 1
        if quoted or _SUBJECT.search(text[: found.start()]) or _MEANT_OTHERWISE.search(found[0]):
            continue
        gone: frozenset[Act] = frozenset(
            {"wants_withdrawal", "wants_pause", "corrects", "declines", "complains", "wants_stop"}
        )
        about = "names" if _NAMES.search(found[0]) else "part"
        return Said("asks_interviewer", found.start(), found.end(), about=about, instead=gone)
    return None


def _question(text: str, question: str) -> Said | None:
    start = 0
    if len(text.split()) > TOLD:
        last = _IN_THE_END.search(text)
        if last is None or REPORTS.search(text[: last.start()]):
            return None
        start = last.start()
    for about, pattern in _QUESTIONS:
        found = pattern.search(text, start)
        if found is None or _DENIED.search(text[: found.start()]):
            continue
        which = _WHICH_ONE.search(found[0])
        if which is not None and re.search(rf"\b{which[1]}\b", question, re.IGNORECASE):
            continue
        if text[: found.start()].count('"') % 2 == 0:
            gone: frozenset[Act] = frozenset({"asks_back", "complains", "corrects"})
            if about == "data":
                gone |= {"wants_withdrawal"}
            return Said("asks_interviewer", found.start(), found.end(), about=about, instead=gone)
    return None
