"""Word lists and patterns of the checker, per language.

Every pattern is meant for text that went through `normalise`: case-folded (ß is ss), straight apostrophes, quoted
stretches replaced by `«q»`. A language without a table is checked by the rules that need none, and by CLOSED_GENERIC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

QUOTED = "«q»"

QUOTES = re.compile(r"[\"“„”»][^\"“”„»«]{1,200}[\"“”«»]|«[^«»]{1,200}»|(?<!\w)[‘‚'][^‘’‚'\n]{2,200}[’‘'](?!\w)")


def normalise(text: str) -> str:
    """Case-folded, straight apostrophes, white space collapsed, quoted stretches replaced by `«q»`."""
    unquoted = QUOTES.sub(QUOTED, text)
    return " ".join(unquoted.replace("’", "'").casefold().split())


@dataclass(frozen=True, eq=False)
class LanguageTable:
    """What the checker knows of one language.

    `lead_ins` may stand before a question and are stripped, repeatedly. `interrogatives` are the question words,
    `auxiliaries` the verb forms with which a closed question begins; `polite` are requests that are closed in form
    and open in fact; `requests` are imperatives that invite a story. `closed` are forms of closed questions, `double`
    those of two questions in one, save what `double_spared` matches. `leading` suggests an answer, whatever was said
    before; `leading_words` suggest one unless the respondent used them. `machinery` are words of our own workings, save
    what `machinery_spared` matches. `probes` are short questions without a question word.

    Patterns of `leading` and `double` are joined and searched together, so that they have no groups with names and no
    references back; one that ends in `$` counts only once the question is complete.
    """

    lead_ins: re.Pattern[str]
    interrogatives: re.Pattern[str]
    auxiliaries: re.Pattern[str]
    polite: re.Pattern[str]
    requests: re.Pattern[str]
    closed: tuple[re.Pattern[str], ...]
    leading: tuple[re.Pattern[str], ...]
    leading_words: re.Pattern[str] | None
    double: tuple[re.Pattern[str], ...]
    double_spared: re.Pattern[str]
    machinery: re.Pattern[str]
    machinery_spared: re.Pattern[str]
    probes: re.Pattern[str] | None = None


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def _any(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)


_SUBJECT = (
    r"(?:you|it|that|this|these|those|they|he|she|we|i|the|your|there|people|someone|anyone|"
    r"anything|everything)"
)
_AUX = (
    r"(?:do|does|did|is|are|am|was|were|has|have|had|can|could|will|would|should|shall|may|might|must|"
    r"don't|doesn't|didn't|isn't|aren't|wasn't|weren't|hasn't|haven't|hadn't|can't|couldn't|won't|wouldn't|"
    r"shouldn't)"
)
_WH = r"(?:what|why|how|which|who|whom|whose|where|whereabouts|when)"
_FINITE = (
    rf"{_AUX}|liked?|loved?|hated?|wanted|wants?|needed|needs?|felt|feels?|thought|thinks?|knew|knows?|made|"
    rf"makes?|got|gets?|"
    r"went|goes|said|says|told|tells?|worked|works?|helped|helps?|mattered|matters?|seemed|seems?|came|comes|"
    r"gave|gives?|"
    r"took|takes?|became|becomes?|meant|means|bothered|bothers?|hurts?|agreed|agrees?|noticed|notices?|you|it|"
    r"he|she|they|i|we"
)
_NEGATED = (
    r"(?:don't|doesn't|didn't|isn't|aren't|wasn't|weren't|won't|wouldn't|couldn't|shouldn't|"
    r"can't|haven't|hasn't|hadn't)"
)

ENGLISH = LanguageTable(
    probes=re.compile(
        r"(?:and |but |so )?(?:then|after that|such as|for example|like|because|meaning|since|else)\?$|(?:and|"
        r"but|so)\?$"
        r"|(?:and )?the (?:others?|rest)\?$"
        # “And the second week?”, “And with the pen?”, “But if it broke?”: a fragment that the moment completes.
        r"|(?:and|but) (?:just |only |maybe |now |then )?,? ?(?:if|when|with|without|besides|at|in|on|after|"
        r"before|for|"
        r"since|"
        r"until|during|by|from|to)\b(?![^?]*,[^?]*\b(?:you|he|she|they|it|that|this)\b[^?]*\?)[^?]{1,60}\?$"
        r"|(?:and|but) (?:yours|his|hers|theirs|now|today|afterwards|later|before|inside|at home|"
        r"now,? after [^?,]{1,50})\?$"
        rf"|(?:and|but) (?:the|a|an|your|his|her|their|this|that|those|these|my|other|another|any)"
        rf"(?: (?!(?:{_FINITE})\b)[\w'-]+){{1,5}}\?$"
    ),
    lead_ins=re.compile(
        r"(?:and|so|well|ok|okay|right|now|then|but|also|thanks|thank you|i see|got it|sure|alright|"
        r"all right|"
        r"great|interesting|just|finally|first|lastly|out of curiosity|if you don't mind|if i may|to start|"
        r"before we finish|in that case|in your own words|put differently|put another way|more simply|"
        r"let me put (?:that|it) differently|in other words|no problem|no worries|that's fine)"
        r"(?:\s*[,.:;–—-]+\s*|\s+)"
        r"|(?:when|while|if|after|before|once|whenever|because|since|although|thinking|looking|coming|"
        r"going|turning|"
        r"returning|moving|stepping|in|at|on|from|for|with|of|as|considering|given|beyond|besides|apart|"
        r"among|during|"
        r"earlier|compared|staying|picking|leaving|setting|taking|putting|about|regarding|"
        r"something|speaking|talking)\b[^?,:;–—]*(?:,|:|;|\s[–—-]\s|–|—)\s*"
        r"|(?:you|earlier you|a moment ago you|before that you) (?:said|mentioned|told|talked|spoke|"
        r"brought|described)"
        r"[^?,:;–—]*(?:,|:|;|\s[–—-]\s|–|—)\s*(?=" + _WH + r"|" + _AUX + r")"
    ),
    interrogatives=re.compile(rf"\b{_WH}(?:'s|'re|'d|'ll)?\b"),
    auxiliaries=re.compile(rf"{_AUX}\b"),
    polite=re.compile(
        r"(?:can|could|would|will|might|may) (?:you|i|we)(?: please| perhaps| maybe| just| kindly)*"
        r"(?: be willing to| like to| care to| try to)?(?: ask(?: you)? to| invite you to)?"
        r" (?:tell (?:me|us)|describe|walk (?:me|us)|talk (?:me|us)|take (?:me|us)|explain|"
        r"say (?:a (?:bit|little) )?more|"
        r"say something|share|give (?:me|us) (?:an?|some|another) (?:\w+ )?(?:example|idea|sense|"
        r"picture)|help (?:me|us) understand|"
        r"paint|put (?:that|it|this) (?:in|into)|think (?:of|back)|expand|elaborate|go into|bring (?:me|"
        r"us)|remember a|"
        r"recall|name|picture|imagine|hear (?:more|a bit|a little|what|how|about)|show (?:me|us) how|"
        r"sketch|unpack|"
        r"ask (?:what|why|how|which|who|where|when))\b"
        r"(?!(?: me| us)?,? (?:if|whether|is|are|do|does|did|was|were|has|have)\b)"
        r"|(?:would|do) you (?:like|want|prefer|rather)\b[^?]*\bor (?:shall|should|would you rather)\b"
        r"|(?:is|was) there (?:anything|something|one thing|someone|somebody|anyone|anybody)\b"
    ),
    requests=re.compile(
        r"(?:please |perhaps |maybe |just )*(?:tell (?:me|us)|describe|walk (?:me|us)|talk (?:me|us)|"
        r"take (?:me|us)|"
        r"explain|say (?:a (?:bit|little) )?more|share|give (?:me|us)|help (?:me|us)|paint|think (?:of|"
        r"back|about)|"
        r"picture|imagine|go (?:on|back)|bring (?:me|us)|put (?:that|it|this) in|show (?:me|us)|recall|"
        r"remember|"
        r"pick|choose|start|begin|finish this sentence|complete this sentence|name|list|expand|"
        r"i'd (?:like|love) to (?:hear|know|understand)|"
        r"i would (?:like|love) to (?:hear|know|understand)|i'm curious|i am curious|i wonder|i'm wondering|"
        r"i am wondering|i'd be (?:interested|curious)|i would be (?:interested|curious))\b"
        r"(?!(?: me| us)?,? (?:if|whether)\b)"
    ),
    closed=_any(
        r",\s*[^,?]{1,30},?\s+or\s+(?!(?:about )?(?:any|some)(?:thing|body|one|where)\b)[^,?]{1,30}\?$",
        r"\b(?:yes or no|true or false)\b",
        r"\bon a scale (?:of|from)\b",
        r"^(?:what|which) (?:would|do|did) you prefer\b[^?]*\bor\b",
        r"^which\b[^?]*(?:,|:|–|—| - )[^?]*\bor\b",
        r"\b(?:tell|let) (?:me|us)(?: know)? (?:if|whether)\b",
        r"^any(?:thing|one|body)? (?:\w+ )?(?:else|more|other|questions|thoughts|problems|reason)\b[^?]*\?$",
    ),
    leading=_any(
        rf"^{_NEGATED} {_SUBJECT}\b",
        rf"^{_AUX} {_SUBJECT} not\b",
        r"[,–—-]\s*(?:right|correct|yes|no|yeah|eh|huh|ok|okay|agreed|true|is it|is that right|"
        r"am i right|do you)\s*\?$",
        rf",?\s+(?:or\s+)?{_NEGATED} (?:you|it|they|he|she|we|that|there|i)\s*\?$",
        r"[,–—-]\s*(?:do|does|did|is|are|was|were|will|would|can|could) (?:you|it|they|he|she)\s*\?$",
        r"^so,? (?:you|it|that|this|they|we|he|she) (?:really |basically |clearly )?(?:like|love|hate|want|"
        r"prefer|feel|felt|"
        r"think|believe|enjoy|find|care|need|value|trust)\w*\b",
        # Anything else, as a statement before the question, says back what was said.
        r"^so,? (?:you|it|they|we|he|she|basically|really|clearly|i)\b[^?]*\?$",
        # … but not what the question is about: “So, that Wednesday in the shop: what happened?”
        r"^so,? (?:that|this|the|your)\b(?!(?:(?!\b(?:is|was|were|are|felt|feels|sounds?)\b)[^?:,–—])*[:,–—]\s*"
        rf"(?:and |then )?{_WH}\b)[^?]*\?$",
        r"(?:^|[.,;:–—-]\s*)(?:surely|obviously|clearly|naturally|undoubtedly|presumably|no doubt|"
        r"needless to say|admittedly)\b",
        r"(?:^|[,;:–—-]\s*)of course(?=,? \w)(?!,? (?:as (?:much|long|little)|just as|take your|we(?: can|'ll| will)"
        r"|i'll|that's fine|no need|let's|let us|back to|(?:that|it|this) (?:stays|is left|can (?:stay|wait))"
        r"|you (?:don't have to|needn't|(?:can|may) (?:leave|skip|stop|keep)))\b)",
        rf"\bwhy {_NEGATED} (?:you|he|she|they|your \w+|we)\b",
        r"\bwhy (?:do|did|would|could|can|should) (?:you|they|he|she|it|your \w+|the \w+) (?:not|never|always|"
        r"even|still)\b",
        r"\bwhy (?:are|were|is|was) (?:you|they|he|she) (?:not|never|always|still|so)\b",
        r"^so,? [^?,]{1,40} (?:is|was|are|were)(?: really)? (?:what|why|how|where|who)(?:'s|'re)?\b[^?]*\?$",
        r"\bwow\b|\bwell done\b|(?:^|[.!,;] ?)good (?:for|on) you\b|\bbravo\b|\bcongratulations\b|\bgood job\b",
        r"\bimpressive\b",
        # Praise of how it was told.
        r"\b(?:that(?:'s| is| was)|what) (?:an? )?(?:very |really |such a )?(?:nice|lovely|good|great|beautiful|fine"
        r"|neat|wonderful|apt) (?:way (?:to (?:put|say|describe)|of (?:putting|saying|describing))|image|phrase"
        r"|expression|comparison|description)\b",
        r"\b(?:that(?:'s| is| was) )(?:well|nicely|beautifully) (?:put|said|told)\b",
        r"\bhow (?:interesting|clever|sweet|brave|organised|organized|thoughtful|sensible|kind|impressive)\b",
        r"\b(?:great|good|excellent|perfect|lovely) (?:answer|point|attitude|choice|idea|decision)\b",
        r"\byou(?:'re| are) (?:really |so |very |such |clearly |obviously )+(?:an? )?\w+",
        r"\byou(?:'ve| have) every right\b|\bjustify (?:that|it|this)\b|\bdid you think would happen\b",
        r"\b(?:isn't|aren't|wasn't|weren't|don't|doesn't|didn't) (?:it|you|they|that|he|she)[.!]",
        r"\bwhich is it\b|\bwhich of the two\b|\bi ask the questions\b",
        r"\bwhy on earth\b|\bwhat on earth\b|\bwhat (?:were|was) (?:you|he|she|they) thinking\s*\?$|"
        r"\bhow could you\b",
        r"\bwhat(?:'s| is) wrong with (?:you|your|him|her|them)\b",
        r"\bhow (?:badly|deeply|severely|seriously|unfairly|rudely|terribly|horribly|desperately|brutally|"
        r"bitterly|cruelly)\b",
        r"\b(?:there|it|that|you) must be (?:more|something|another|a (?:real|deeper|better))\b|"
        r"\bthe real reason\b",
        r"\b(?:is|are|was|were|it's|that's) (?:clearly|obviously|surely|undoubtedly|certainly)\b",
        r"\b(?:surely|obviously|undoubtedly) (?:you|it|that|this|the)\b",
        r"\b(?:as )?(?:we|you|they) all (?:know|agree)\b|\beveryone (?:knows|agrees|loves|hates|says)\b|"
        r"\beverybody (?:knows|agrees|loves|hates|says)\b",
        r"\b(?:most|many|other|lots of|a lot of) (?:people|users|customers|respondents|others|guests|"
        r"commuters)"
        r"(?: \w+)? (?:think|say|find|feel|agree|believe|love|like|hate|prefer|tell|complain|report|"
        r"consider|told|said)\b",
        r"\b(?:experts|studies|research|science|scientists|doctors) (?:say|agree|show|shows|recommend|"
        r"think|suggest|suggests)\b",
        r"\b(?:would|do|don't|wouldn't) you (?:not )?agree\b|\byou(?:'d| would| will) agree\b|\bagree that\b",
        r"\b(?:would|wouldn't) you (?:not )?say (?:that|it|you|this|the)\b|\bis it fair to say\b|"
        r"\bwould it be fair\b",
        r"\b(?:i|we) (?:think(?! i (?:see|understand|follow|get|know|do)\b| i$)|believe|assume|guess|suppose|imagine|"
        r"bet|feel|take it|gather|expect|"
        r"suspect|would say)\b",
        r"\bi'm sure\b|\bi am sure\b|\bin my (?:opinion|view|experience)\b",
        r"\byou (?:must|probably|surely|certainly|obviously|clearly|definitely|no doubt|undoubtedly) "
        r"(?:be|have|feel|felt|find|found|love|hate|really|think|want|like|enjoy|know|were|had|agree|see)\b",
        r"\byou'd probably\b|\byou're probably\b",
        r"\b(?:it|that|this|which|things) must (?:be|have|feel|mean)\b",
        r"\b(?:why|how much|what|how) (?:do|did|does|would) (?:you|it|they) (?:\w+ly |really |just )?"
        r"(?:love|adore|hate|despise|loathe|detest)\b",
        r"\bhow (?:much )?(?:very )?(?:great|amazing|awesome|awful|terrible|bad|good|wonderful|horrible|"
        r"frustrat\w+|"
        r"annoy\w+|disappoint\w+|happy|unhappy|angry|upset|satisfied|dissatisfied|pleased|useful|"
        r"helpful|nice|lovely|"
        r"poor|rude|delicious|relieved|excited|stress\w+|unfair|important|valuable|convenient|"
        r"comfortable|proud) "
        r"(?:was|is|were|are|did|do|does|would|will|has|have|you)\b",
        r"\bhow much (?:better|worse|easier|nicer|happier|safer|more|less) (?:is|was|are|did|do|does|"
        r"would|were)\b",
        r"\b(?:makes?|made|is|are|was|were) (?:it|that|this|them|you)?\s*so "
        r"(?:great|good|bad|special|amazing|terrible|awful|wonderful|frustrating|important|unique|"
        r"perfect|horrible|"
        r"attractive|appealing|annoying|popular)\b",
        r"\bhow about (?:\w+ing|we|you)\b",
        r"[,–—-]\s*(?:perhaps|maybe|possibly|because|such as|for example|for instance|i guess|say|is it|"
        r"was it|"
        r"was that|is that)\b[^?]*\?$",
        r"\b(?:problems|difficulties|issues|trouble|frustrations|pain) (?:did|do|does) (?:the )?(?:bad|"
        r"poor|terrible)\b",
        r"\b(?:isn't|wasn't|aren't|don't|doesn't) (?:it|that|you) (?:great|true|obvious|amazing|the case)\b",
        r"\bjust admit\b|\badmit (?:that|it)\b|\byou do (?:like|love|want|think|agree|realise|realize)\b",
    ),
    leading_words=re.compile(
        r"\b(?:terrible|awful|horrible|horrendous|amazing|awesome|fantastic|wonderful|excellent|superb|"
        r"outstanding|"
        r"superior|unacceptable|outrageous|ridiculous|disgusting|brilliant|fabulous|dreadful|shocking|"
        r"incredible|"
        r"marvellous|magnificent|appalling|pathetic|disgraceful|stupid)\b"
    ),
    double=_any(
        rf"(?:,|;|\s|–|—|-)\s*(?:and|or|but|plus)\s+(?:also |then |if so,? |if not,? |in that case |"
        rf"at the same time |for whom |in what |to what |of |about |with |for |at |from )?{_WH}\b",
        rf"(?:,|;|\s|–|—|-)\s*(?:and|or|but)\s+(?:also |then |if so,? |"
        rf"if not,? )?{_AUX}(?:n't)? {_SUBJECT}\b",
        rf"\bas well as (?:what|why|how|which|who|where|when)\b|\bif so,? {_WH}\b|\bplus (?:what|why|"
        rf"how|when|who|where)\b|\bif not,? {_WH}\b",
        rf"\?\s*(?:and|or|but)?\s*{_WH}\b",
        r", and (?:about|with|for) [^?,]+\?$|, and (?:your|their|his|her) [^?,]{1,25}\?$",
        r"\b(?:and|,) (?:also )?(?:tell|describe|explain|say) (?:me |us )?(?:why|how|what|whether|if|"
        r"where|when|who)\b",
    ),
    double_spared=re.compile(
        r"\b(?:between|compare[sd]?|comparing|difference|differences|differs?)\b[^?.]*\b(?:and|or)\b"
        r"|\b(?:and|or) (?:what|how|who|where|when)ever\b|\bwh(?:o|at) or wh(?:at|o)\b"
        r"|\bwhen and where\b(?=[^?]*\btogether\b)"
        r"|\bor (?:shall|should) (?:we|i)\b"
        # “When he looked at you and explained what he did, how was that?”, which may still be coming
        rf"|^when (?!{_AUX}\b)[^?,]*(?:,|$)"
        # “No, longer than what, or where, it doesn’t say.”, “Who pays, and how soon, that I don't know.”
        r"|^(?:no|yes), [^?]*$"
        r"|^[^?]*,? (?:that )?(?:it|the (?:text|description|sheet)) (?:doesn't|does not) say\b[^?]*$"
    ),
    machinery=re.compile(
        r"\b(?:nodes?|graphs?|subgraphs?|strateg(?:y|ies)|signals?|slots?|ontolog(?:y|ies)|"
        r"methodolog(?:y|ies)|"
        r"extractors?|embeddings?|schemas?|saturat(?:ed|ion)|exhaustion(?: score)?|canonical|laddering|"
        r"means-end|"
        r"llms?|chatbots?|language models?|ai models?|datasets?|data points?|algorithms?|json|yaml|"
        r"templates?|"
        r"psychosocial|functional consequences?|instrumental values?|terminal values?|job statements?|"
        r"pain points?|"
        r"gain points?|critical incidents?|jobs[- ]to[- ]be[- ]done|focus (?:concept|node|label)|"
        r"interview (?:guide|protocol|phase)|"
        r"turn number|max turns|follow-up (?:type|strategy)|knowledge (?:graph|base)|"
        r"(?:your|the|that) (?:previous|prior|preceding|last) (?:answer|response|statement|reply|comment)|"
        r"elaborate (?:further|more|on)|target (?:audience|group)|(?:product|key|core) attributes?|"
        r"value proposition|"
        r"decision[- ]making process|(?:your|the) (?:level|degree) of \w+|perceived \w+|(?:your|"
        r"the) overall (?:experience|"
        r"satisfaction|impression|assessment)|(?:privacy|data protection) policy|as fully as possible|"
        r"rate (?:the|your) (?:importance|quality|level|relevance|attributes?|performance|efficiency)|"
        r"how (?:would|do|did|could) (?:you|one) (?:evaluate|assess|quantify|rank|grade)|"
        r"(?:what|which) (?:functional |key |main |specific )*(?:requirements|criteria|factors|parameters)|"
        r"(?:next|following|first|second|final) (?:question|topic|section)(?: is|:| of)|i(?:'ve| have) noted|"
        r"in the context of|(?:your|the) (?:response|answer|reply|answers) (?:has|have) been|moving on to|"
        r"(?:block|section|module) [a-z0-9]\b|(?:purchase|key|underlying) drivers?|differentiators?|value chain|"
        r"ladder up|"
        r"probing (?:question|technique)|(?:the|a|this) (?:respondent|interviewee)s?)\b"
    ),
    machinery_spared=re.compile(
        r"\b(?:time|parking|delivery|free|booking|appointment|coin|card|memory|collection|landing) slots?\b"
        r"|\b(?:phone|mobile|wi-?fi|bluetooth|radio|gps|traffic|turn|hand|warning|weak|strong|poor|no|"
        r"cell|network|tv) signals?\b"
        r"|\bsignal (?:strength|failure|failures|box|loss)\b|\blymph nodes?\b|\b(?:email|meal|planning|"
        r"spreadsheet) templates?\b"
    ),
)

_DE_SUBJECT = r"(?:sie|du|es|das|der|die|ihr|ihnen|dir|dein\w*|diese\w*|man|wir|ich|er|ein\w*|etwas)"
_DE_VERB = (
    r"(?:haben|hast|hat|hatten|hattest|hatte|sind|bist|ist|war|waren|warst|wird|werden|wirst|würden|"
    r"würdest|würde|"
    r"können|kannst|kann|könnten|könntest|könnte|wollen|willst|mögen|magst|möchten|möchtest|müssen|"
    r"musst|sollen|"
    r"sollte|sollten|dürfen|finden|findest|fanden|glauben|glaubst|denken|denkst|meinen|meinst|gibt|gab|"
    r"geht|ging|"
    r"macht|machen|nutzen|nutzt|benutzen|kaufen|kaufst|trinken|trinkst|stimmen|stimmt|gefällt|gefiel|"
    r"fühlen|fühlst|"
    r"wissen|weisst|wünschen|spielt|hilft|hilfst|brauchen|brauchst|lieben|liebst|hassen|kennen|kennst|"
    r"kommt|liegt)"
)
_DE_WH = (
    r"(?:was|wie|warum|weshalb|wieso|wann|wo|wer|wen|wem|wessen|welche[rsmn]?|wodurch|womit|wofür|"
    r"worauf|woran|wovon|"
    r"worin|wozu|worum|wogegen|worüber|wobei|inwiefern|inwieweit|wohin|woher)"
)

GERMAN = LanguageTable(
    lead_ins=re.compile(
        r"(?:und|also|nun|gut|okay|ok|danke|vielen dank|aber|dann|ja|noch einmal|anders gefragt|kein problem|"
        r"ich verstehe|verstehe|alles klar|schön|interessant|einfacher gefragt|zum schluss|zunächst|"
        r"mit anderen worten)(?:\s*[,.:;–—-]+\s*|\s+)"
        r"|(?:wenn|als|falls|nachdem|bevor|während|sobald|weil|da|obwohl|in|bei|an|auf|mit|von|vor|nach|"
        r"für|aus|"
        r"zurück|rückblickend|abgesehen|neben|vorhin|zu|um|unter|über|im|am|beim|zum|zur)\b"
        r"[^?,:;–—]*(?:,|:|;|\s[–—-]\s|–|—)\s*"
    ),
    interrogatives=re.compile(rf"\b{_DE_WH}\b"),
    auxiliaries=re.compile(rf"{_DE_VERB}\s+{_DE_SUBJECT}\b"),
    polite=re.compile(
        r"(?:können|könnten|würden|möchten|mögen|kannst|könntest|würdest|magst) (?:sie|du)(?: mir|"
        r" uns)?(?: bitte| vielleicht)?"
        r"(?!(?: mir| uns)? (?:sagen|verraten),? ob\b)(?![^?]*\bob\b)[^?]*"
        r"\b(?:erzählen|beschreiben|erklären|schildern|berichten|mitnehmen|erläutern|sagen,? (?:was|wie|"
        r"warum|woran))\b"
    ),
    requests=re.compile(
        r"(?:bitte )?(?:erzählen|beschreiben|schildern|erklären|denken|stellen|nehmen|sagen|führen|"
        r"geben|nennen|"
        r"versetzen|erinnern|berichten) sie\b(?![^.?]*\bob\b)|mich (?:würde )?interessier(?:en|t),? (?!ob\b)|"
        r"(?:erzähl|beschreib|schilder|erklär|denk|"
        r"stell|nimm|sag)e? (?:mir|uns|dir|an|mich)\b"
    ),
    closed=_any(
        r"\bja oder nein\b",
        r"\bauf einer skala\b",
        r"\bsagen sie mir,? ob\b",
        r",\s*[^,?]{1,30}\s+oder\s+[^,?]{1,30}\?$",
    ),
    leading=_any(
        rf"^{_DE_VERB} {_DE_SUBJECT}(?: \w+)? nicht\b",
        r"[,–—-]\s*(?:oder|nicht wahr|richtig|stimmt's|stimmt das|nicht|korrekt|ja|gell|oder nicht)\s*\?$",
        r"^(?:also|sie) (?:haben sie|sind sie|haben|sind|finden|mögen|denken) (?:also|doch)\b|"
        r"^also (?:haben|sind|finden|mögen|denken) sie\b",
        r"\b(?:sicherlich|offensichtlich|natürlich|selbstverständlich|zweifellos|bestimmt|ja wohl|"
        r"doch sicher|ja sicher)\b",
        r"\b(?:stimmen sie (?:mir )?zu|würden sie (?:nicht )?zustimmen|würden sie sagen,? dass|"
        r"sind sie auch der meinung)\b",
        r"\b(?:die meisten|viele|alle) (?:menschen|leute|kunden|nutzer|befragten)\b|\bexperten (?:sagen|"
        r"empfehlen)\b",
        r"\bich (?:denke|glaube|nehme an|vermute|finde)\b|\bmeiner meinung nach\b",
        r"\bsie müssen (?:doch|ja|sich)\b|\bdas muss (?:doch|ja|sehr|schrecklich|toll)\b",
        r"\bwie (?:sehr|gut|schlecht|toll|schlimm|schrecklich|wichtig|zufrieden|unzufrieden|ärgerlich|"
        r"frustrierend) "
        r"(?:war|ist|sind|waren|hat|haben|finden|fanden|lieben|hassen|ärgern)\b",
        r"\bwarum (?:lieben|hassen) sie\b|\bso (?:toll|grossartig|schrecklich|furchtbar|wichtig)\b",
        r"[,–—-]\s*(?:vielleicht|etwa|zum beispiel|weil|möglicherweise)\b[^?]*\?$",
    ),
    leading_words=re.compile(
        r"\b(?:schrecklich\w*|furchtbar\w*|fantastisch\w*|grossartig\w*|wunderbar\w*|ausgezeichnet\w*|"
        r"unmöglich\w*|"
        r"unverschämt\w*|hervorragend\w*|entsetzlich\w*|herrlich\w*)\b"
    ),
    double=_any(
        rf"(?:,|;|\s|–|—)\s*(?:und|oder|aber|sowie)\s+(?:auch |dann |wenn ja,? |in |an |auf |mit |aus |"
        rf"für |von )?{_DE_WH}\b",
        rf"(?:,|;|\s)\s*(?:und|oder)\s+(?:wenn ja,? )?{_DE_VERB} (?:sie|du|es)\b",
        rf"\bwenn ja,? {_DE_WH}\b|\?\s*(?:und|oder)?\s*{_DE_WH}\b",
    ),
    double_spared=re.compile(
        r"\b(?:zwischen|unterschied|vergleich\w*)\b[^?.]*\b(?:und|oder)\b|\b(?:wer|was) oder (?:was|wer)\b"
    ),
    machinery=re.compile(
        r"\b(?:knoten|graph(?:en)?|strategie[n]?|signal(?:e|en|s)?|slots?|ontologie\w*|methodologie\w*|"
        r"wissensgraph\w*|"
        r"sprachmodell\w*|ki-modell\w*|algorithm(?:us|en)|json|yaml|embeddings?|sättigung\w*|"
        r"datenpunkt\w*|chatbots?|"
        r"psychosozial\w*|d(?:er|ie|en|em) befragten?|terminalwert\w*|kritische[srn]? ereignis\w*)\b"
    ),
    machinery_spared=re.compile(
        r"\b(?:handy|funk|wlan|gps|warn)-?signal\w*\b|\bkein signal\b|\b(?:zeit|liefer)-?slots?\b"
    ),
)

TABLES: dict[str, LanguageTable] = {"en": ENGLISH, "de": GERMAN}

CLOSED_GENERIC: dict[str, re.Pattern[str]] = {
    "ar": re.compile(r"^(?:هل|أليس|ألم|ألا|أ(?=\w{2,}\s))"),
    "fr": re.compile(r"^(?:est-ce que|avez-vous|êtes-vous|pensez-vous|n'est-ce|aimez-vous|voulez-vous)\b"),
    "es": re.compile(r"^¿?(?:es|le gusta|te gusta|está|cree que|piensa que|no cree)\b"),
}
