"""Hears dialogue acts by rules and by the trained reader together.

Where both hear the same, it is sure. Where a rule is not sure and the reader is all but certain that nothing but
content is told, it is content. Where only one of them hears that somebody wants to stop, to pause, to have things
deleted, or is under age, it is asked back; so it is where the reader alone hears danger, of which it is too often
wrong: help is shown with the question, unless it is faint. For distress, for danger that a rule hears, and for the
acts that only change what is said next, either is enough where it is sure.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Executor

import numpy as np

from pipeline.acts import ACTS, CONTROLLED, DENIED, ENOUGH, FAINT, Act, AskedBack, HeardAct
from pipeline.language.acts.asking import asked_plainly
from pipeline.language.acts.beside import HAD_NOT_MEANT_TO, Message, with_talk
from pipeline.language.acts.danger import in_danger, is_everyday
from pipeline.language.acts.outright import denies_nothing, said_outright, with_outright
from pipeline.language.acts.reading import Clause, acts_of, heard_clauses, joined, not_said
from pipeline.language.acts.replying import replied
from pipeline.language.acts.rules import Rules, rules_for
from pipeline.language.acts.study import of_the_study
from pipeline.language.acts.words import ASKS, BETWEEN_US, LIFE, OF_REPORTS, REPORTS, about_of
from pipeline.language.reader import heads
from pipeline.language.reader.danger import DangerModel, without_when
from pipeline.language.reader.message import MessageModel
from pipeline.language.reader.network import Floats, ReaderNetwork, Reading
from pipeline.language.reader.replies import ReplyModel
from pipeline.language.reader.settings import ActThreshold, ReaderSettings
from pipeline.language.reader.talk import TalkModel
from pipeline.question.text import sentences, words

LANGUAGE = "en"
"""The language that the reader was trained in; in others the rules hear alone."""
BOTH: frozenset[Act] = frozenset({"wants_stop", "wants_pause", "wants_withdrawal", "minor"})
"""Acts that end, pause, erase or hold back an interview: rules and reader must agree on them."""
CONFIRMS = 0.95
"""Probability from which the reader makes sure what a rule has heard and is not sure of."""
OVERRULES = 0.99
"""Probability that a clause only tells from which the reader overrules a rule that is not sure; …"""
NEXT_TO_NOTHING = 0.002
"""… and one that is sure, where it gives the act less than this: such a rule was wrong in 75 of 80 messages."""
CERTAIN_OF_HARM = (0.9995, 0.0002)
"""The same two for danger and distress, …"""
HARM_IN_A_STORY = (0.998, 0.002)
"""… and in a story: “and then he hung round my neck”."""
DENIES = 0.02
"""Probability of an act of `DOUBTED` below which a rule that is not sure of it counts for nothing."""
TO_US = re.compile(
    r"\b(?:told (?:you|u)|asked me|just said|i'?ve said|i said that|tell(?:ing)? (?:you|u)|you do (?:like|love|enjoy)"
    r"|my (?:own|last) (?:words?|sentences?|lines?)"
    r"|(?:i )?thought (?:we were on(?! the (?:wrong|right|same|bus|train|way|road|phone))"
    r"|we were talking|you wanted))\b",
    re.IGNORECASE,
)
"""Words about what was said to the interviewer."""
ASKED_BACK = BOTH | {"risk"}
DOUBTED = ASKED_BACK | {"distress"}
"""Acts that are asked back where the reader alone hears them."""
ENDS: frozenset[Act] = frozenset({"wants_stop", "wants_pause"})
CLOSER = 6
"""Words of a clause up to which the rules alone hear that a subject is closed."""
FEW_WORDS = 2
"""Words of a clause that is too short for the reader alone, unless it is all but certain."""
CERTAIN = 0.9
LEAST_ALONE: dict[Act, float] = {
    "asks_back": 0.9,
    "dont_know": 0.95,
    "complains": 0.98,
    "wants_withdrawal": 0.85,
    "wants_stop": 0.5,
}
"""Probabilities below which the reader alone was more often wrong on content than its own thresholds say."""
IN_A_STORY = 20
"""Words from which on a message tells a story, in which …"""
LEAST_IN_A_STORY: dict[Act, float] = {"risk": 0.7, "minor": 0.5, "distress": 0.7, "wants_stop": 0.5}
"""… the reader alone needs these, and …"""
NAMED_IN_A_STORY: dict[Act, re.Pattern[str]] = {
    "wants_stop": re.compile(
        r"\b(?:leave of|to bed|good ?night|good ?bye|bye+|me gone|leave me"
        r"|end of (?:the |this )?(?:conversation|interview|chat|talk)"
        r"|(?:can'?t|cannot|don'?t want to|won'?t|not) (?:go|carry) (?:on|any further)|end (?:at|here|it|this|now)"
        r"|(?:switch|log|sign|head|ring|hang)\w* (?:it |this |you )?(?:off|up)|stop\w*|conclude|enough"
        r"|clos(?:e|ing) (?:here|now|there|it|this|off|(?:the|this) (?:chat|interview|conversation|window|app|page))"
        r"|(?:have|got|need|must|best|better|dey|gotta)(?: to)? (?:go|leave|run|dash|be off|be going)|it for me"
        r"|fed up"
        r"|no puff|quit|giv(?:e|ing) up|finish\w*|done|questions?|interview|cheers|thanks?|thank you)\b",
        re.IGNORECASE,
    ),
    "distress": re.compile(
        r"\b(?:cr(?:y|ies|ying|ied)|bawl\w*|tears?|sob\w*|weep\w*|howl\w*|shak(?:e|es|ing|y)|trembl\w+|afraid|scared"
        r"|frighten\w*|upset|panic\w*|breathe?|choking|throat|too much|sorry|hurts?"
        r"|my (?:hands?|voice|eyes|heart|chest)"
        r"|(?:can'?t|cannot|can not|hardly) (?:go|talk|do|stop|type|write|say|think|see|speak)|tissues?|goose ?bumps"
        r"|scream|apart|in (?:bits|pieces|a state)|overwhelm\w*|going under|a moment|a minute)\b",
        re.IGNORECASE,
    ),
    "aside": re.compile(
        r"\b(?:hang on|hold on|one (?:sec|second|moment|minute)|just a (?:sec|second|moment|minute)|excuse me|wait"
        r"|somebody|someone|(?:the|my) (?:phone|door|doorbell|bell|kettle|dog|cat|baby|kids?|battery|screen|laptop"
        r"|connection|mic\w*|keyboard|train|bus|tram|stop)|ringing|barking|beeping|typing|typo|autocorrect|dictat\w+"
        r"|not now|get (?:down|off|out)|come here|shut (?:up|the)|leave (?:it|that|him|her)|darling|sweetheart"
        r"|i'?m talking|on a call|muted?)\b",
        re.IGNORECASE,
    ),
    "asks_interviewer": re.compile(
        r"\b(?:you|your|ya|this|study|interviews?|survey|answers?|record\w*|robot|computer|machine|ai|bot|human|real"
        r"|how (?:long|many|much)|data|anonymous|confidential|private|read|reads|listen\w*|questions?|for what|kept"
        r"|what for|who for|paid|voucher|results?|find out)\b",
        re.IGNORECASE,
    ),
}
"""… words of one of these: without them, nineteen of twenty that it heard in told stories were none; and …"""
CLEAR_DANGER, NO_DANGER = 1.5, -4.5
"""Log-odds of `MessageModel` below which a danger is faint that the reader alone hears, and one that a rule hears. Of
152 dangers that rules heard in the corpus none was below −3.8, of 28 things that were none 19 below −4.5."""
PLAINLY = 12
"""Words of a message up to which a danger is none that is faint, where a rule is sure of it: “I want to die.”"""
SECRET, SECRET_DANGER = "secret", 0.0
"""What a rule says of a danger that it hears only because nobody was told, and log-odds below which that is none: of 26
answers of interviews with such words none was a danger."""
LEAST_WHOLE: dict[Act, float] = {
    "distress": -1.0,
    "wants_stop": -1.5,
    "wants_pause": -1.0,
    "wants_withdrawal": 0.8,
    "minor": 1.0,
}
"""Log-odds of `MessageModel` below which what the reader alone hears in a clause is none. Of 324 that it heard so in
messages which the model had not seen and which did that, three were below."""
WHOLE: dict[Act, float] = {
    "risk": 1.5,
    "distress": 1.5,
    "wants_stop": 2.0,
    "wants_pause": 1.5,
    "wants_withdrawal": 1.5,
    "minor": 1.5,
}
"""Log-odds of `MessageModel` from which a message does something that neither rules nor reader hear in a clause."""
IN_A_SENTENCE = 2.2
"""Log-odds from which a sentence tells of danger, which is asked back, in the mean of those among the others and of
those by itself: chosen so that of 1 000 answers in which nobody is in danger, and which the model had not seen, two are
taken for it."""
HINTED = 1.4
"""Log-odds from which it hints at danger so faintly that a person is told and the respondent is not asked: four of
1 000."""
CONFIRMED, UNCONFIRMED, CONFIRMED_FAINTLY = 0.0, -3.0, -1.0
"""The same from which a danger counts that the reader hears in a clause and no rule does, from which it is at least
faint, and from which one counts that is faint anyway. Of 62 dangers by writers whom nothing had learned from all have
the first, of 48 messages that were none seven; of 20 faint ones 20 the last, of 83 that were none 21. Half of those
that were none are answers of a few words to the question for the last time: “last night. walked home”."""
LEAST_ODDS, OF_WHEN = -12.0, 2.0
"""What a sentence by itself can say against danger at the most; and what words can say for it that only say when
something was: “this morning” alone was worth ten."""
BESIDE_FAINT = 1.0
"""What more that takes where the whole message hardly tells of the danger that a rule has heard in it."""
DOUBTS_HARM = 0.9
"""Probability that a clause only tells from which a rule that hears danger in it is no longer sure, if …"""
UNSHARED = 0.005
"""… a rule that hears distress, however sure, needs as much from the reader: people tell of tears long dried."""
NOT_THEY = (
    r"\b(?:he|she|they|we|my \w+|nobody|people)(?: \w+)? (?:can't|cannot|can not|won't|doesn't|don't|didn't|never"
    r"|couldn't|wouldn't)"
    r"(?: really| ever| even| want to| like to)* (?:talk|speak|talks|speaks|talked|spoke)(?: to \w+)? (?:about|of)\b"
)
"""Somebody else who does not speak of something: “We don't talk about it.”"""
SAID_OTHERWISE: dict[Act, re.Pattern[str]] = {
    "wants_withdrawal": re.compile(
        r"\btell (?:them|whoever|anybody|anyone|the (?:people|company|others|rest))\b"
        r"|\b(?:takes?|took|taken|taking) (?:it|a lot|so much|everything) out of\b|\b(?:you|please) keep what i\b"
        r"|\b(?:don'?t|do not|never) (?:delete|erase|remove) (?:any|it|that|what|my)"
        r"|\btake (?:that|this|the) one\b|\bout of here\b|(?:\bnot|n't)(?: really)? want (?:him|her|them|any\w*)\b"
        r"|\b(?:i|he|she|they|we) (?:should|ought to|have to|must|never|always) (?:wipe|rub|scrub) (?:it|them|that)\b"
        r"|\btake (?:that|the|this) warning off\b|\bbe (?:\w+ ){0,2}careful with\b|\bto be kept\b|\bplease keep\b"
        r"|\b(?:name|names)(?: \w+)? (?:attached|on it|in it)\b|\battach (?:my|a|any) name\b"
        r"|\b(?:my|a|any) name (?:out|off)\b"
        r"|\b(?:goes|went|go) no further\b|\bwith (?:my|a) name\b",
        re.IGNORECASE,
    ),
    "minor": re.compile(
        r"\bi(?:'?m| am| was| work(?:ed)?)(?: as)? (?:the|an?) (?:\w+ ){0,2}(?:secretary|teacher|nurse|assistant|cook"
        r"|cleaner|caretaker|driver|manager|receptionist|lecturer|librarian|dinner lady|mother|father|mum|dad)\b"
        r"|\b(?:i'?m|i am)(?: only| just| already| now| still| nearly)? (?:1[89]|[2-9]\d)\b"
        r"|\b(?:when|till?|until|since|by the time) i (?:turned|was|hit) (?:1[89]|[2-9]\d)\b"
        r"|\b(?:since|after|finished|left|at|from) uni(?:versity)?\b|\bstudent (?:account|loan|overdraft)\b"
        r"|\b(?:years?|yrs) off (?:me|my life)\b|\bi(?:'?m| am) the eldest(?!.*\b(?:school|primary|year|\d))"
        r"|^(?!.*\b(?:i'?m|i am|my)\b.{0,12}\b(?:1[0-7]|[89])\b).*\b(?:he|she|they|sons?|daughters?|boys?|girls?"
        r"|kids?|child(?:ren)?"
        r"|brothers?|sisters?|grand\w+|nephews?|nieces?)(?:'s|'re| is| are| was| were)?(?: only| now"
        r"| just)? (?:[1-9]|1[0-7])(?: years| yrs|\b)",
        re.IGNORECASE | re.DOTALL,
    ),
    "risk": re.compile(
        r"\b(?:is|are|was|were|be|been|'s|'re) (?:\w+ )?killing me\b|\bdying (?:for|to)\b|\bto die for\b"
        r"|\bnothing(?: much| really| bad| special| at all)? happened\b(?!.*\b(?:knife|gun|blood|hit|die|dead"
        r"|kill\w*)\b)",
        re.IGNORECASE,
    ),
    "wants_pause": re.compile(
        r"\b(?:moment|minute|second|bit|hour)s? (?:to|for|by) (?:myself|ourselves)\b"
        r"|\b(?:i|you|we|he|she|they) (?:can|could) (?:\w+ )?(?:rest|relax|sleep|nap|sit|breathe)\b(?! now)",
        re.IGNORECASE,
    ),
    "declines": re.compile(NOT_THEY, re.IGNORECASE),
    "complains": re.compile(NOT_THEY, re.IGNORECASE),
    "distress": re.compile(
        r"\b(?:they'?re|hands?|fingers?|feet|foot|toes?|arms?|legs?|face|lips?|ears?)(?: \w+){0,2} (?:numb|frozen)\b"
        r"|\b(?:good|happy) (?:tears|ones?)\b|\btears of (?:joy|happiness|laughter)\b|\b(?:not|n't|wasn't) crying\b"
        r"|\b(?:with|for) joy\b",
        re.IGNORECASE,
    ),
}
"""What respondents say of themselves against what the reader alone would hear."""
YOUNG = re.compile(
    r"\b(?:[4-9]|1[0-7])\b(?! (?:hours?|hrs?|mins?|minutes|days?|weeks?|months?|years|yrs|quid|pounds|euros|times"
    r"|people|pairs|miles|km|k|gb|gigs?|percent|am|pm|per|out|of|at|on|for)\b)"
    r"|\b(?:four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|18)\b"
    r"|\b(?:1[0-7]|[4-9])(?:th|yo|yr)\b|\b(?:year|yr|y|grade|class|u|form|key stage) ?\d|\b\d+(?:st|nd|rd|th) grade"
    r"|\bunder[- ]|\b\d[a-z]\b|\byear (?:\w+[snt]\b)|\b(?:first|second|third|fourth|fifth|sixth) (?:class|year|form)\b"
    r"|\b(?:head of year|grade (?:one|two|three)|spellings|sophomore|freshman|junior|communion|period|lates)\b"
    r"|\btall enough\b"
    r"|\b(?:\w*teen\w*|school\w*|teacher\w*|homework|pupil\w*|gcse\w*|a[- ]levels?|sats|maths|sixth|primary|secondary"
    r"|infants|playground|tutor|mocks?|minor|under ?age\w*|kids?|child\w*|youngest|too young|old enough|grown[- ]?ups?"
    r"|allowed|pocket money|birthday|turn(?:ing|ed)?|guardian\w*|permission|not old|adults?|scouts?|brownies|cubs|youth"
    r"|paper round|detention|uniform|prom|halls|provisional|legal\w*|my class|older than me|older like|licen[cs]e"
    r"|my (?:mum|dad|parents?|nan|gran)\w* (?:lets?|won'?t|doesn'?t|don'?t|has to|have to|makes?|signs?|signed|pays?"
    r"|buys?|says?|drives?|drops?|picks?))\b",
    re.IGNORECASE,
)
"""Words without one of which nobody is taken for a child by the reader alone in what was typed without a capital."""
SENT = re.compile(
    r"\d|@|[A-Z]\w+ [A-Z]\w+|(?i:\b(?:name(?:'s|s| is| was)|my name|name (?:him|her|it)|called|he's|she's|it's"
    r"|that's|(?:number|mobile|code|password|email)(?:'s|s| is| was| down)|mr|mister|mrs|missus|miss|reverend|dot"
    r"|street|lane|road|under|(?:oh|zero|one|two|three|four|five|six|seven|eight|nine|double)(?: \w+)?"
    r" (?:oh|zero|one|two|three|four|five|six|seven|eight|nine|double))\b)"
)
"""Words without which the reader alone hears no names, addresses or numbers: “it was on her name” sends none."""
OF_NO_TIME: frozenset[Act] = frozenset({"wants_pause", "minor"})
"""What nobody does by saying when something was, …"""
SHORTLY_WHEN = 25
"""… in an answer of up to so many words …"""
ASKED_WHEN = re.compile(r"\b(?:the last time|when (?:was|did|were|do)|last (?:did|bought|used))\b", re.IGNORECASE)
"""… to a question that asks for it."""
HAS_ONE_MORE = re.compile(
    r"\bi(?:'ve| have)(?: got)?(?: (?:maybe|perhaps|time for|room for|just|only|about))* (?:one|two|a couple) more\b"
    r"(?: (?:question|minute|answer)s?)?(?: in me)?[\s.!,]*$",
    re.IGNORECASE,
)
"""Says how much there is still time for: “My two o'clock's just walked in, I've got maybe one more.”"""
ECHOED = re.compile(
    r"\W*(?:what|how|why|where|when|who)\b(?![^.!?…]*\b(?:mean\w*|sorry|question|ask\w*|you|that again)\b)[^.!?…]{2,50}"
    r"[.…!][.…! ]*(?!(?:what|how|why|where|when|who|i don'?t|don'?t|sorry|not sure)\b)[^?]+",
    re.IGNORECASE,
)
"""A question said back and answered: “What was it like. ... It was veal.”"""
NO_TEARS = re.compile(
    r"\bcrying (?:to you about|on your shoulder)\b|(?:\bnot|n't) (?:really |actually )?crying\b"
    r"|(?:\bnot|n't) (?:(?:really|actually|sat|sitting|here|exactly) ){0,4}in (?:floods of )?tears\b",
    re.IGNORECASE,
)
"""Words by which somebody who speaks of tears has none."""
GOES_ON = re.compile(
    r"\b(?:we|i|you|u) (?:can|could|will|'ll)(?: still| just| happily| gladly)? (?:go|carry|keep)(?: going)? on\b"
    r"|\b(?:we|i) can (?:keep going|continue)\b|\blet'?s (?:go|carry) on\b"
    r"|[,.;] (?:so )?(?:carry|go) on\b[\w ,.]{0,10}$"
    r"|\b(?:i'?m|it'?s) (?:all ?right|ok(?:ay)?|fine),? (?:do )?(?:carry|go) on\b"
    r"|\bi(?:'?d| would)? (?:like|want) to (?:go|carry|keep) (?:on|going)\b"
    r"|\bi'?m (?:all ?right|ok(?:ay)?|fine)(?: now| again)\b"
    r"|^(?:\W|\w+ ){0,3}(?:all right|ok|okay|yes),? i'?m (?:all ?right|ok(?:ay)?|fine)\b"
    r"|\b(?:fine|happy|ok|okay|good|glad) to (?:go|carry|keep) (?:on|going)\b"
    r"|\b(?:don'?t|do not|didn'?t|did not) (?:need|want) (?:a|to) (?:break|stop|pause|minute|moment)\b"
    r"|\b(?:go on,? )?ask me (?:your|the) next\b",
    re.IGNORECASE,
)
"""Words of somebody who goes on: a wish to stop or to pause that is not sure counts for nothing beside them."""
ON_CONDITION = re.compile(
    r"(?:^|[.!?]\s+)(?:(?:and|but|so|well|because|then),? )*(?:the )?"
    r"(?:(?:first|next|second|last|one) (?:time|sigh|sign|word|look|hint)|(?:minute|moment|second|day)|if|unless|when"
    r"|whenever|once|as soon as|soon as|any(?:body|one) who)\b(?P<what>[^.!?]{4,}?)[,;–—-]? *$",
    re.IGNORECASE,
)
"""How a clause is led in that says when somebody would leave: “First time he sighs and reaches over, I'm off.”"""
OF_THE_TALK = re.compile(
    r"\b(?:you|your|u|that'?s (?:all|it)|all right|alright|ok(?:ay)?|question|interview|done|mind|enough)\b",
    re.IGNORECASE,
)
"""Words by which such a condition may be about the interview: “If that's all, I'm off.”"""
BY_NAME = re.compile(r"\bthat(?:'?s| was) (?:so )?(?:me|us|him|her|them),? that (?:is|was)\b", re.IGNORECASE)
"""Who somebody is: “that's me, that is”."""
ENOUGH_OF_IT = re.compile(
    r"\benough (?:about|on) (?:this|that|it|him|her|them|(?:my|the) \w+)\b"
    r"|\b(?:don'?t|do not|not) (?:really )?(?:want|wish|like) to (?:say|tell|talk) (?:any ?)?more (?:on|about|of) "
    r"(?:this|that|it|him|her|them|(?:my|the) \w+)\b"
    r"|(?:^|[.!?;,] )(?:(?:but|and|so|please),? )*(?:not|no|nothing) (?:any ?)?more about"
    r" (?:this|that|it|him|her|them|(?:this|that|the|my) \w+)(?:,? (?:please|now|today))?(?=[.!?]|$)"
    r"|\bthat(?:'s|’s| is) (?:really |quite |now )?enough of (?:this|that|it|him|her|them|(?:my|the|this|that) \w+)\b"
    r"|\benough of (?:this|that|it|him|her|them|(?:my|the|this|that) \w+),? (?:please|now)\b"
    r"|\bi (?:don['’]?t|do not|wouldn['’]?t|would not|didn['’]?t) (?:really |much )?(?:like|want|wish|care) to go"
    r" (?:(?:too |so |very )?(?:much|deep(?:er)?|far(?:ther)?|further|more) )?(?:in|into|on|about|over)"
    r" (?:this|that|it|him|her)(?: one)?(?=[.,;!]|$| now\b)"
    r"|\bleave (?:him|her|it|that|this|them) (?:a (?:little )?bit|be|out of (?:it|this))(?=[.,;!]|$)",
    re.IGNORECASE,
)
"""Words of somebody who has told enough of one thing, …"""
OF_ALL = re.compile(
    r"\b(?:stop(?:ping)?|interview|questions?|finish(?:ed)?|quit|done here|end (?:it|this|here)|go now|have to go)\b",
    re.IGNORECASE,
)
"""… unless they speak of all."""
SAID_AT_LAST = re.compile(r"\bthere,? (?:now )?i(?:'ve| have) said (?:it|that)\b", re.IGNORECASE)
"""Words of somebody who has brought it over their lips, and complains of nothing."""
PUTS_RIGHT = re.compile(
    r"^\W*(?:no|nope|oh no|well no)\b[^.!?]{0,60}?\bi (?:only |just |never )?(?:said|meant)\b"
    r"(?! (?:no|yes|so|to|it (?:to|because)|that (?:to|because))\b)"
    r"(?! (?:\w+ ){0,3}(?:already|before|twice|earlier)\b)",
    re.IGNORECASE,
)
"""Begins by saying that something was not said so: “No, no, I don't drive, I said I'm afraid that I would.”"""
CONTRADICTS = re.compile(
    r"^\W*(?:(?:oh|ah|god|well|lord|what|good grief|dear me|ha|sorry|danger)\W+){0,4}(?:no|nope)\b[\s,.!;]+"
    r"(?:(?:no|well|love|mate|god|good grief)\W+){0,3}"
    r"(?:nobody(?:['’]s| is| was| has)? (?:in|dead|died|dying|hurt|hurting|ill)\b"
    r"|(?:i['’]?m|i am|he['’]?s|he is|she['’]?s|she is|they['’]?re|they are)(?:n['’]t| not) (?:dead|dying"
    r"|in any danger"
    r"|in danger|ill|upset|crying)\b|(?:he|she|they)(?:['’](?:s|re)| is| are) (?:alive|fine)\b|not dead\b)"
    r"|\b(?:one|a|two|a small|a slight) corrections?[.:,]|\bi (?:should|must) correct (?:one|that|this|myself|it)\b"
    r"|,? i said,? not (?:for|to|with|of|me|him|her|them|us)\b",
    re.IGNORECASE,
)
"""Denies what the interviewer took for granted, or names a correction: “No, nobody's in danger.”, “For us, I said, not
for me.” What is denied else may agree: “You never got up first.” “Well, no, I didn't.”"""
NAMES_OUT = re.compile(
    r"\b(?:please|can|could|would|will)\b[^.?!]{0,60}\b(?:leave|keep|take"
    r"|cut)\b[^.?!]{0,30}\bnames?\b[^.?!]{0,20}\bout\b"
    r"|\b(?:leave|keep|take) (?:the |our |all |my |any )?names? out\b[^.?!]{0,20}\bplease\b",
    re.IGNORECASE,
)
"""A wish that names be left out, which is none to have all deleted."""
PERSONS = frozenset("i i'm i've me my mine we our us you you're you've your yours".split())
"""Words that change when somebody else says the same."""
NEW_WORDS = 1
"""Words in which somebody may differ who says again what was said back to them."""
TELLS = ACTS.index("tells")
NEVER = ActThreshold(alone=1.0, agrees=1.0)


CONFIDES = re.compile(
    r"\b(?:never|not|haven'?t|hadn'?t) (?:\w+ ){0,2}(?:told|tell|said|say)\b[^.!?]{0,25}"
    r"\b(?:any(?:one|body)|(?:a )?soul|them|him|her|my \w+)\b|\byou(?:'?re| are) the first\b"
    r"|\b(?:nobody|no one|no-one) (?:else )?knows\b",
    re.IGNORECASE,
)
"""Words by which somebody tells what nobody was told before, and complains of nothing."""
POSTPONES = re.compile(
    r"\b(?:come|get|turn|go|be getting)(?: back)? (?:on )?to (?:that|this|it|him|her|them|the \w+)"
    r" (?:in (?:a|one) (?:moment|minute|min|bit|sec\w*|while)|later|afterwards|presently|shortly)\b",
    re.IGNORECASE,
)
"""Words by which somebody puts off what they would tell, and wants no break."""
WAIT = re.compile(
    r"\b(?:can|could|will|would) you (?:please |just )?(?:wait|hold on|hang on)"
    r"(?: for me| a (?:bit|moment|minute|sec))?(?: please)?\W*$|\b(?:please )?wait for me(?: please)?\W*$",
    re.IGNORECASE,
)
"""How somebody asks who leaves to be waited for."""
LEAVES_IT = re.compile(
    r"\b(?:i'?ll|i will|let'?s|let us|we'?ll|i'?d (?:rather|like to|prefer to)|can we|could we|may we)(?: just)?"
    r" (?:leave (?:it|that) (?:at that|there|here)|stop there)"
    r"(?:,? (?:for now|for the moment|please|if (?:that'?s|it'?s|i may|you don'?t mind)[^.!?]{0,20}))*\W*$",
    re.IGNORECASE,
)
"""What may leave only what was asked, …"""
TOLD_BEFORE = 4
"""… where so many words were told before it, …"""
WOULD_END = re.compile(
    r"\b(?:thank\w*|cheers|bye|goodbye|tired|weary|worn|time|questions?|interview|survey|chat|today|tonight|tea|dinner"
    r"|lunch|gotta|(?:got|have|need) to (?:go|get|run)|work|shift|call|done|finished|enough|energy|for good|signal"
    r"|bus|train|ride|taxi|lift|phone|battery|all in|can'?t (?:do|go|carry|take)|carry on|go on"
    r"|nothing more|no more|not back|pleasure|stop talking)\b",
    re.IGNORECASE,
)
"""… and none of these words says why somebody would end."""


class ActHearing:
    """Hears acts; by rules alone in other languages than the reader's.

    Args:
        network: the reader's.
        settings: its thresholds.
        message: judges what messages do as a whole; None to go by their clauses alone.
        talk: hears what clauses do besides telling; None to go by rules and the network alone.
        danger: finds danger in single sentences; None to go by the others.
        replies: hears what somebody means who was asked back; None to go by words.
        executor: where the network runs; None for the loop's default threads.
    """

    def __init__(
        self,
        network: ReaderNetwork,
        settings: ReaderSettings,
        message: MessageModel | None = None,
        talk: TalkModel | None = None,
        danger: DangerModel | None = None,
        replies: ReplyModel | None = None,
        *,
        executor: Executor | None = None,
    ) -> None:
        self._network = network
        self._replies = replies
        self._message = message
        self._talk = talk
        self._danger = danger
        self._executor = executor
        self._thresholds = {act: settings.acts.get(act, NEVER) for act in ACTS}

    async def read(self, text: str, question: str, language: str) -> tuple[HeardAct, ...]:
        """The acts of a message; as `acts_of`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.read_sync, text, question, language)

    async def reply(self, text: str, question: str, asked: AskedBack, language: str) -> HeardAct | None:
        """What somebody means who was asked back; as `ActReader.reply`."""
        model = self._replies
        if model is None or language.split("-")[0].lower() != LANGUAGE:
            return None
        loop = asyncio.get_running_loop()
        hears = (model, self._danger, self._network)
        return await loop.run_in_executor(self._executor, replied, *hears, text, question, asked)

    def read_sync(self, text: str, question: str, language: str) -> tuple[HeardAct, ...]:
        """As `read`, for callers that already are on a worker thread."""
        rules = rules_for(language)
        if rules is None or language.split("-")[0].lower() != LANGUAGE:
            return acts_of(text, question, language)
        if found_at_once := not_said(text, language):
            return found_at_once
        heard = _left_open(self._heard(text, question, rules), text)
        return self._whatever_was_asked(heard, text, question, rules)

    def _heard(self, text: str, question: str, rules: Rules) -> tuple[HeardAct, ...]:
        """The acts of a message that says something, in English."""
        clauses, by_rule = heard_clauses(text, question, rules)
        judged = [one is not None for one in by_rule]
        chances = clause_chances(self._network, text, question, clauses)
        story = len(text.split()) >= IN_A_STORY
        denied = _denied(text)
        goes_on = GOES_ON.search(text) is not None
        if goes_on:
            denied |= ENDS
            by_rule = [None if one and not one.sure and one.act in ENDS else one for one in by_rule]
        for named in BY_NAME.finditer(text):
            by_rule = [
                None if one and one.act in ENDS and named.start() <= one.start < named.end() else one for one in by_rule
            ]
        by_rule = [None if one and one.act in ENDS and _on_condition(text[: one.start]) else one for one in by_rule]
        if "minor" in denied:
            by_rule = [None if one and one.act == "minor" and not one.sure else one for one in by_rule]
        gone = denied & {"wants_withdrawal", "wants_pause"}
        by_rule = [None if one and one.act in gone else one for one in by_rule]
        by_rule = [
            None if one and (_is_reported(one, text) or denies_nothing(one, question)) else one for one in by_rule
        ]
        if SAID_AT_LAST.search(text):
            by_rule = [None if one and one.about in ("told", ENOUGH) else one for one in by_rule]
        enough = ENOUGH_OF_IT.search(text)
        if enough is not None and OF_ALL.search(text) is None:
            denied |= ENDS
            by_rule = [
                HeardAct(act="declines", start=clause.start, end=clause.end, sure=True)
                if (one and one.act in ENDS) or (clause.start < enough.end() <= clause.end and not one)
                else one
                for clause, one in zip(clauses, by_rule, strict=True)
            ]
        if _says_again(text, question):
            denied.add("complains")
        if NO_TEARS.search(text):
            denied.add("distress")
            by_rule = [None if one and one.act == "distress" else one for one in by_rule]
        found = [
            self._judged(clause, heard, own, text=text, story=story, denied=denied)
            for clause, heard, own in zip(clauses, by_rule, chances, strict=True)
        ]
        found = self._with_the_whole(clauses, found, chances, text=text, question=question, denied=denied)
        if question:
            found = _added(clauses, found, PUTS_RIGHT.search(text), "corrects")
        if len(sentences(question)) > 1:
            found = _added(clauses, found, CONTRADICTS.search(text), "corrects", about=DENIED)
        found = _added(clauses, found, NAMES_OUT.search(text), "asks_interviewer", about="names")
        kept_on = denied | (ENDS if goes_on or LIFE.search(text) else set())
        found = self._with_talk(found, Message(text, question, clauses, judged, kept_on), chances)
        said = (*asked_plainly(text), *said_outright(text, question), *of_the_study(text, question), *in_danger(text))
        found = with_outright(text, clauses, found, said)
        return joined(clauses, self._with_danger(clauses, found, text=text, question=question, denied=denied))

    def _whatever_was_asked(
        self, heard: tuple[HeardAct, ...], text: str, question: str, rules: Rules
    ) -> tuple[HeardAct, ...]:
        """What was heard; of a short answer to when something was, what the reader alone hears only where it is heard
        without that question as well: “This noon at the bakery” asks for no break.
        """
        doubted = {one.act for one in heard if one.heard_by == "reader" and one.act in OF_NO_TIME}
        if not doubted or len(text.split()) > SHORTLY_WHEN or ASKED_WHEN.search(question) is None:
            return heard
        own = {one.act for one in self._heard(text, "", rules)}
        kept = tuple(
            HeardAct(act="tells", start=one.start, end=one.end)
            if one.heard_by == "reader" and one.act in doubted - own
            else one
            for one in heard
        )
        return kept if any(one.act != "tells" for one in kept) else ()

    def _with_danger(
        self,
        clauses: Sequence[Clause],
        found: Sequence[HeardAct | None],
        *,
        text: str,
        question: str,
        denied: AbstractSet[Act],
    ) -> list[HeardAct | None]:
        """What was heard, with a danger that a sentence tells of, or hints at, and nothing else has heard; and without
        one that the reader alone heard, of which no sentence tells.
        """
        if self._danger is None:
            return list(found)
        odds, start, end = self._in_danger(text, question)
        found = [_confirmed(one, odds) for one in found]
        heard = any(one is not None and one.act == "risk" and one.about not in (FAINT, CONTROLLED) for one in found)
        if heard or "risk" in denied or is_everyday(text):
            return found
        faint = any(one is not None and one.about == FAINT for one in found)
        hinted = odds < IN_A_SENTENCE + BESIDE_FAINT * faint
        if hinted and (faint or odds < HINTED):
            return found
        about = FAINT if hinted else ""
        within = [at for at, clause in enumerate(clauses) if clause.start < end and start < clause.end]
        return [
            HeardAct(act="risk", start=clause.start, end=clause.end, sure=False, about=about, heard_by="reader")
            if at in within[-1:]
            else one
            for at, (clause, one) in enumerate(zip(clauses, found, strict=True))
        ]

    def _in_danger(self, text: str, question: str) -> tuple[float, int, int]:
        """The sentence that tells of danger most, and where it stands.

        Its log-odds are the mean of those among the others and by itself: what stands around may speak for danger that
        it does not. Words that only say when it was add no more than `OF_WHEN`.
        """
        odds, start, end = self._most(text, question)
        own = text[start:end].strip()
        if odds >= UNCONFIRMED and own and own != text.strip():
            odds = (odds + max(self._most(own, question)[0], LEAST_ODDS)) / 2
        return odds, start, end

    def _most(self, text: str, question: str) -> tuple[float, int, int]:
        assert self._danger is not None
        odds, start, end = self._danger.most(text, self._network.read(question, "", text))
        blank = without_when(text)
        if odds >= UNCONFIRMED and blank != text and blank.strip():
            odds = min(odds, self._danger.most(blank, self._network.read(question, "", blank))[0] + OF_WHEN)
        return odds, start, end

    def _with_talk(
        self, found: list[HeardAct | None], message: Message, chances: Sequence[Floats | None]
    ) -> list[HeardAct | None]:
        """What was heard, with what is done to the talk itself, where something was asked."""
        if self._talk is None or not message.question:
            return found
        reading = self._network.read(message.question, "", message.text)
        spans = [(clause.start, clause.end, clause.text) for clause in message.clauses]
        return with_talk(found, self._talk.chances(reading, message.question, spans, chances), message)

    def _with_the_whole(
        self,
        clauses: Sequence[Clause],
        found: list[HeardAct | None],
        chances: Sequence[Floats | None],
        *,
        text: str,
        question: str,
        denied: AbstractSet[Act],
    ) -> list[HeardAct | None]:
        """What was heard in the clauses, after what the message does as a whole."""
        if self._message is None:
            return found
        reading = self._network.read(question, "", text)
        found = [_clear(one, self._message, reading) for one in found]
        denied = denied | ENDS if LIFE.search(text) else denied
        for act, odds in self._message.log_odds(reading).items():
            if odds >= WHOLE[act] and act not in denied:
                found = _overheard(act, clauses, found, chances, story=len(text.split()) >= IN_A_STORY)
        return found

    def _judged(
        self,
        clause: Clause,
        heard: HeardAct | None,
        chances: Floats | None,
        *,
        text: str = "",
        story: bool = False,
        denied: AbstractSet[Act] = frozenset(),
    ) -> HeardAct | None:
        """What a clause is, after both.

        Args:
            clause: one of the message's.
            heard: what the rules hear in it.
            chances: what the reader makes of it; None where it read no word of it.
            text: the message.
            story: whether the message tells a story.
            denied: what the reader alone is not believed, for the message says otherwise.
        """
        if chances is None:
            return heard
        if heard is not None and _overruled(heard, chances, story=story) and not _is_to_us(heard, clause):
            return None
        if story and heard is not None and heard.act == "distress" and chances[ACTS.index("distress")] < UNSHARED:
            return None
        doubted = heard is not None and not heard.sure and heard.act in DOUBTED
        if heard is not None and doubted and chances[ACTS.index(heard.act)] < DENIES:
            heard = None
        if heard is not None:
            threshold = self._thresholds[heard.act]
            chance = float(chances[ACTS.index(heard.act)])
            if heard.act == "wants_pause":
                # Who turns to somebody at the door needs a moment for it.
                chance += float(chances[ACTS.index("aside")])
            agrees = chance >= threshold.agrees
            if heard.about == "plainly" and heard.sure:
                return heard
            if heard.about == "ambiguous":
                return heard.model_copy(update={"sure": False, "about": ""})
            if heard.act in BOTH:
                return heard.model_copy(update={"sure": agrees and (heard.sure or chance >= CONFIRMS)})
            doubted = heard.act == "risk" and chances[TELLS] >= DOUBTS_HARM and chance < UNSHARED
            doubted = doubted and len(text.split()) > PLAINLY
            return heard.model_copy(update={"sure": (heard.sure and not doubted) or agrees})
        return None if clause.filler else self._read(clause, chances, text=text, story=story, denied=denied)

    def _read(
        self, clause: Clause, chances: Floats, *, text: str, story: bool, denied: AbstractSet[Act]
    ) -> HeardAct | None:
        """What a clause is in which no rule hears anything, by the reader alone; arguments as for `_judged`."""
        short = len(clause.text.split()) <= FEW_WORDS
        for number in np.argsort(-chances, kind="stable"):
            act, chance = ACTS[int(number)], float(chances[number])
            if act == "tells":
                continue
            threshold = self._thresholds[act]
            least = max(threshold.alone, LEAST_ALONE.get(act, 0.0), LEAST_IN_A_STORY.get(act, 0.0) if story else 0.0)
            if chance < (max(least, CERTAIN) if short else least):
                continue
            if act in denied or (act in ENDS and LIFE.search(clause.text)):
                continue
            if act in ENDS and _on_condition(text[: clause.start]):
                continue
            if act == "asks_interviewer" and not ASKS.search(clause.text):
                continue
            if act in OF_REPORTS and REPORTS.search(text[: clause.start]):
                continue
            if act in ("wants_withdrawal", "declines") and BETWEEN_US.search(
                f"{clause.text} {text[: clause.start][-40:]}"
            ):
                continue
            if story and act in NAMED_IN_A_STORY and not NAMED_IN_A_STORY[act].search(clause.text):
                continue
            if act == "personal_data" and not SENT.search(clause.text):
                continue
            sure = chance >= threshold.sure and act not in ASKED_BACK
            about = about_of(clause.text) if act == "asks_interviewer" else ""
            return HeardAct(act=act, start=clause.start, end=clause.end, sure=sure, about=about, heard_by="reader")
        return None


def _added(
    clauses: Sequence[Clause],
    found: Sequence[HeardAct | None],
    said: re.Match[str] | None,
    act: Act,
    *,
    about: str = "",
) -> list[HeardAct | None]:
    """What was heard, with an act in the clause where words for it end, unless something is heard there or it is."""
    if said is None or any(one is not None and one.act == act for one in found):
        return list(found)
    return [
        HeardAct(act=act, start=clause.start, end=clause.end, about=about)
        if one is None and clause.start < said.end() <= clause.end
        else one
        for clause, one in zip(clauses, found, strict=True)
    ]


def _confirmed(heard: HeardAct | None, odds: float) -> HeardAct | None:
    """What was heard; a danger that the reader alone heard is faint, or none, where no sentence tells of it."""
    if heard is None or heard.act != "risk" or heard.heard_by != "reader" or heard.about == CONTROLLED:
        return heard
    if odds < (CONFIRMED_FAINTLY if heard.about == FAINT else UNCONFIRMED):
        return None
    return heard if odds >= CONFIRMED or heard.about == FAINT else heard.model_copy(update={"about": FAINT})


def _clear(heard: HeardAct | None, model: MessageModel, reading: Reading) -> HeardAct | None:
    """What was heard, unless the reader alone heard it and the words around hardly do it; a danger is faint then."""
    if heard is None or (heard.act != "risk" and (heard.heard_by != "reader" or heard.act not in LEAST_WHOLE)):
        return heard
    odds = model.log_odds(reading, heard.start, heard.end)[heard.act]
    if heard.act != "risk":
        return heard if odds >= LEAST_WHOLE[heard.act] else None
    if heard.about == SECRET:
        return heard.model_copy(update={"about": ""}) if odds >= SECRET_DANGER else None
    plainly = heard.heard_by == "rules" and heard.sure and len(reading.words) <= PLAINLY
    if plainly or odds >= (NO_DANGER if heard.heard_by == "rules" else CLEAR_DANGER):
        return heard
    return heard.model_copy(update={"sure": False, "about": FAINT})


def _overheard(
    act: Act,
    clauses: Sequence[Clause],
    found: Sequence[HeardAct | None],
    chances: Sequence[Floats | None],
    *,
    story: bool,
) -> list[HeardAct | None]:
    """What was heard, with an act that the message as a whole does, in the clause that does it most likely.

    Nothing is added where the act was heard, or where no clause that merely tells has words for it.
    """
    if any(one is not None and one.act == act and one.about != FAINT for one in found):
        return list(found)
    named = NAMED_IN_A_STORY.get(act) if story else None
    free = [
        at
        for at, (clause, one, own) in enumerate(zip(clauses, found, chances, strict=True))
        if (one is None or (one.act == act and one.about == FAINT))
        and own is not None
        and not clause.filler
        and (named is None or named.search(clause.text))
    ]
    if not free:
        return list(found)
    best = max(free, key=lambda at: _chance(chances[at], act))
    heard = HeardAct(act=act, start=clauses[best].start, end=clauses[best].end, sure=False, heard_by="reader")
    return [heard if at == best else one for at, one in enumerate(found)]


def _chance(chances: Floats | None, act: Act) -> float:
    return float(chances[ACTS.index(act)]) if chances is not None else 0.0


def _says_again(text: str, question: str) -> bool:
    """Whether a message says no more than what was said back before the question, and so complains of nothing.

    “You like the taste. Tell me a bit more about that.” “I like the taste.” Who complains adds a word for it.
    """
    said_back = [word for sentence in sentences(question)[:-1] for word in words(sentence)]
    own = [word for word in words(text) if word not in PERSONS]
    return len(own) > 1 and len([word for word in own if word not in said_back]) <= NEW_WORDS


def _on_condition(before: str) -> bool:
    """Whether what stands before a clause says when, or if, it would be so, and nothing of the interview."""
    condition = ON_CONDITION.search(before.rstrip())
    return condition is not None and OF_THE_TALK.search(condition["what"]) is None


def _denied(text: str) -> set[Act]:
    """The acts that words of a message show it not to be, whatever else it sounds like."""
    denied: set[Act] = {act for act, otherwise in SAID_OTHERWISE.items() if otherwise.search(text)}
    if HAD_NOT_MEANT_TO.search(text):
        denied.add("declines")
    if text.islower() and not YOUNG.search(text):
        denied.add("minor")
    if CONFIDES.search(text):
        denied.add("complains")
    if POSTPONES.search(text):
        denied.add("wants_pause")
    if HAS_ONE_MORE.search(text):
        denied |= {"wants_pause", "wants_stop"}
    if ECHOED.fullmatch(text):
        denied.add("asks_back")
    return denied


def _left_open(heard: tuple[HeardAct, ...], text: str) -> tuple[HeardAct, ...]:
    """The same; a wish to stop is one for a break with who asks to be waited for, and is asked back where only what was
    asked may be meant.

    “He never came back. I'll leave it at that for now.” says nothing of the interview.
    """
    if WAIT.search(text):  # “I have to go. Can you wait?”
        pause = {"act": "wants_pause", "sure": True}
        return tuple(one.model_copy(update=pause) if one.act == "wants_stop" else one for one in heard)
    leaves = LEAVES_IT.search(text)
    if any(one.act in ("distress", "risk") for one in heard):
        return heard
    if leaves is None or len(text[: leaves.start()].split()) < TOLD_BEFORE or WOULD_END.search(text):
        return heard
    return tuple(one.model_copy(update={"sure": False}) if one.act == "wants_stop" else one for one in heard)


def _is_reported(heard: HeardAct, text: str) -> bool:
    """Whether what the rules hear are words that somebody said, or could have said, in what is told."""
    return heard.act in OF_REPORTS and REPORTS.search(text[: heard.start]) is not None


def _is_to_us(heard: HeardAct, clause: Clause) -> bool:
    """Whether a wish to go on, or a complaint that something was said before, can only be meant for the interviewer."""
    if heard.about == ENOUGH and len(clause.text.split()) <= CLOSER:
        return True
    return heard.about in ("next", "asked") or (
        heard.about in ("told", "going_on", "beside", ENOUGH) and TO_US.search(clause.text) is not None
    )


def _overruled(heard: HeardAct, chances: Floats, *, story: bool) -> bool:
    """Whether the reader is so certain that a clause only tells that a rule which hears more is wrong."""
    tells, own = float(chances[TELLS]), float(chances[ACTS.index(heard.act)])
    if not heard.sure:
        return tells >= OVERRULES
    if heard.act in BOTH:
        return False
    least, most = OVERRULES, NEXT_TO_NOTHING
    if heard.act in ("risk", "distress"):
        least, most = HARM_IN_A_STORY if story else CERTAIN_OF_HARM
    return tells >= least and own < most


def clause_chances(network: ReaderNetwork, text: str, question: str, clauses: Sequence[Clause]) -> list[Floats | None]:
    """For each clause the mean probability of each act over its words, in the order of `ACTS`; None without words."""
    reading = network.read(question, "", text)
    if not reading.words:
        return [None] * len(clauses)
    words = heads.act_chances(network, reading)
    starts = np.asarray([word.start for word in reading.words])
    found: list[Floats | None] = []
    for clause in clauses:
        own = words[(starts >= clause.start) & (starts < clause.end)]
        found.append(own.mean(axis=0) if len(own) else None)
    return found
