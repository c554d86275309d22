"""What people say to the interviewer in so many words, whatever stands around it (English).

Rules hear acts clause by clause, and doubt them in stories; these words are meant for the interviewer wherever they
stand: that somebody has to go now, what they were never asked, where they were, that a name is to come out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pipeline.acts import (
    CONTROLLED,
    DENIED,
    FAINT,
    IN_PASSING,
    NEXT,
    OFFERED,
    PUT_RIGHT_AT_ONCE,
    UNANSWERED,
    UNASKED,
    WHERE,
    WHICH,
    Act,
    HeardAct,
    Hearer,
)
from pipeline.language.acts.reading import Clause
from pipeline.language.acts.words import REPORTS, about_of
from pipeline.question.text import sentences, words

SHORT: Final = 25
"""Words of a message up to which who says that they have to go is not telling of somewhere else."""
AFTER: Final = 12
"""Words that may follow such words; whoever leaves says why, and does not tell on."""
LATE: Final = 25
"""The same where they have just seen how late it is."""
WEIGHTIER: Final[frozenset[Act]] = frozenset({"wants_withdrawal", "wants_stop", "minor"})
"""Acts that no doubtful one takes the place of."""
LEADS: Final = 3
"""Words before “I only meant” up to which it puts right what the interviewer took from it."""
LONGEST_TOPIC: Final = 12
"""Words of what somebody was never asked that can be said back."""
ANSWERED: Final = 10
"""Words that follow it from which on they have begun to tell it themselves."""
_MUST = (
    r"\bi(?:(?:'ve| have)(?: really| just)? (?:got to|gotta)|'d better|(?: really| just| do| now)? (?:gotta|got to"
    r"|have to|need to|must|should|better))(?: really| just| now| be)? "
    r"(?:go|run|dash|shoot|leave|be off|get off|head off|log off|get going|going|off)"
)
_END = r"(?=\W*(?:$|[.!?,;:…(\n–—-]))"
_NOW = re.compile(
    rf"{_MUST}(?: (?:now|really|right now|sorry|this (?:second|minute)|i'm afraid))+{_END}", re.IGNORECASE
)
"""Somebody has to go now."""
_GOES = re.compile(
    rf"{_MUST}(?: (?:soon|in a (?:sec|second|minute|min|bit|mo|moment)|though|then|mate|love))*{_END}", re.IGNORECASE
)
"""Somebody has to go."""
_TIME = re.compile(
    r"\b(?:look at the time|is that the time)\b[^.!?]{0,30}?[,.!?]?\s{0,2}"
    rf"{_MUST}|(?:^|[.!?]\s{{0,3}})(?:(?:oh|right|anyway|sorry|well|listen|ok|blimey|gosh|goodness),? )+{_MUST}"
    r"(?:,? (?:love|mate|now|sorry|dear))*(?=,? (?:it'?s (?:the|my)|the (?:kids|bus|school|baby)|my (?:bus|shift|lunch"
    r"|break|train|lift)|i'?m late|because|cos|somebody))",
    re.IGNORECASE,
)
"""They have just seen how late it is."""
_NOW_FIRST = re.compile(
    rf"(?:^|[.!?]\s{{0,3}})(?:(?:and|but|so|ok|sorry),? )*now,? {_MUST}(?:,? (?:sorry|love))*{_END}", re.IGNORECASE
)
"""The same, behind a now: “And now I must go, my break is finished.”"""
_DONE = re.compile(
    r"(?:^|[.!?,;…\n]\s{0,3}|\b(?:so|and|dunno|right|anyway|ok|nah|no|well|sorry|think),? )"
    r"that(?:'?s| is) me (?:done|finished)(?: (?:with|on|about) [^.!?\n]{1,25}?)?"
    r"(?:,? (?:now|then|really|i think|thanks|mate|love|for (?:today|tonight|now)))*\W*$",
    re.IGNORECASE,
)
"""Somebody is done, with the interview or with what was asked."""
_ENOUGH_AND_OFF = re.compile(
    r"^\W*(?:(?:nah|no|ok|okay|right|well|sorry|look|mate),? )*(?:i(?:'?ve| have) )?had enough"
    r"(?: of (?:this|it|these questions|talking))?(?: now)?[\s,.!]*(?:so |and |now )*i(?:'?m| am) off"
    r"(?: (?:now|home|to bed|(?:for|to) my \w+))?(?:,? (?:now|bye|sorry|thanks|cheers))*\W*$",
    re.IGNORECASE,
)
"""Somebody has had enough, and goes: “nah had enough im off for my tea”."""
_SAID = re.compile(
    r"(?:^|[.!?…\n]\s{0,3}|\b(?:but|no|look|please|as),? )i(?:(?:'ve| have)?(?: just| already| only just)? (?:said"
    r"|told you)|(?: did| just| already)+ (?:say|tell you))"
    r"(?: that)?,? (?:i(?:'ve| have)? ?(?:have|need|had|got|must|gotta|wanted|want)(?: to)? (?:go|leave|stop"
    r"|finish|end)\b"
    r"|(?:good)?bye\b|(?:yes,? )?(?:please )?stop(?: it| here| now| please)*\b|i(?:'m| was| am) (?:going|off|leaving"
    r"|done|finished)\b)(?=\W*(?:$|[.!?…\n]))",
    re.IGNORECASE,
)
"""They have said so before."""
_BYE = re.compile(
    r"(?:^|[.!?…\n]\s{0,3}|\b(?:ok|okay|right|thanks|ta),? )(?:ok(?:ay)? |right |well |so )*"
    r"(?:good)?bye+(?:[ -]bye+)*(?: (?:now|then|for now|x+))*[\s.!…]*$",
    re.IGNORECASE,
)
"""A message ends with a good-bye."""
_BREAKS_OFF = re.compile(
    r"\b(?:hang on|hold on|wait|sorry|oh|one (?:sec|second|minute|moment))\b|\b(?:doorbell|phone|baby|bus"
    r"|train)\b",
    re.IGNORECASE,
)
"""Words by which somebody is called away."""
_GOES_FOR = re.compile(
    r"\bi(?:'ve| have|'ve got| need|'d better| must)?(?: got)?(?: to)? (?:get|fetch|collect|pick|catch|feed|put"
    r"|see to|start|be) (?:the |my |his |her |to )?\w+"
    r"(?= [^.!?]*[.!?]? *(?:ok |okay )?(?:good)?bye)|\bi'm (?:off|late|going|away)\b|\b(?:bus|train|tram|shift"
    r"|doorbell)\b",
    re.IGNORECASE,
)
"""What somebody leaves for who says good-bye."""
_UNANSWERED = re.compile(
    r"\b(?:you|u)(?: (?:still|just|again))*(?:'ve)? (?:never|didn'?t|did not|haven'?t|have not|don'?t)"
    r"(?: (?:actually|really|even|quite))* (?:answer(?:ed)?|repl(?:y|ied)|respond(?:ed)?)"
    r"(?: (?:me|us|my|that|to|about)\b|(?=[.,!?]|$))"
    r"|\b(?:you|u)(?:'ve| have)?(?: just)? (?:went|gone|passed|skipped|walked) (?:straight |right )?(?:past|over)"
    r" (?:my (?:last )?question|what i asked|that question|it)\b"
    r"|\byou(?:'ve)? (?:ignored|dodged|skipped) (?:my|the|that) question\b"
    r"|(?:^|[.!?] *|\b(?:but|no|well|hm+|sorry),? )(?:that|this|it)"
    r"(?:(?:'s| is| was| does| did) not|(?: is| was| does| did)n'?t)(?: (?:really|quite|exactly|actually))*"
    r" (?:what i (?:asked|was asking|wanted to know)|(?:my|an answer to my) question"
    r"|answer(?:ing)? (?:my|the) question)\b"
    r"(?!,? it(?:'s| was| is)\b)",
    re.IGNORECASE,
)
"""How somebody says that what they asked was passed over."""
_LEAVES_A_THING = re.compile(
    r"(?:^|[.!?,;] *|\b(?:but|so|and|anyway|now|ok|okay) )"
    r"(?:let'?s|let us|can we|could we|may we|shall we)(?: just| please)? leave"
    r" (?!(?:the (?:interview|survey|study|rest|chat|call|house|office|room|building|flat)|this interview)\b)"
    r"(?:the|my|our|his|her|their|that|those|these) [\w'-]+(?: [\w'-]+){0,2}?(?: be| alone| out of (?:it|this)| aside)?"
    r"(?:,? (?:now|for now|then|please|shall we|if you don'?t mind|there|at that))*(?=[.!?;]|$)",
    re.IGNORECASE,
)
"""How somebody leaves one thing that was spoken of, and nothing else: “Let's leave the yoghurts now.”"""
_UNASKED = re.compile(
    r"\b(?:you|u)(?:(?:'ve| have)?(?: still)?(?: never| not)(?: (?:once|even|really))*|(?: have|did)(?:n'?t| not)"
    r"(?: (?:once|even|really|ever))*) ask(?:ed)?(?: (?:me|us))? "
    r"(?P<topic1>(?:what|how|why|who|where|when|which|about)\b[^.!?;:\n]{2,90})"
    r"|\b(?:you|u) (?:might|could|should|may|can|would have done better to)(?: at least| just| well"
    r"| always)?(?: have)?"
    r" ask(?:ed)?(?: (?:me|us))? (?:is |was )?(?P<topic2>(?:what|how|why|who|where|when|which"
    r"|about)\b[^.!?;:\n]{2,90})"
    r"|(?:^|[.!?\n] *|\b(?:so|please|just|now|well),? )ask(?: (?:me|us))? (?P<topic3>about "
    r"(?:the|my|your|our|his|her|their|him|them|those) ?[^.!?;:,\n]{0,40}?)"
    r"(?:,? (?:if you (?:like|want|must)|please|instead|then))*"
    + _END
    + r"|\bit(?:'s| is| was) (?P<topic4>(?:the|my|our|his|her|their|that) [\w'-]+(?: [\w'-]+){0,3}?) (?:that )?"
    r"(?:i'd|i would|you should|you could|you might) (?:have )?(?:ask|asked) about\b"
    r"|\b(?:nobody|no one)(?:'s| has)?(?: ever| once)? ask(?:s|ed) (?:me )?(?P<topic5>about (?:the|my|our|his|her"
    r"|him|them|those)\b"
    r"(?: [\w'-]+){0,3}?)(?:,? (?:i notice|though|mind|ever|anyway|you know))*"
    + _END
    + r"|\bi(?:'d| would) (?:be (?:happy|glad)|like|love|not mind) (?:to be|being) asked (?P<topic6>(?:what|how|why"
    r"|who\w*|where|when|which|about)\b[^.!?;:,\n]{2,90})",
    re.IGNORECASE,
)
"""What somebody would have liked to be asked."""
_BEHIND_A_TOPIC = re.compile(
    r",|\s(?:because|but|and (?:then|that)|though|tho|either|anyway|btw|by the way|yet|once|when|if|now)\b",
    re.IGNORECASE,
)
"""What ends a topic."""
_NOT_A_TOPIC = re.compile(
    r"\b(?:you|your|interview|questions?)\b|^(?:about )?(?:that|this|it|me)$|\b(?:already|before|twice|again)\b",
    re.IGNORECASE,
)
"""Words of the interview itself, or that have nothing to stand for."""
_WHERE = re.compile(
    r"\bwhere (?:was|were|had) (?:i|we)(?: (?:got|up|now|then|again|at|just|got to|up to))*(?:,? (?:love|again"
    r"|sorry|then|now))*[\s?.!…]*$"
    r"|\bwhat was i (?:saying|on about|telling you|talking about)(?: again| just now| there)?[\s?.!…]*$"
    r"|\bi(?:'ve| have)? (?:lost|forgot(?:ten)?) (?:my thread|the thread|where i (?:was|am)|what i was (?:saying"
    r"|on about))\b"
    r"|\basked? you where i was\b",
    re.IGNORECASE,
)
"""Somebody has lost their thread."""
BEFORE_THAT: Final = re.compile(
    r"\b(?:where|when|that|if|whether|why|how|said|thought|think|know|so|and then|because|days?|mornings?)\s+$",
    re.IGNORECASE,
)
"""How what stands before “I have to go” ends where that is told."""
_LOST: Final = 25
"""Words of a message up to which they ask that of the interviewer."""
_NAME_OUT = re.compile(
    r"\b(?:(?:can|could|may|should|would)(?: you| i| we| somebody)?(?: please)?|please|i(?:'d| would) (?:like"
    r"|want|rather)|want)\b"
    r"[^.?!]{0,40}\b(?:the|that|this|her|his|their|one|any|those|these|all) names?\b[^.?!]{0,25}"
    r"\b(?:(?:come|taken?|left|kept|cut|struck|crossed|removed|be) (?:it |them )?(?:out|off|away)|removed|deleted"
    r"|taken out|changed)\b"
    r"|\b(?:take|leave|keep|cut|strike|cross|remove|delete)(?: out)? (?:the|that|this|her|his|their|one|any|those"
    r"|these"
    r"|all)(?: \w+)? names?\b(?: out| off| again)"
    r"|\b(?:remove|delete) (?:the|that|this|her|his|their|those|these|all)(?: \w+)? names?\b"
    r"|\b(?:just|only) (?:the|that|his|her|their|one)(?: one)? names?(?:,? please)?(?=[.!?]|$)"
    r"|\b(?:don't|do not|wouldn't|rather not) (?:want|have|like)? ?(?:the|my|our|his|her|their|that"
    r"|any) (?:\w+ )?(?:school|town|place|village"
    r"|street|firm|company|hospital|ward|home|office|shop|names?)(?: or (?:the |my )?\w+)? (?:named|mentioned"
    r"|in (?:it|this|here|there)|to be (?:named|known))\b"
    r"|\b(?:don't|do not) want (?:that|this|it|any of (?:it|this|that)) (?:going|to go|used|shared"
    r"|getting) [^.!?]{0,20}"
    r"\bwith (?:a|any|my|his|her|the) names? on\b",
    re.IGNORECASE,
)
"""A name is to come out, and nothing else."""
_CONFIDENTIAL = re.compile(
    r"\b(?:it|that|this|what i(?:['’]ve| have)? (?:said|told you)[^.!?]{0,40})"
    r" (?:stays|must stay|should stay|has to stay|remains) between (?:us|you and me|ourselves)\b"
    r"|\b(?:keep|leave) (?:it|that|this|all this) between (?:us|you and me|ourselves)\b"
    r"|\bbetween (?:us|you and me|ourselves),? (?:if you )?please\b"
    r"|(?:^|[.!?,] *|\b(?:and|but|so) )(?:it|this|that|everything|what i (?:say|said|told you))(?: does| will| all)*"
    r" (?:stays?|remains?|goes in|is kept|be kept|is)(?: \w+)?"
    r" (?:without my name|anonymous|private|confidential|nameless)"
    r"(?:[^.!?]{0,20}\?|,? (?:right|yes|doesn't it|isn't it|i hope|isn't that so)\b)"
    r"|\b(?:without|not with|you won't (?:use|print|put|say)) my name(?: in it| on it| anywhere)?,?"
    r" (?:right|yes|is it|i hope)\b",
    re.IGNORECASE,
)
"""Words by which somebody takes for granted what only the study decides: they are told who reads it."""
_PART_OUT = re.compile(
    r"\b(?:i(?:'d| would) (?:rather|like|prefer)|please|can you|could you|want)\b[^.?!]{0,50}\b(?:leave|left|keep"
    r"|kept|take|taken|cut|skip)\b"
    r"(?: [\w']+){0,2}? (?:that|this|the last|that last) (?:part|bit|one|sentence|story|thing)\b(?: \w+){0,2}? out\b"
    r"|\b(?:leave|keep|take|cut) (?:that|this|the last|that last) (?:part|bit|sentence|one) out\b"
    r"|(?:^|[.!?,] |\b(?:please|and|but|just|you|to) )leave out (?:the|that|this) (?:part|bit|thing|story|sentence)\b"
    r"|\bwill (?:it|that|this|the \w+)(?: really| still)? be left out\b",
    re.IGNORECASE,
)
"""A part of what was told is to be left out."""
_ASKED = re.compile(
    r"\b(?:i(?:'ve| have)?(?: (?:just|only|did|already|still))* (?:asked?|wanted to know)(?: you)?|(?:you"
    r"|u)(?:'ve| have)?(?: (?:still|just|"
    r"never|not|even|haven'?t|didn'?t|did|don'?t))* (?:told|tell|say|said|answered?)(?: me)?) (?P<asked>(?:who"
    r"|what|where|why|how|whether|if)"
    r"\b[^.!?;:\n]{3,60})",
    re.IGNORECASE,
)
"""A question to the interviewer that was asked before, …"""
LONGEST_ASKED: Final = 40
"""… in a message of up to so many words."""


_WANTED = re.compile(
    r"\bwhat (?:do|is it|are|is it that|would)(?: that)? you(?:'re| are)? (?:actually|really|even) "
    r"(?:(?:want|trying|hoping|like|wish|need)(?:ing)? (?:me )?to (?:know|hear|find out|learn)|want(?: from me)?"
    r"|looking for)" + _END,
    re.IGNORECASE,
)
"""Somebody asks what the interviewer wants to know."""


_OPINION = re.compile(
    r"\bwhat (?:do|would|did) you(?: yourself)?(?: actually| really)? (?:make of|think of|think about|say to) "
    r"(?:all (?:of )?(?:this|that|it)|(?:this|that|it)(?: all)?)(?:,? (?:then|yourself|now))*\s*\?",
    re.IGNORECASE,
)
"""Somebody asks what the interviewer thinks of it; …"""
_WHICH_OF_TWO = re.compile(
    r"(?:^|[.!?,;]\s{0,3}|\b(?:and|but|so|sorry|wait|well),? )(?:do|did|would) (?:you|u) "
    r"(?:want|like|need|prefer|rather)\b(?: me)?(?: to)? [^.?!]{1,80}?\bor\b[^.?!]{1,80}\?"
    r"|(?:^|[.!?,;]\s{0,3})(?:should|shall) i (?:tell|say|talk|start|go on|answer|describe)\b[^.?!]{0,80}?\bor\b"
    r"[^.?!]{1,80}\?",
    re.IGNORECASE,
)
"""Somebody asks which of two things the interviewer would hear: “Do you want to hear of my work, or of the meals?”"""
_THINKS = re.compile(
    r"\bdo you (?:really |actually |yourself )?think (?:that's|that is|it's|it is|this is) (?:true|right|fair"
    r"|normal|odd|weird|mad|silly|wrong|my fault)\b"
    r"|\b(?:i asked |tell me )?what (?:do )?you think(?: it means| of (?:it|that|him|her|me))?(?:,? (?:then|go on"
    r"|yourself))*\W*$",
    re.IGNORECASE,
)
"""… or whether it thinks so."""
_GOT_IT = re.compile(
    r"\b(?:did|have|do) you (?:even )?(?:get|got|hear|heard|read|see|seen|note|noted|catch"
    r"|take in) (?:any of )?(?:that|what i (?:said|told you|wrote|put))\b"
    r"[^.?!]{0,60}\?",
    re.IGNORECASE,
)
"""Somebody asks whether they were heard."""
_WHO_READS = re.compile(
    r"(?:^|[.!?,;:–—-]\s{0,3}"
    r"|\b(?:and|but|so|well|sorry|(?:can|could|may) i (?:just )?ask(?: you)?|i wonder|tell me|wondering),? )"
    r"who(?: else| all| actually| exactly| even)* "
    r"(?:sees|reads|gets|is reading|is going to (?:read|see)|will (?:see|read|get)|can (?:see|read)|looks at"
    r"|gets to (?:see|read))"
    r" (?:this|all this|all of this|these|our|my answers|what i\b[^.?!]{0,40})(?:,? (?:by the way|btw|anyway|then"
    r"|actually))*\s*\?",
    re.IGNORECASE,
)
"""Somebody asks who reads along."""
_ASK_ON = re.compile(
    r"(?:^|[.!?,;…]\s{0,3}|\b(?:so|just|please|then|and|but),? )(?:(?:go on|come on|just|please|so|then),? )*"
    r"ask (?:me )?(?:something(?: else)?|anything(?: else)?|another(?: one| question)?|the next(?: one| question)?"
    r"|your next(?: one| question)?|away)(?:,? (?:then|please|instead|love|mate|if you like))*" + _END,
    re.IGNORECASE,
)
"""Somebody would be asked, whatever it is: “I'm not sure what else to tell you, so ask me something.”"""
_OFFERS = re.compile(
    r"\bi (?:can|could|might|'?ll)(?: rather| instead| still| happily| gladly)? tell (?:you|u) "
    r"(?P<topic>(?:about|what|how|why|where|when|who)\b[^.!?;:\n]{2,70})" + _END,
    re.IGNORECASE,
)
"""What somebody would rather tell, who refuses something: “I can tell you what I did afterwards.”"""
_RATHER_NOT = re.compile(
    r"\b(?:rather not|don'?t want to|do not want to|wouldn'?t like to|not (?:going|want) to|leave (?:that|it|this)"
    r"|not that|can'?t talk|skip (?:that|it|this))\b",
    re.IGNORECASE,
)
"""Words by which somebody refuses something."""
_GOT_WRONG = re.compile(
    r"\b(?:you|u|ya)(?:'?ve| have)? (?:got|understood|took|taken|heard|read)"
    r"(?: me| (?:that|it|this)(?= \w* ?wrong\W*(?:$|[.,!])))(?: all| totally| completely)? wrong\b"
    r"|\byou(?:'?ve| have)? mis(?:understood|heard|read)\b(?! (?:the|a|my|his|her)\b)"
    r"|\bthat'?s not what i (?:meant|said|was saying)\b"
    r"|\bi (?:only|just) meant (?!to\b|it as\b|it for\b|well\b)",
    re.IGNORECASE,
)
"""Somebody was understood wrongly: “no wait u got me wrong, i only meant the hand bit was done”."""
_SLIP: Final = re.compile(
    r"(?:^|[.!?;…,–—-]\s{0,3}|\b(?:no|oh|well|wait|sorry|actually),? )(?:(?:no|oh|well|wait|sorry),? )*"
    r"(?:i tell a lie|i'm telling a lie|scratch that(?! (?:bit|part|last))|what am i (?:saying|talking about)"
    r"|no,? correction)\b[^.!?\n]{2,80}",
    re.IGNORECASE,
)
"""Somebody puts right what they have just said: “No, I tell a lie, four hundred and sixty.”"""
_NOT_SO: Final = re.compile(
    r"(?<=[.!?…]) +(?:well|ok|okay|no|or|actually),? (?:all right,? |maybe |perhaps )?not (?P<what>[\w'-]+"
    r"(?: [\w'-]+){0,2})(?=[.!,;])",
    re.IGNORECASE,
)
"""Somebody takes back a word of the sentence before: “I'd sign up tomorrow. Well, not tomorrow.”"""
_CORRECTED: Final = re.compile(
    r"^\W*(?:(?:no|well|sorry|actually),? )*(?P<right>[^.!?,]{2,40}), i(?:'ve| have|'d| had)?(?: just| already| did)?"
    r" (?:corrected (?:that|it|myself)|put (?:that|it) right|set (?:that|it) straight)\b",
    re.IGNORECASE,
)
"""They did so before, and were not heard: “Four hundred and sixty, I corrected that.”"""
_SAYS_NO: Final = re.compile(r"\W*(?:no|nope|nah|wait|oh no|hang on|sorry)\b", re.IGNORECASE)
"""How somebody begins who puts right what nobody has said back."""
_LONGEST_WRONG: Final = 30
"""Words of a message up to which that is meant for the interviewer."""
_REFUSES = re.compile(
    r"\bthat(?:'s| is) as (?:far|much) as i(?:'ll| will| can| want to| care to|'m (?:going to|willing to"
    r"|prepared to))? "
    r"(?:go|say|tell|get)\b|\bbefore you ask(?: me)?(?: why| about it| again)?,? (?:no|i don't know|don't|i won't"
    r"|i'd rather)\b"
    r"|\bi(?:'m| am) (?:so |a bit |rather |really )?(?:tired|sick|weary|fed up) (?:of|with) being asked(?: (?:why"
    r"|that|about (?:it|that|him|her)))?\b"
    r"|\bthat(?:'s| is) (?:really |just )?(?:all|everything|enough) (?:that )?i(?:'d)? (?:want(?:ed)?|care|wish|like"
    r"|'?m (?:going|willing)|am (?:going|willing)) to (?:say|tell)(?: you)?(?: (?:about|on|of) (?:that|it|this|him|her"
    r"|them|my \w+)\b|(?=,? (?:if you don't mind|if that's all right|if that's ok)))"
    r"|\bi (?:just |only |already |did )?(?:asked|ask|told) you not to\b"
    r"|\bi(?:'ve| have)?(?: just| already)* (?:told|said)(?: you| to you)?(?: that)? i(?:'d| would) (?:rather|prefer"
    r"|sooner) (?:not|leave|you didn't)\b|\bi(?:'ve| have) (?:just )?asked you not to\b"
    r"|(?:^|[.!?,;…]\s{0,3}|\b(?:please|just|can we|could you|let's|and|but) )(?:please )?(?:leave|keep) "
    r"(?!(?:my|the|his|her|their|our|any) (?:sur)?names?\b)(?:my|our|his|her|their|him|her|them|the (?:kids|children"
    r"|boys|girls|family))(?: \w+){0,2}? out of (?:it|this|that)\b"
    r"|\bi(?:'d| would)?(?: just| really| only)? (?:(?:don't|do not) (?:want|wish|like)|rather not|prefer not)"
    r"(?: to)? be asked\b|\b(?:stop|no more|don't (?:keep )?) ?ask(?:ing)?(?: me)? about (?:it|that|this|him|her|them"
    r"|my \w+)\b",
    re.IGNORECASE,
)
"""Somebody goes no further in this."""
_UPSET_NOW = re.compile(
    r"\b(?:cry(?:ing)?|break(?:ing)? down|los(?:e|ing) it|shak(?:ing|y)|tear(?:s|y|ful|ing up)?|in bits"
    r"|(?:my )?voice(?: went|'s going| is going| goes)|chok(?:ing|ed) up|welling up|coming back|sobbing|trembling"
    r"|in pieces|falling apart)\b"
    r"(?:(?!\b(?:fine|better|ok(?:ay)?|right as|good|well|he|she|they|him|but)\b)[^.!?]){0,50}?"
    r"\b(?:right now|rn|now too|also now|as we speak|even now|as i (?:type|write|say|talk|speak)\b|(?:writing|typing"
    r"|saying|telling you) (?:this|it)|just (?:talking|thinking|telling) (?:about|of) (?:it|him|her|this)"
    r"|(?:it'?s )?going now|now(?=[,.]? (?:feel|sorry)|\W*$))",
    re.IGNORECASE,
)
"""Tears, or a voice that goes, while somebody tells: “i break down every time, also now”, …"""
_OF_OTHERS = re.compile(
    r"\b(?:he|she|they|hes|shes|baby|kids?|children|son|daughter|mum|mom|dad|wife|husband|said)(?:'s|'re)?\W+"
    r"(?:\w+\W+|i'm ){0,2}$",
    re.IGNORECASE,
)
"""… not of others."""
_FOR_MY_AGE = re.compile(
    r"\b(?:(?:every(?:one|body)|people|they|mum|mom|dad|my \w+|teachers?) (?:all )?(?:think|thinks|say|says"
    r"|tells? me)\b[^.!?]{0,60}?"
    r"|i'?m (?:(?:quite|very|really|pretty|so|too|rather|apparently) )*)\b(?:grown[- ]?up|mature|old|big|tall"
    r"|small|short|clever|brave"
    r"|sensible|strong|good|calm|responsible)\b(?: \w+)? for (?:an? )?(?P<age>(?:[89]|1[0-7])(?!\d)|ten|eleven"
    r"|twelve|thirteen"
    r"|fourteen|fifteen|sixteen|seventeen)\b(?! (?:minutes?|hours?|days?|weeks?|months?|euros?|pounds?|quid"
    r"|people|miles))",
    re.IGNORECASE,
)
"""An age in passing: “Everyone thinks I took it well, very grown up for 15.”"""
_NOT_YET = re.compile(
    r"\b(?:not(?: \w+){0,3}|wait|(?:can|won)'?t(?: \w+){1,4}|isn'?t(?: \w+){1,4}) (?:till?|until|before)"
    r" (?:i(?:'?m| am| turn)|you(?:'?re| are| turn)) (?:16|18|sixteen|eighteen)(?![\w-])",
    re.IGNORECASE,
)
"""What is not allowed yet: “Mum says not till I'm 18.”"""
_YEARS = re.compile(r"\bi have (?P<age>[89]|1[0-7]) years(?: old)?(?: now)?(?=\W*$|[.,!?])", re.IGNORECASE)
"""An age as many languages tell it: “I have 17 years now.”"""
_SORRY_FOR = re.compile(r"\W*(?:i'm (?:so |very )?sorry\b)", re.IGNORECASE)
"""How the interviewer begins who takes somebody for dead, …"""
_NOT_DEAD = re.compile(
    r"\b(?:he|she|they|my \w+)(?:'s| is| was|'re| are| were) (?:\w+ )?(?:alive|not dead|fine|well"
    r"|in (?:\w+ )?health)\b"
    r"|\b(?:he|she|they|my \w+)(?:'s|'re| is| are| has| did)?(?: not|n't) (?:dead|die|died|gone)\b"
    r"|\bit (?:was|is)(?:n't| not)? (?:my |the |his |her |their |mr |mrs |ms )?[\w']+(?: [\w']+){0,3} (?:who"
    r"|that) (?:died|has died|is dead)\b"
    r"|\bnobody(?:'s| is| has| was)? (?:dead|died)\b|\b(?:he|she) lived to\b",
    re.IGNORECASE,
)
"""… and words by which they were not."""


@dataclass(frozen=True)
class Said:
    """An act that is meant in so many words.

    Attributes:
        act, about, sure, details: as of `HeardAct`.
        start, end: the characters that say it.
        instead: acts that are none beside it.
        by: by whom it counts as heard; what the reader alone hears is asked back first.
    """

    act: Act
    start: int
    end: int
    about: str = ""
    sure: bool = True
    details: tuple[tuple[str, str], ...] = ()
    instead: frozenset[Act] = frozenset()
    by: Hearer = "rules"


def said_outright(text: str, question: str) -> tuple[Said, ...]:
    """What a message says in so many words.

    Args:
        text: the message.
        question: what it answers.
    """
    plain = text.replace("’", "'")
    if len(plain) != len(text):
        return ()
    found = (
        _leaving(plain, question),
        _unasked(plain),
        _unanswered(plain),
        _leaves_a_thing(plain),
        _lost(plain),
        _name(plain),
        _confidential(plain),
        _asked(plain),
        _which(plain),
        _wanted(plain),
        _got_wrong(plain, question),
        _slip(plain),
        _asks_on(plain),
        _offers(plain),
        _refused(plain),
        _alive(plain, question),
        _age(plain),
        _upset(plain),
    )
    return tuple(one for one in found if one is not None)


def _told_by_others(text: str, start: int) -> bool:
    """Whether what begins there is told as the words of somebody else."""
    return REPORTS.search(text[:start]) is not None or text[:start].count('"') % 2 == 1


def _leaving(text: str, question: str) -> Said | None:
    count = len(text.split())
    for pattern, sure in _LEAVING:
        for found in pattern.finditer(text):
            after = len(text[found.end() :].split())
            near = after <= (LATE if pattern is _TIME else AFTER) and (pattern is not _SAID or count <= SHORT)
            if not near or _told_by_others(text, found.start()) or _is_a_question(text, found.end()):
                continue
            if BEFORE_THAT.search(text[: found.start()]):
                continue  # “… where I should go now”
            ends: frozenset[Act] = frozenset({"wants_pause", "distress", "complains", "dont_know"})
            goes = sure or (pattern is _BYE and _GOES_FOR.search(text) is not None)
            if pattern is _NOW and "now" not in found[0].lower() and count > SHORT:
                goes = _BREAKS_OFF.search(text) is not None  # “… and there I have to go, really.”
            return Said("wants_stop", found.start(), found.end(), sure=goes, instead=ends)
    return None


_LEAVING: Final = (
    (_SAID, True),
    (_ENOUGH_AND_OFF, True),
    (_NOW, True),
    (_NOW_FIRST, False),
    (_TIME, True),
    (_GOES, False),
    (_DONE, False),
    (_BYE, False),
)
"""How people say that they leave, and whether it is sure by that alone."""


def _is_a_question(text: str, end: int) -> bool:
    return text[end:].lstrip(" ")[:1] == "?" and text[end:].lstrip(" ")[:2] != "??"


def _unasked(text: str) -> Said | None:
    for found in _UNASKED.finditer(text):
        topic = next(part for part in found.groups() if part)
        topic = _BEHIND_A_TOPIC.split(f"about {topic}" if found["topic4"] else topic)[0].strip(" ,").lower()
        if _told_by_others(text, found.start()) or _NOT_A_TOPIC.search(topic):
            continue
        if 2 <= len(topic.split()) <= LONGEST_TOPIC:
            gone: frozenset[Act] = frozenset({"complains", "corrects"})
            if found["topic3"]:  # “Ask me about the roses.”
                named = (("topic", topic.removeprefix("about ")),)
                return Said("wants_topic", found.start(), found.end(), about="asked", details=named, instead=gone)
            told = len(text[found.end() :].split()) >= ANSWERED
            wanted = (("topic", "" if told else topic),)
            return Said("wants_topic", found.start(), found.end(), about=UNASKED, details=wanted, instead=gone)
    return None


def _unanswered(text: str) -> Said | None:
    found = _UNANSWERED.search(text)
    if found is None or _told_by_others(text, found.start()):
        return None
    gone: frozenset[Act] = frozenset({"complains", "corrects", "wants_topic"})
    return Said("complains", found.start(), found.end(), about=UNANSWERED, instead=gone)


def _leaves_a_thing(text: str) -> Said | None:
    found = _LEAVES_A_THING.search(text)
    if found is None or _told_by_others(text, found.start()):
        return None
    start = found.start() + len(found[0]) - len(found[0].lstrip(" .!?,;"))
    gone: frozenset[Act] = frozenset({"wants_stop", "wants_pause", "dont_know", "complains", "wants_topic"})
    return Said("declines", start, found.end(), instead=gone)


def _lost(text: str) -> Said | None:
    found = _WHERE.search(text)
    if found is None or len(text.split()) > _LOST or _told_by_others(text, found.start()):
        return None
    return Said("asks_back", found.start(), found.end(), about=WHERE, instead=frozenset({"wants_stop", "complains"}))


def _name(text: str) -> Said | None:
    for pattern, about in ((_NAME_OUT, "names"), (_PART_OUT, "part")):
        found = pattern.search(text)
        if found is not None and not _told_by_others(text, found.start()):
            gone: frozenset[Act] = frozenset({"wants_withdrawal", "wants_pause", "corrects"})
            return Said("asks_interviewer", found.start(), found.end(), about=about, instead=gone)
    return None


def _confidential(text: str) -> Said | None:
    found = _CONFIDENTIAL.search(text)
    if found is None or _told_by_others(text, found.start()):
        return None
    gone: frozenset[Act] = frozenset({"declines", "asks_back", "wants_withdrawal"})
    return Said("asks_interviewer", found.start(), found.end(), about="readers", instead=gone)


def _asks_on(text: str) -> Said | None:
    found = _ASK_ON.search(text)
    if found is None or _told_by_others(text, found.start()) or len(text.split()) > LONGEST_ASKED:
        return None
    gone: frozenset[Act] = frozenset({"complains", "dont_know"})
    return Said("wants_topic", found.start(), found.end(), about=NEXT, instead=gone)


def _offers(text: str) -> Said | None:
    found = _OFFERS.search(text)
    refuses = found is not None and _RATHER_NOT.search(text[: found.start()]) is not None
    if found is None or not refuses or _told_by_others(text, found.start()):
        return None
    topic = _BEHIND_A_TOPIC.split(found["topic"])[0].strip(" ,").removeprefix("about ")
    named = (("topic", topic),)
    gone: frozenset[Act] = frozenset({"declines", "complains", "distress"})
    return Said("wants_topic", found.start(), found.end(), about=OFFERED, details=named, instead=gone)


def _got_wrong(text: str, question: str) -> Said | None:
    found = _GOT_WRONG.search(text)
    mine = found is not None and re.match(r"(?:you|u|ya)\b", found[0], re.IGNORECASE) is not None
    begins = found is not None and len(text[: found.start()].split()) <= LEADS
    said_back = len(sentences(question)) > 1 or _SAYS_NO.match(text) is not None
    if found is None or not (mine or (begins and said_back)) or not question or len(text.split()) > _LONGEST_WRONG:
        return None
    if _told_by_others(text, found.start()):
        return None
    gone: frozenset[Act] = frozenset({"complains", "wants_pause", "asks_back"})
    return Said("corrects", found.start(), found.end(), about=DENIED, instead=gone)


def _slip(text: str) -> Said | None:
    again = _CORRECTED.search(text)
    if again is not None:
        right = (("right", again["right"].strip()),)
        return Said("corrects", again.start(), again.end(), details=right, instead=frozenset({"complains"}))
    for taken_back in _NOT_SO.finditer(text):
        before = sentences(text[: taken_back.start()])[-1:]
        if before and taken_back["what"].casefold() in before[0].casefold():
            return Said("corrects", taken_back.start() + 1, taken_back.end(), about=PUT_RIGHT_AT_ONCE)
    found = _SLIP.search(text)
    if found is None or not text[: found.start()].strip() or _told_by_others(text, found.start()):
        return None
    return Said("corrects", found.start(), found.end(), about=PUT_RIGHT_AT_ONCE)


def _refused(text: str) -> Said | None:
    found = _REFUSES.search(text)
    if found is None or _told_by_others(text, found.start()):
        return None
    gone: frozenset[Act] = frozenset({"dont_know", "wants_topic", "wants_withdrawal", "complains"})
    return Said("declines", found.start(), found.end(), instead=gone)


def _upset(text: str) -> Said | None:
    found = _UPSET_NOW.search(text)
    if found is None or _OF_OTHERS.search(text[: found.start()]):
        return None
    return Said("distress", found.start(), found.end())


def _age(text: str) -> Said | None:
    not_yet = _NOT_YET.search(text)
    if not_yet is not None:
        return Said("minor", not_yet.start(), not_yet.end(), about=IN_PASSING, sure=False)
    found = _FOR_MY_AGE.search(text) or _YEARS.search(text)
    if found is None:
        return None
    age = (("age", found["age"]),)
    return Said("minor", found.start(), found.end(), about=IN_PASSING, sure=False, details=age)


def _alive(text: str, question: str) -> Said | None:
    found = _NOT_DEAD.search(text) if _SORRY_FOR.match(question) else None
    if found is None:
        return None
    gone: frozenset[Act] = frozenset({"asks_back", "complains"})
    return Said("corrects", found.start(), found.end(), about=DENIED, instead=gone)


def _asked(text: str) -> Said | None:
    who = _WHO_READS.search(text)
    if who is not None and not _told_by_others(text, who.start()):
        return Said("asks_interviewer", who.start(), who.end(), about="readers", instead=frozenset({"complains"}))
    if len(text.split()) > LONGEST_ASKED:
        return None
    for found in _ASKED.finditer(text):
        about = about_of(found["asked"])
        if about in ("readers", "recording", "machine", "purpose") and not _told_by_others(text, found.start()):
            gone: frozenset[Act] = frozenset({"wants_withdrawal", "complains"})
            return Said("asks_interviewer", found.start(), found.end(), about=about, instead=gone)
    return None


def _which(text: str) -> Said | None:
    found = _WHICH_OF_TWO.search(text) if "?" in text and len(text.split()) <= LONGEST_ASKED else None
    if found is None or _told_by_others(text, found.start()) or re.search(r"\bcarry on\b|\bgo on\b", found[0].lower()):
        return None
    gone: frozenset[Act] = frozenset({"wants_topic", "complains", "wants_pause", "asks_interviewer"})
    return Said("asks_back", found.start(), found.end(), about=WHICH, instead=gone)


def _wanted(text: str) -> Said | None:
    for pattern, about in ((_WANTED, "why_ask"), (_OPINION, "opinion"), (_THINKS, "opinion"), (_GOT_IT, "heard")):
        found = pattern.search(text)
        if found is not None and not _told_by_others(text, found.start()):
            gone: frozenset[Act] = frozenset({"complains", "asks_back"})
            return Said("asks_interviewer", found.start(), found.end(), about=about, instead=gone)
    return None


def _first_word(text: str, said: Said) -> int:
    """Where the words of an act begin, behind the end of the sentence before."""
    return next((at for at in range(said.start, said.end) if text[at].isalnum()), said.start)


def with_outright(
    text: str, clauses: Sequence[Clause], found: Sequence[HeardAct | None], said: Sequence[Said]
) -> list[HeardAct | None]:
    """What was heard, with what is said in so many words."""
    kept = list(found)
    for one in said:
        at = [n for n, clause in enumerate(clauses) if clause.start < one.end and _first_word(text, one) < clause.end]
        heard = [each for each in kept if each is not None and each.act == one.act]
        if not at or any(each.sure and each.heard_by == "rules" and each.about == one.about for each in heard):
            continue
        if one.about == CONTROLLED and any(each.about != FAINT for each in heard):
            continue  # A danger that was heard is asked about; this alone may be none.
        kept = [
            None
            if each is not None
            and n not in at
            and (each.act in one.instead or each.act == one.act != "asks_interviewer")
            else each
            for n, each in enumerate(kept)
        ]
        for n in at:
            clause, before = clauses[n], kept[n]
            if not one.sure and before is not None and before.act in WEIGHTIER:
                continue  # Who wants it deleted, or to stop, is not asked about a doubtful danger instead.
            kept[n] = HeardAct(
                act=one.act, start=clause.start, end=clause.end, sure=one.sure, about=one.about,
                details=dict(one.details), heard_by=one.by,
            )  # fmt: skip
    return kept


def denies_nothing(heard: HeardAct, question: str) -> bool:
    """Whether what rules take for a correction denies nothing that was asked: “Not a bag man. Pockets.”"""
    if heard.act != "corrects" or heard.heard_by != "rules" or heard.details.get("right"):
        return False
    wrong = {word for word in words(heard.details.get("wrong", "")) if len(word) > 2}
    return bool(wrong) and not wrong & set(words(question))
