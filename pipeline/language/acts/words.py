"""Words by which is told what an act is about, or that what sounds like one is none (English)."""

from __future__ import annotations

import re

from pipeline.acts import Act

ABOUT: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (about, re.compile(pattern, re.IGNORECASE))
    for about, pattern in (
        (
            "readers",
            r"\b(who|anyone|anybody|someone|somebody|people)\b.*\b(read|see|sees|reads|listen|get|gets|look|looks)\b",
        ),
        (
            "readers",
            r"\b(?:someone|somebody|anyone|anybody)(?:'s| is)(?: also| actually)? (?:there|here|following"
            r"|watching|with us)\b",
        ),
        ("readers", r"\b(go|goes|end up|sent)\b.*\b(to|where)\b|\bwhere (does|do|will) (this|it|that|my)\b"),
        (
            "readers",
            r"\b(?:company|boss|manager|shop|doctor|school|landlord|firm|clinic|hospital|employer|husband|wife|mum|mother)\b"
            r".{0,25}\b(?:see|read|get|know|hear|find out)\b",
        ),
        ("traces", r"\b(?:he|she|they|my \w+)(?: be able to| ever)? (?:see|find|read) (?:this|it|that)\b"),
        ("data", r"\bis my name (?:in|on|with)\b"),
        ("names", r"\bnames?\b.{0,40}\b(?:out|off|left|mention\w*|used?|written|changed?)\b|\banonym\w*"),
        ("recording", r"\b(record|recorded|recording|kept|stored|saved)\b"),
        ("left", r"\b(how many|how much) (more|longer)\b|\b(questions|is) left\b|\bnearly (done|finished|there)\b"),
        ("left", r"\bhow long\b.{0,30}\b(?:still|left|to go|remaining)\b"),
        (
            "length",
            r"\bhow long\b(?!.{0,50}\b(?:keeps?|fresh|shelf|opened|open|stor(?:e|ed|age)|guarantee|warranty|valid"
            r"|cook\w*|boil|heat(?:ed)?|charge|battery|ship\w*|deliver\w*|arrives?|repairs?|contract|plan|fridge|loan)\b)",
        ),
        (
            "machine",
            r"\b(?:robot|real person|ai|bot)\b|\b(?:machine|human|computer|program) or\b"
            r"|\b(?:are you|is (?:this|it)|am i|you(?:'?re| are)|(?:talk|speak|chat)ing (?:to|with))"
            r" (?:\w+ ){0,4}(?:machine|human|computer|program|person)\b",
        ),
        ("why_ask", r"\bwhy (do|are|would|did) you (ask|want|need)\b|\bwhy('s| is) that (any|your)\b"),
        (
            "purpose",
            r"\bwhat('s| is| are) (this|it|that|all this|these)\b.*\bfor\b|\bthe point of\b"
            r"|\bwhat (this|it|all this|that|you) (is|'s|want|need) (all )?(this |it )?(for|about)\b",
        ),
        ("incentive", r"\b(paid|voucher|reward|money|prize)\b"),
        ("name", r"\byour name\b|\bwho are you\b|\bcalled\b"),
    )
)
"""What a question to the interviewer is about, where the reader alone has heard it."""
LIFE = re.compile(
    r"\btr(?:y|ied|ying)(?: so| really)?(?: hard)? to (?:stop|quit) (?!answering|talking|this|here|now)"
    r"|\benough (?!for|of|now|today|thanks|thank|please|questions?|talk|talking|said|then|already|is|and|i|so|on)\w+"
    r"|\bthat'?s the end of (?:it|that|this|that one|this one|the story|that story)$"
    r"|\bthat'?s all (?:i'?m|i was|i did|i do|i wanted?|i need(?:ed)?|i ask(?:ed)?|we|he|she|they|it) (?!to say\b)\w+"
    r"|\b(?:help|let|make)(?:s|ed|ing)? (?:me|us) (?:\w+ ){0,4}(?:switch|shut|wind) (?:off|down)\b"
    r"|\b(?:what|that|it)(?:['’]?d| would| will|['’]ll) (?:finish|stop|end) (?:me|him|her|it)\b"
    r"|\blet'?s go on\b|\bwe can go on\b|\b(?:don'?t|do not) need a break\b"
    r"|\bthat was (?:enough|it|that) for me$|\b(?:that'?s|it'?s) the day\b"
    r"|\b(?:stop|stopped|stopping|quit) (?:doing (?:that|so)|being|feeling|thinking|worrying|putting|buying|eating"
    r"|drinking|smoking|vaping|gambling|spending|wasting|caring|working|driving|using|paying|running"
    r"|going (?:out|there|to))\b"
    r"|\b(?:i'?d|i would|we'?d) (?:rather|sooner) (?!stop|finish|end|leave|not)\w+ (?:\w+ ){1,6}than\b"
    r"|\blet me (?:carve|cook|wash|pay|bring|help|fix|do|make|carry|clean|drive|choose|decide|see|say)\b",
    re.IGNORECASE,
)
"""What people stop in their lives, not in the interview: where the reader alone hears an end in it, it is none."""
ASKS = re.compile(
    r"\?|\b(?:you|ya|u|yours?|ur|who\w*|what\w*|where\w*|why\w*|how|when|which|whose|wonder\w*|curious|ask\w*|tell me"
    r"|th(?:is|e) (?:study|survey|interview|call|chat|thing)|recording|record(?:ed|s)?|sees?|reads?|incentive"
    r"|cleared|website|robot|bot|ai|machine|computer|human)\b"
    r"|^(?:\W|(?:so|and|but|sorry|ok|okay|oh|hi|hey),? )*(?:is|are|am|do|does|did|will|would|can|could|should|has"
    r"|have)"
    r"(?:n'?t)? (?:i|we|it|this|that|they|there|anybody|anyone|somebody|someone|he|she)\b",
    re.IGNORECASE,
)
"""Words without which nobody asks: what only tells is no question to the interviewer, whatever the reader hears."""
BETWEEN_US = re.compile(
    r"\b(?:get(?:s|ting)? (?:back )?to|stay(?:s|ed)? between|between (?:you and me|us|ourselves)|go(?:es)? no further"
    r"|reach(?:es)? (?:him|her|them))\b",
    re.IGNORECASE,
)
"""Words of a wish that somebody else should not hear of it, which is none to have it deleted."""
REPORTS = re.compile(
    r"(?:\b(?:could|should|would|might|must|didn't|never) (?:have )?(?:said|say)"
    r"|\b(?:he|she|they|we|you|who|one) (?:said|says|say)"
    r"|\b(?:thought|think|thinking|goes|went|asked|told (?:him|her|them|me|myself)|to myself|wrote|shouted"
    r"|whispered))"
    r",?[\s\"'“”‘’]*$",
    re.IGNORECASE,
)
"""How a clause ends behind which somebody's words or thoughts are reported."""
OF_REPORTS: frozenset[Act] = frozenset(
    {"declines", "complains", "corrects", "asks_back", "wants_topic", "dont_know", "wants_withdrawal"}
)
"""What such words are not meant as, for the interviewer."""


def about_of(question: str) -> str:
    """What a question to the interviewer is about; empty where that can't be told."""
    return next((about for about, pattern in ABOUT if pattern.search(question)), "")
