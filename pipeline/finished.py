"""Whether somebody says that there is no more to tell."""

from __future__ import annotations

import re

from pipeline.question.text import sentences

NOTHING_LEFT = re.compile(
    r"\b(?:not|nothing|no|isn't|isn’t)(?: really| much| a lot| any)* (?:more|else) to (?:it|tell|say|that)\b"
    r"|\bthat(?:'s|’s| is)(?: about| really| just| pretty much| more or less| all)? (?:all|it|the whole of it)"
    r"(?:,? (?:it is|there is|really|i think|i'd say))?[.!]?\s*$"
    r"|\bi(?:'ve| have) (?:just )?(?:said|told you)(?: it| that| everything| all)\b|\bnothing to tell\b"
    r"|\bmore than (?:this|that) i (?:don't|haven't|can't)\b|\b(?:is|was) nothing (?:other|else|more)[.!]"
    r"|\bi(?: kinda| kind of| sort of| already) said (?:it|that)\b"
    r"|\bthat's me done\b|\bi(?:'ve| have) told you what\b|\bnothing (?:else|next)\b,?(?: really)?[.!]"
    r"|\bnot a lot (?:now|more)\b|\byou(?:'ve| have)?(?: just| already)? asked (?:me )?that\b|\bsame question\b"
    r"|\bisn't any more\b|\bdon't know what else\b|\bmehr (?:ist|gibt|war) (?:da|es|das)?(?: da)? ?nicht"
    r"|\bmore(?: than that)? isn(?:'t|’t) in it\b|\bnot (?:much )?more,? that(?:'s|’s) the whole\b"
    r"|\bdas war'?s\b|\bdas ist alles\b|هذا كل شيء|لا يوجد المزيد",
    re.IGNORECASE,
)
"""What says that there is no more to tell of something."""
ALL_TOLD = re.compile(
    r"\btold you (?:all of it|everything|it all|what happened|the whole (?:story|thing|lot)|the main things?)\b"
    r"|(?:^|[.!?,] |\b(?:right|nah|think|reckon),? )that(?:'s|’s) me"
    r"(?: done| parked up|,? i think|,? really)?(?=[.!]|$)"
    r"|\b(?:said|told you) (?:it all|everything)\b"
    r"|\bdon't know what else (?:you|there|i|to)\b",
    re.IGNORECASE,
)
"""What says so of all that there is."""

_OBJECTS = re.compile(
    r"^\W*(?:(?:oh|ah|what|wait|hm+|huh|really|no|sorry),? ?)*\W*(?:are|do|is) (?:we|you|it|this|that)(?: really)?"
    r" (?:stop\w*|finish\w*|done|end\w*|over|clos\w*)(?: here| now| already| then)*\s*\?"
    r"|^\W*(?:(?:oh|ah|what|wait|hm+|huh|really),? ?)*(?:we (?:stop|finish|end|are done)"
    r"|is (?:it|that) (?:it|all|over))(?: here| now)? already\b"
    r"|\bi (?:didn't|did not|don't) (?:mean|want)(?: us| you)?"
    r" (?:to (?:stop|end|finish)|the end\b|we should (?:stop|end))"
    r"|\bi didn't mean (?:that|it),? (?:i just say|it's just)"
    r"|(?:^|[.!?,;] ?)(?:but )?i'?(?:ve| have)(?: still)? got (?:the |some |plenty of |loads of )?time\b"
    r"|(?:^|[.!?,;] ?)(?:and |but )?you can (?:still )?(?:ask|go on asking)\b|\bi'?m not (?:done|finished)(?: yet)?\b"
    r"|\byou (?:haven't|have not|never|didn't)(?: even| ever| once| really)* ask(?:ed)? (?:me )?"
    r"(?:about|what|why|how|where|who)\b",
    re.IGNORECASE,
)
"""How somebody says, to the closing question, that it is too early for it (English)."""
_IS_DONE = re.compile(
    r"\bthat's (?:all|it|everything)\b|\?\W*(?:good|great|fine|perfect)\b|\bnever mind\b|\bdoesn't matter\b"
    r"|\b(?:but|and|though) (?:that's|it's) (?:fine|all right|ok(?:ay)?|no matter)\b",
    re.IGNORECASE,
)


def objects(text: str) -> bool:
    """Whether somebody finds that an interview should not end yet, whose closing question they answer (English)."""
    plain = text.replace("’", "'")
    return _OBJECTS.search(plain) is not None and _IS_DONE.search(plain) is None and not closes(plain)


_BEFORE = (
    r"(?:(?:so|and|but|ok|okay|well|anyway|right|no|yes|yeah|really|honestly|i think|i suppose|i guess|i reckon),? )*"
)
_AFTER = (
    r"(?:,? (?:really|honestly|to be honest|now|then|there|for me|i think|i suppose|i guess|i reckon|i'd say|it is"
    r"|(?:on|about|for) (?:the |that |this )?\w+))*"
)
_DONE = (
    r"that(?:'s|'d be| is| would be)(?: about| really| just| all| pretty much| more or less)?"
    r" (?:all|it|the lot|everything|all of it|the (?:whole|end|bottom) of it|me done|me|where (?:it|that|i|we) stands?"
    r"|(?:the|my) (?:whole )?story|all (?:that )?i(?:'ve| have)(?: got)?(?: to (?:say|tell|add)(?: on (?:it|that))?)?)"
    r"|i(?:'ve| have)?(?: now| just| already| pretty much| more or less)? (?:said|told you)"
    r" (?:everything|it all|all of it|what (?:matters|i know|i can)|as much as i (?:have|can|want(?: to)?)"
    r"|all (?:that )?there is)"
    r"|(?:i )?(?:don't|haven't)(?: think)?(?: there's| i've| i have)?(?: got| have)? (?:much|anything|a lot)"
    r"(?: more| else)? (?:i can |left )?(?:to )?(?:add|say|tell)(?: to that)?"
    r"|(?:i )?(?:don't|haven't)(?: really)?(?: got| have)? (?:much|anything|a lot|any) (?:more|else)"
    r"(?: on (?:it|that|this))?"
    r"|(?:there's |there is |there isn't )?(?:not much|nothing|no|any|not a lot) (?:more|else|next)"
    r"(?: to (?:it|that|say|tell|add))?"
    r"|(?:i'm |i am |let's |we can |i'll |i'd )?(?:happy to |glad to )?leave it (?:there|at that)"
    r"|i (?:can't|cannot|couldn't|don't know (?:that|how|if) i can) (?:say|put) (?:it|that)"
    r" any (?:better|clearer|plainer)"
    r"|more than (?:this|that) i (?:don't know|can't|cannot|couldn't)(?: to)?(?: say| tell)?"
    r"|das (?:war'?s|wär'?s|ist alles)|mehr (?:gibt es|ist da|weiß ich) (?:dazu )?nicht|ich habe alles gesagt"
    r"|هذا كل شيء"
)
CLOSES = re.compile(rf"{_BEFORE}(?:{_DONE}){_AFTER}", re.IGNORECASE)
"""A sentence that says only that this was all of it, …"""
ONLY_SAYS_SO = re.compile(
    r"so|yes|yeah|no|really|honestly|right|ok|okay|well|i think|i (?:don't|do not) know", re.IGNORECASE
)
"""… or such words, which commas may part from it."""
_PARTS = re.compile(r"[,;–—]| - ")
ADDED = 6
"""Words of a last sentence up to which the one before it may have said so."""


def closes(answer: str) -> bool:
    """Whether an answer ends with a sentence that says only that this was all of it."""
    said = sentences(answer.replace("’", "'"))
    ending = said[-2:] if said and len(said[-1].split()) <= ADDED else said[-1:]
    return any(_says_so(sentence) for sentence in ending)


def _says_so(sentence: str) -> bool:
    parts = [part.strip() for part in _PARTS.split(sentence.rstrip(".! ")) if part.strip()]
    done = [CLOSES.fullmatch(part) is not None for part in parts]
    return any(done) and all(is_done or ONLY_SAYS_SO.fullmatch(part) for is_done, part in zip(done, parts, strict=True))
