"""Hears what somebody says plainly of not wanting to live, of harming themselves and of being hurt, whatever was asked,
and whatever stands around it (English).

Rules and reader weigh a message as a whole, and what was asked before it; what is said plainly can't be weighed away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pipeline.acts import CONTROLLED, Act
from pipeline.language.acts.outright import Said

_GONE = r"(?:gone|dead|not (?:here|around|there|alive)|out of the way)"
_NOT_HERE = (
    r"(?:was|were) ?(?:n't|nt| not| no longer)(?: even)? (?:here|around|alive|born|there)(?: any ?more| at all)?"
)
_SOMEBODY = (
    r"(?:he|she|they|my (?:husband|wife|partner|boyfriend|girlfriend|dad|father|mum|mam|mother|step\w+|son"
    r"|daughter|brother|sister|uncle|ex)"
    r"|(?:the|his|her) (?:father|boyfriend|husband))(?: also| just| always| often| sometimes| still| even| has"
    r"| had|'s)*"
)
_DYING: Sequence[str] = (
    r"\bi (?:really |just |honestly |sometimes |often )*(?:don't|do not|dont|didn't) (?:really |even )?want to"
    r" (?:live|be alive|exist|wake up|go on living|carry on living|be (?:here|around|in this world) (?:any ?more"
    r"|any longer))\b"
    r"(?! (?:with|in|there|alone|like|near|at|on|for|under|to)\b)",
    r"\bdon'?t (?:plan|want|expect|intend) to (?:still )?be (?:alive|living)\b",
    rf"\bbetter (?:off )?if i (?:just |simply |really )?(?:{_NOT_HERE}|(?:was|were|'m|am) (?:just )?{_GONE})",
    r"\b(?:everyone|everybody|they|they all|the kids|my (?:\w+ )?\w+|you all|people|he|she)(?:'d| would| will|'ll"
    r"| might)? (?:all )?"
    r"be(?: all| so much| much| far| just)* better off without me\b",
    rf"\b(?:nobody|no one|no-one|who) (?:would|'d|will|'ll)(?: even| ever| really)* (?:notice|miss me|care)"
    rf" if i (?:was|were|am|'m|just|died|disappeared|went|did)(?: just)?(?: {_GONE})?\b"
    r"(?! (?:late|ill|off|away|on|in|there for|out for|to leave (?:the|early)))",
    r"\b(?:nobody|no one|no-one)(?: would|'d| will|'ll)(?: even| ever| really)* miss me\b(?! (?:for|at|in|on"
    r"|if i left)\b)",
    r"\bi(?:'m| am| was|'ve been| have been)?(?: always| often| still| just| keep)* (?:think|thinking"
    r"|thought)(?: \w+){0,2} (?:about|of|on)"
    r" (?:jumping(?=\W*$|[.,;!]| off\b| in front\b| under\b| from\b)|ending it all\b|ending my life"
    r"|killing myself|suicide|not waking up"
    r"|dying(?=\W*$|[.,;!])|throwing myself (?:off|under|in front)|walking into the (?:sea|river|water|traffic)"
    r"|stepping (?:off|out) in front|driving (?:off the|into a (?:tree|wall))|how (?:i|to) (?:could |would "
    r"|might |can )?(?:do it|end it|kill))",
    r"\b(?:don't|do not|dont) want to wake up(?: in the mornings?)?(?: any ?more| at all)\b",
    r"\b(?:think|thinking) (?:about|of) (?:ending it(?=\W*$|[.,;!])|(?:stepping|jumping|walking"
    r"|going) (?:out )?in front of)",
    r"\bi(?:'ll| will|'m| wo|ll)? ?(?:not|n'?t)(?: going to)? be (?:here|around|there)(?: \w+){0,3} (?:anyway"
    r"|long enough|any ?more|i(?:'ve| have) decided)\b",
    r"\b(?:have|having|had|get|getting|got)(?: \w+){0,3} (?:suicidal (?:thoughts|ideas|feelings)|thoughts (?:of"
    r"|about) (?:not (?:wanting to )?(?:be|being|live|living)"
    r"|suicide|killing myself|ending (?:it|my)|dying|death))\b|\bi(?:'m| am| feel) suicidal\b",
    r"\b(?:don't|do not|dont) (?:see|know) why i should (?:keep|go on|carry on|still|even) ?(?:living|live"
    r"|be alive|exist)\b",
    r"\bthink about (?:jumping(?=\W*$|[.,;!])|not waking up)",
    r"\bi (?:really |just |often |sometimes )*(?:can't|cannot|don't|do not|dont|cant) see (?:the|any|much"
    r"|a) (?:point|reason|sense)"
    r"(?: (?:of|in|to|for|with))*(?: (?:me|my))? (?:carrying on|carry on|going on|go on|living|live|life"
    r"|being here|be here|being alive|waking up"
    r"|it all any ?more)\b(?! (?:with|about|like|at|in)\b)",
    r"\b(?:see|have|has|there(?:'s| is)) no (?:reason|point|sense)(?: (?:in|to|for me|for"
    r"|any ?more))*(?: [^.!?]{0,20})? "
    r"(?:to live|living|to be (?:here|alive|around)|be here any ?more|being (?:here|alive)|to go on living"
    r"|to carry on living)\b",
    r"\b(?:my )?life (?:has|makes|is) (?:no|without) (?:sense|point|meaning|more sense)(?: any ?more| for me)*\b"
    r"|\bno point (?:in|to) (?:my )?life\b",
    r"\bi (?:just |really )*(?:want|wish|need) (?:it|everything|this|all of it|all this"
    r"|my life)(?: all)? (?:to (?:stop|end|be over)|would (?:stop|end))"
    r"\W{1,3}(?:for ever|forever|for good|me too|too)\b",
    r"\b(?:waiting|want|wish) for it to be over\b[^.!?]{0,12}\bmy life\b",
    r"\b(?:so |just |really |that )?tired of (?:being alive|living|(?:my |this )?life)\b(?! (?:in|with|at|out|on"
    r"|off|here|there|like|under|alone|next|as)\b)",
    r"\bi (?:wish|hope|pray)(?:ed)? i(?:'d| would| could| had| do|'ll)?(?: just| only)? ?(?:not|never|didn't"
    r"|don't|wouldn't|won't)"
    r"(?: have)? (?:wake up|woken up|wake up again|been born|be here any ?more)\b",
    r"\bi wish i (?:was|were)(?:n't| not) (?:alive|born|here any ?more|around any ?more)\b|\bi wish i (?:was"
    r"|were) (?:dead|never born)\b",
    r"\bi (?:just |only )?(?:want|wanted|'d like|would like) to (?:go to sleep|fall asleep)(?: and| to)? (?:not"
    r"|never) (?:to )?wake up\b",
    r"\bi(?:'ll| will)? ?(?:just |really |only |also |do |still )*(?:want|wanna|'d like|would like|hope|am going"
    r"|'m going|am gonna|'m gonna|am planning"
    r"|'m planning|am ready|tried|have tried|plan|might|could|try|have decided|decided)(?: to)? "
    r"(?:die|end my (?:own )?life|kill my ?self|be dead|take my (?:own )?life|end it all|do myself in)\b(?! (?:of"
    r"|laughing|for|with laughter|from embarrassment))",
    r"\bim (?:going to|gonna|planning to|about to|ready to) (?:kill my ?self|end it all|end my life"
    r"|take my (?:own )?life)\b",
    r"\b(?:don'?t|do not|no longer) care (?:if|whether) i (?:live|am alive|'m alive|wake up|die)\b",
    r"\bi (?:can't|cannot|can not|cant|don't want to|do not want to) (?:go on|carry on|keep on) living\b",
    r"\b(?:soon|by (?:tomorrow|tonight|then|monday|the weekend|next week|sunday)|tomorrow) (?:i will|i'll"
    r"|ill) be (?:gone|dead|out of (?:it|here for good))\b"
    r"|\bi(?:'ll| will) be (?:gone|dead) (?:anyway|soon|by (?:then|tomorrow|tonight)|tomorrow)\b(?! (?:to|for"
    r"|from|on|at)\b)",
    r"\b(?:won'?t|wont|will not|don'?t) (?:need|be needing) (?:them|it|any of it|anything"
    r"|my things)(?: any ?more)? (?:soon|where i'?m going)\b"
    r"|\bgiv(?:e|ing) (?:all )?my (?:things|stuff|clothes|books|records) away\b(?=.{0,60}\b(?:won'?t|wont"
    r"|will not|soon|any ?more)\b)",
    r"\bwhen (?:he|she|the dog|the cat|mum|my mum|mother) (?:is|has|'s) (?:gone|died|dead)[^.!?]{0,12} i(?:'m| am"
    r"|'ll| will)(?: be)? (?:going|go|gone|follow)(?: too| with)?\b",
    r"\bgo (?:to )?where (?:he|she|my (?:wife|husband|son|daughter|mum|dad)) is\b(?=.{0,5}$|[.,;!])",
    r"\bif i (?:just )?(?:jump|jumped|would jump|step|stepped|fell|let go)(?: off| from| out of| in front of"
    r"| under) (?:the|a|this) "
    r"(?:bridge|roof|balcony|window|train|bus|platform|cliff|car|lorry|tram|kerb)\b",
    r"\bsoon (?:nobody|no one|you) (?:has|have|will have|won't have|needs?)(?: to)? (?:to )?(?:worry|bother|look"
    r"|care)\b.{0,20}\babout me\b",
    r"\b(?:last thing|last words?) i(?:'ll| will)?(?: ever)? (?:write|say|do|type)\b(?= (?:to anyone|to anybody"
    r"|to you all|in my life|ever|here on earth))",
    r"\b(?:written|wrote|writing|write) (?:the |my |a |all the )?(?:goodbye|good-bye|farewell|suicide"
    r"|last) (?:letters?|notes?)\b",
    r"\bi(?:'ve| have)? (?:already )?(?:written|wrote) (?:the|my|a) (?:letters?|notes?) (?:to|for) my"
    r" (?:family|kids|children|wife|husband|parents|mum|mother|son|daughter|daughters|sons)\b"
    r"(?=.{0,60}\b(?:gone|find it|goodbye|after|when i'm)\b|\W*$)",
    r"\bi(?:'ve| have)(?: got)? (?:the |enough |my |all the |his |her )?(?:tablets|pills|rope"
    r"|sleeping pills)(?: \w+){0,2} (?:already|ready|saved|saved up|hidden|put by|for it)\b",
    r"\b(?:drive|steer|crash|ride)(?: the| my| this)? (?:\w+ )?(?:in)?to (?:the|a) (?:bridge|wall|tree|river"
    r"|pillar|lake)\b(?=.{0,30}\b(?:done|over|end|finish|all)\b)",
    r"\bi (?:would|'d|wud) (?:have|of|'ve) killed my ?self\b|\b(?:end|finish|quit) my (?:own )?life\b",
    r"\b(?:planned|thought|worked out|think|thinking|know|decided)(?: about)? how (?:i would|i'd|to|i could"
    r"|i will) (?:end it|do it(?=\W*$|[.,;!])|kill my ?self|finish it)",
    r"\b(?:don't|dont|do not) want to go on(?: with (?:anything|it|life|living|my life))?\b(?=.{0,20}\blife\b)",
    r"\b(?:not|n'?t) plan(?:ning)?(?: on| to)? be(?:ing)? (?:here|around|alive) (?:by|at|for|next|any ?more|when)\b",
    r"\bkeep thinking (?:of|about) the (?:river|bridge|pills|tablets|rope|roof|railway|tracks|water|sea|cliff"
    r"|knife|razor)\b",
    r"\bwant it(?: all)? to (?:stop|end)\b[^.!?]{0,10}[.!?,]? *not the (?:interview|questions|chat|talk)",
)
_HARMS: Sequence[str] = (
    r"\bi(?:'ve| have| had)?(?: been| just| always| sometimes| often| also| still| then| have| started| start"
    r"| keep| began| want| wanted)* (?:to )?"
    r"(?:cut(?= my ?self\b.{0,60}\b(?:again|always|sometimes|often|afterwards?|when (?:i|it)|because|to feel"
    r"|did it|on (?:my|the) (?:arms?|wrists?|legs?|thighs?)|ashamed|every)\b)"
    r"|cutting|burn|burning|burnt|hurt|hurting|hit|hitting|harm|harming|scratch|scratching|starve|starving|bite"
    r"|biting) my ?self\b"
    r"(?! (?:shaving|while|when (?:i was )?(?:cooking|cutting|chopping|shaving|peeling)|(?:with|on) (?:the|a|that"
    r"|an?) "
    r"(?:knife|tin|can|glass|paper|edge|lid|peeler|tool|blade of|saw|screwdriver|oven|pan|kettle|stove|pot|iron"
    r"|steam|corner|door|machine|bread)|at work"
    r"|in the (?:kitchen|garden|gym)|by accident|badly on|off\b|short|a (?:slice|piece|bit)|some|some slack|out\b"
    r"|loose))",
    r"\b(?:start(?:ed|ing)?|began|been|back to|stopped myself from) (?:cutting|self[- ]?harm(?:ing)?"
    r"|with self[- ]?harm)(?: again| myself)?\b(?! (?:down|out|back|the|corners|costs|hair|off|vegetables|meat"
    r"|carbs|sugar|wood))",
    r"\b(?:cuts|cut marks|burns|scars) (?:on|all over|up|down) my (?:arms?|legs?|wrists?|thighs?|stomach"
    r"|belly)\b(?=.{0,60}\b(?:new|fresh|again|hide|sleeves|myself|sees?|done)\b|.{0,3}$)",
    r"\bscratch(?:ed|ing)? my (?:\w+) (?:until|till) (?:they|it) (?:bleeds?|bled)\b|\b(?:hit|bang|banged|hitting"
    r"|banging) my head (?:on|against) the wall\b"
    r"(?=.{0,40}\b(?:till|until|hurts?|bleeds?|again|calm)\b)",
    r"\b(?:and|then|to|but) (?:i )?(?:hurt|cut|burn|scratch|hit|punish) my ?self\b(?=.{0,40}\b(?:always|again"
    r"|like i|when it|for it|every time|with a (?:knife|blade|razor)|my (?:mum|mother|dad) doesn)\b)",
    r"\bi (?:burn|cut|hurt|scratch|hit) my ?self(?=\W*$|[.,;!]| (?:sometimes|often|again|when|every|a lot|because"
    r"|at night|so)\b)",
    r"\bself[- ]harm(?:ing|ed)? again\b|\bi (?:do )?self[- ]?harm\b",
    r"\bi (?:still |always |sometimes |just )*(?:cut|burn|slice|slash) my (?:arms?|legs?|wrists?|thighs?"
    r"|skin)\b(?! (?:on|with) (?:a|the|that) (?:tin|can|glass|oven|pan|kettle))",
    r"\b(?:hide|hiding|cover|covering) (?:up )?(?:the|my) (?:cuts|scars|burns|bruises)\b",
    r"\b(?:hit|bang|banged|hitting|banging) my head (?:on|against) the wall\b(?=.{0,60}\b(?:most|every|often"
    r"|always|stop\w*)\b)",
    r"\bmy (?:arm|leg|wrist)s? (?:is|are) bleeding\b(?=.{0,30}\bi did it\b)",
)
_HURT: Sequence[str] = (
    rf"\b{_SOMEBODY} (?:hits|beats|slaps|kicks|punches|strangles|chokes|(?:pushes|shoves)(?= me and \w+s? me)"
    rf"|(?:will|'ll|is going to) (?:beat|hit|hurt|strangle)|(?:slapped|kicked|punched|strangled|choked|hit"
    rf"|beat)(?= me\b"
    r"(?:.{0,60}\b(?:again|often|always|every|drunk|does it|did it|last (?:night|week|month)|yesterday|today"
    r"|tonight|this (?:week|morning)"
    r"|in the (?:face|stomach|head)|keeps|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|stop)\b)))"
    r" me\b(?! (?:from behind|with (?:his|her|the|a) (?:car|van|bike|ball|bill|door|trolley|question|idea|price"
    r"|fee|text)|by accident|out|off|up for|to it|at\\b"
    r"|home|a (?:look|ball|party)|like a|for (?:money|a lift|cash)|\d|back (?:a )?(?:text|message)|in (?:the race"
    r"|chess|tennis|a race)))",
    rf"\b{_SOMEBODY} (?:gets?|is|was|turns?|became|becomes|got)(?: \w+)? violent\b",
    rf"\b{_SOMEBODY} (?:threatens?|threatened|says?|said|wants|swears?|promised)(?: to| that| he'?ll| she'?ll"
    rf"| he will| she will| he would| me)* (?:to )?(?:kill|hurt|beat|stab|hit|find|shoot|burn) (?:me|us"
    rf"|the (?:kids|children)|my (?:kids|children|mum|mother|family|son|daughter))\b",
    r"\b(?:took|takes|taken|has|keeps|kept|hid|hides) my (?:passport|papers|id|bank card|documents)\b",
    r"\b(?:i'?m|i am|am) not allowed (?:to leave|out of|to go out|outside|to see (?:my|any)|to (?:call|phone"
    r"|ring) (?:my|any))\b",
    rf"\b{_SOMEBODY} (?:threatens?|threatened|attacks?|attacked) me(?: with)?\b",
    rf"\b{_SOMEBODY} (?:throws?|threw) (?:\w+ ){{1,3}}(?:at|over) me\b(?=.{{0,60}}\b(?:hurts?|scared|again"
    rf"|this morning|yesterday|tonight|drunk|often)\b)",
    r"\bi (?:get|got) (?:hit|beaten|slapped|punched|kicked)\b(?=.{0,40}\b(?:if|when|again|every|at home|by (?:him"
    r"|my))\b)|\b(?:if|when) [^.!?]{0,40} i get (?:hit|beaten|slapped)\b",
    r"\b(?:i'?m|i am|am|we are|^|[.!?] *)locked in (?:the|my|a|our) (?:bedroom|room|house|flat|bathroom|cellar"
    r"|basement)\b",
    rf"\b{_SOMEBODY} (?:locks?|locked|keeps? locking) (?:me|us) (?:in|up|out|inside)\b",
    rf"\b{_SOMEBODY} (?:won'?t|doesn'?t|does not|will not|never) lets? me (?:out|go out|leave|leave the house"
    rf"|see (?:my|any)\w*|have (?:my|a) phone)\b",
    r"\bhe (?:hits?|slaps|slapped|punched|kicked|beats?|choked"
    r"|strangled) me\b[^.!?]{0,60}[.!?] *(?:and )?he still does\b",
    r"\b(?:i'?m|i am|im|i (?:do )?(?:get|feel))(?! not| never)(?: a (?:bit|little))?(?: (?!not|never)\w+){0,3}"
    r" (?:afraid|scared|frightened|terrified) (?:of (?:(?:him|her)(?=\W*$|[.,;!?]| (?:and|but|if|when|coming|to be"
    r"|tonight|now|at|this|because|since|still|all)\b)|my (?:husband|wife|dad|father|mum|mother|partner|boyfriend"
    r"|girlfriend|fella|stepdad|son|grandson|ex|brother|uncle|carer|landlord)(?=\W*$|[.,;!?]|"
    r" (?:and|but|if|when|because|since|he|she)\b))"
    r"|(?:that )?(?:he|she)(?:'ll| will| is going to|'s going to| might) (?:(?:kill|hurt|hit|find|beat)\b"
    r"|(?:read|see) (?:this|it|what i)\b))",
    r"\b(?:boyfriend|husband|dad|father|stepdad|partner|he)\b[^.!?]{0,50}\b(?:and )(?:hit|slapped|punched|kicked"
    r"|choked|beat) me\b(?=.{0,60}\b(?:again|every|often|always|does it|next room|now|still)\b)",
    r"\bhe (?:hit|slapped|punched|kicked|choked|beat) me\b(?=.{0,40}\b(?:next room|he is here|still here"
    r"|downstairs|upstairs)\b)|\bpunched me\b(?=.{0,30}\bnext room\b)",
    rf"\b{_SOMEBODY} (?:put|puts|held|holds|pulled|pulls) (?:a|the|his|her) (?:\w+ )?knife (?:to|at|against|on)"
    r" (?:me|my (?:throat|neck|face|chest|back))\b",
    rf"\b{_SOMEBODY} (?:grab(?:s|bed)|squeezed?s?) (?:me by the|my) (?:neck|throat)\b"
    r"(?=.{0,40}\b(?:mad|angry|drunk|again|when|if|every|often|always)\b)",
    r"\b(?:i'?m|i am) not safe(?: here| at home| with (?:him|them|her)| tonight| any ?more)\b",
)
_WHO = (
    r"(?:he|she|my (?:husband|wife|partner|boyfriend|girlfriend|fella|dad|father|mum|mother|son|grandson|brother|ex))"
)
_CONTROLLED: Sequence[re.Pattern[str]] = tuple(
    re.compile(one, re.IGNORECASE)
    for one in (
        rf"\b{_WHO}(?:'s got| has got| has)?(?: always| still| also| even| then| just)* (?:goes|looks|checks|reads)"
        r" (?:through )?my (?:phone|messages|texts|emails?)\b(?! (?:out|to|aloud)\b)",
        rf"\b{_WHO} goes through this phone\b",
        r"(?<!so )\b(?:he|she|it) [^.!?]{0,40}\bso (?:he|she) (?:can see|knows|can know|can check|sees) where i am\b",
        rf"\b{_WHO} tracks (?:me|my phone|where i)\b",
        r"\bmy (?:wages?|pay|salary|pension|benefits?)(?: all)? (?:goes|go|is|are|goes straight|go straight)"
        r" (?:in)?to (?:his|her) (?:account|pocket)\b",
        rf"\b{_WHO} (?:keeps|holds|takes|took|has got|'s got|has) (?:all )?my (?:bank card|card and my|pin|wages"
        r"|pension(?! book)|passport|benefits)\b",
        r"\b(?:the|my) card is with my (?:husband|wife|partner|boyfriend|son|daughter|father)\b",
        r"\bi (?:was|am|'m) (?:\w+ )?(?:afraid|scared|frightened) to (?:ask|say no to|ring|phone)"
        r" (?:him|her|my (?:husband|wife|partner|boyfriend|father|dad|son))\b(?! (?:how|what|why|where|when|out|for a"
        r"|if)\b)",
        rf"\b{_WHO} (?:doesn'?t|does not|won'?t) (?:like|let|allow) me (?:to )?(?:go out|see (?:my|any)|talk to"
        r"|use the phone|ring|phone|meet|leave)\w*\b",
        r"\b(?:husband|partner|boyfriend|wife|he|she) looks (?:after|at|up) who i (?:called|call|ring|rang|phone)"
        r"(?! my)\b",
    )
)
"""What somebody tells of who lives under somebody else's thumb, and does not call danger. One such thing may be none of
it, and only alerts; where danger was heard before, it is asked about."""
_PLAINLY: Sequence[re.Pattern[str]] = tuple(re.compile(one, re.IGNORECASE) for one in (*_DYING, *_HARMS, *_HURT))
_NO_DANGER = re.compile(
    r"\b(?:years? ago|months ago|back then|at the time|in those days|used to|when i was (?:a|young|little|in|at"
    r"|\d+|\w+teen)"
    r"|i'?m (?:fine|ok|okay|better|past (?:it|that)) now|not any ?more|those days are|in recovery|kidding|joking"
    r"|of laughing"
    r"|embarrass\w*|the (?:film|book|song|game|novel|play|show|character|series)|my character|in (?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_FEARED = re.compile(r"\b(?:thought|thinking|felt like|feel like|thinks)(?: that)?\W*(?:i'?m |i was )?$", re.IGNORECASE)
"""What stands before what somebody only feared: “I thought I'm going to die.”"""
_OTHERS = re.compile(
    r"(?:\b(?:he|she|they|who|one|people|patients?|clients?|callers?|my \w+)(?: \w+)? (?:said|says|say|told (?:me"
    r"|us)|tells?(?: me| us)?|wrote|writes|goes|was like)"
    r"(?: that)?|[\"“])[\s,:\"'“]*$",
    re.IGNORECASE,
)
"""What stands before somebody else's words."""
INSTEAD: frozenset[Act] = frozenset(
    {"corrects", "complains", "asks_back", "declines", "wants_topic", "dont_know", "distress", "aside", "thanks_greets"}
)
"""What such a message does not do besides."""
_SUPPOSED = re.compile(r"\b(?:if i had to|if you (?:asked|made) me|unless|imagine)\b", re.IGNORECASE)
BEFORE: Final = 120
"""Characters before such words in which it stands that somebody else said them, or that they were only feared."""

_EVERYDAY = re.compile(
    r"\W*(?:(?:so|and|then|that|because|well|yeah|yes|it means|it lets me|so that|which means|also),? )*(?:"
    r"(?:i|we) (?:just|only) want(?:ed)? it to be (?:quick|fast|easy|simple|cheap|done quickly)"
    r")\W*",
    re.IGNORECASE,
)
"""An everyday wish, which is like what some say who do not want to live."""


def is_everyday(text: str) -> bool:
    """Whether a message says nothing but an everyday wish: “So I just want it to be quick.”"""
    return _EVERYDAY.fullmatch(text.replace("’", "'")) is not None


def in_danger(text: str) -> tuple[Said, ...]:
    """What says plainly that somebody does not want to live, harms themselves, or is hurt; none where it is over."""
    plain = text.replace("’", "'")
    if len(plain) != len(text) or _NO_DANGER.search(plain):
        return ()
    supposed = _SUPPOSED.search(plain)
    until = len(plain) if supposed is None else supposed.start()
    for pattern in _PLAINLY:
        for found in pattern.finditer(plain):
            if found.start() > until:
                break
            before = plain[max(found.start() - BEFORE, 0) : found.start()]
            feared = "die" in found[0] and _FEARED.search(before)
            if not feared and not _OTHERS.search(before):
                return (Said("risk", found.start(), found.end(), instead=INSTEAD),)
    for pattern in _CONTROLLED:
        controlled = pattern.search(plain)
        if controlled is not None and not _OTHERS.search(
            plain[max(controlled.start() - BEFORE, 0) : controlled.start()]
        ):
            return (Said("risk", controlled.start(), controlled.end(), sure=False, about=CONTROLLED, by="reader"),)
    return ()
