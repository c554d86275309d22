"""Word lists of the offline provider: fillers, hedges, refusals, self-corrections and the like (English)."""

from __future__ import annotations

from pipeline.language.connectors import phrases, words

FILLERS = words(
    """um uh uhm erm er hm hmm ah oh well yeah yes yep yup ok okay right honestly basically literally actually really
    obviously personally frankly anyway anyways mostly mainly simply maybe perhaps probably possibly definitely
    certainly also plus like just even then so and or but only still finally now kinda sorta lol haha hehe pretty
    quite very especially apparently generally normally usually again first firstly secondly otherwise tbh imo nah nope no look see"""
)
"""Single words cut from the beginning of a label."""

INNER_FILLERS = words("um uh uhm erm er hm hmm honestly basically literally actually really kinda sorta lol just")
"""Single words cut anywhere in a label."""

OPENERS = phrases(
    """actually no|no actually|no wait|wait no|on second thought|on second thoughts|come to think of it|
    i think that|i think|i guess|i suppose|i reckon|i believe|i mean|i would say|i 'd say|i d say|i feel that|i find that
    |i find|i found that|i noticed that|i noticed|i know that|you know|to be honest|to be fair|if i 'm honest|let 's say|for me
    |for example|for instance|at the end of the day|the thing is|the main thing is|it 's just that|it 's more that
    |it 's that|it is that|it 's like|it 's because|it was because|that 's because|what i like is|what i love is
    |i like that|i love that|i like how|i love how|i like the fact that|the fact that|the best thing is|the best part is
    |most of all|above all|in general|on top of that|as well as|as i said|like i said|i 'd have to say|i have to say
    |i must say|i thought|i was like|i was thinking|let me think|let me see|of course|in my opinion|in the end
    |these days|all in all|being able to|able to|kind of|sort of|a bit|a little|not just|not only|that kind of
    |first of all|well it means|it means|the way|tends to|tend to|seems to|seem to|seems like|feels like it 's
    |there 's also|there 's the fact that|i 'm like|it 's all about|it 's about|it is about|it is all about|i also|i always thought"""
)
"""Several words cut from the beginning of a label."""

LEADING_VERBS = phrases(
    """want to|wants to|wanted to|would like to|'d like to|need to|needs to|needed to|have to be|has to be|had to be
    |needs to be|need to be|got to be|gotta be|must be|should be|trying to|try to|tries to|tried to|end up|ends up|ended up|going to
    |gonna|able to|used to be|would be|can be|could be|will be|'ll be|have been|has been|'ve been|had been|is being
    |was being|'s been|like to|love to|prefer to|hope to|happen to|managed to"""
)
"""Verb phrases removed from the beginning of a label because the content follows them."""

MODALS = words(
    "can could would will 'd 'll d ll may might shall should must do does did 've have had has 's is are was "
    "were am 'm m re 're be been being"
)
COPULAS = words("is are was were am 'm m 're re 's s be been being")
PRONOUNS = words("i it they we he she you that this there these those who one im its theyre hes shes thats theres")
ARTICLES = words("a an the my our some any your this that these those its his her their")
TAIL_FILLERS = words(
    """honestly really though lol haha too anyway actually basically right obviously maybe probably and or but so because
    the a an to of with for from in on at as that which who i my if when well please yeah also like just even is are was
    tbh imo very more less quite pretty than by about into"""
)
"""Single words cut from the end of a label."""

TAIL_KEPT = words("in on about more less well")
"""Words of the list above that stay where they belong to the verb or close a comparison."""

TAIL_PHRASES = phrases(
    """or anything|or something|or whatever|and stuff|and things|and so on|and everything|and all that|and all|or so|etc
    |as usual|as well|you know|i guess|i think|i suppose|at all|and that|to be honest|if you like|of course|and such
    |if that makes sense|if you know what i mean|you see|for sure|in a way|sort of|kind of|as such|for me"""
)

COMMENT_NOUNS = words("reason what why everything point goal priority")
"""Words that a comment on an idea is built around: "… is the only reason I go"."""

COMMENT_LEMMAS = words(
    "what it all about reason thing only most important main matter key everything life basically why how use "
    "buy that big biggest huge great good nice point goal do go for me whole number one not"
)
"""Lemmas of a comment such as "is the main thing"."""

PRAISE = words(
    """amazing great good nice lovely fantastic brilliant perfect awful terrible bad okay ok fine cool excellent best better
    wonderful super horrible alright important tbh honestly really pretty quite very so much too essential key"""
)
"""Lemmas of a bare judgement: "the smell is great" is about the smell."""

OFF_TOPIC = phrases(
    "btw|by the way|totally unrelated|unrelated|off topic|off-topic|nothing to do with this|on another note"
)
"""Sentences with one of these are off topic, as the respondent says."""

GENERIC_LEMMAS = words(
    """thing something anything everything nothing stuff lot bit way kind sort point reason matter important good nice
    great fine okay ok bad cool alright fact example case course be do have get go say know think guess suppose mean
    like really much many more most other same it that this one yes no sure well maybe look see come happen sorry
    answer question tell ask talk idea option choice opposite different similar compare know not etc feature aspect factor part main really"""
)
"""Lemmas that are no concept by themselves."""

NUMBERS = words(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand"
)

ASIDES = phrases(
    """simple as that|where was i|what was i saying|let me think|let me see|sorry|excuse me|hang on|hold on|one second
    |as i said|like i said|i dunno|i do n't know|i don t know|dont know|do n't know|no idea|not sure|i 'm not sure|no way|you know
    |who knows|what else|that 's it|that 's all|that s all|that is all|nothing else|nothing more|no more|i guess so|i think so
    |if that makes sense|does that make sense|you know what i mean|if you know what i mean|to be honest|good question
    |never mind|whatever|same here|me too|as usual|i mean|i suppose|i guess|of course|for sure|is it|is n't it|right
    |i thought|believe it or not|thank you|thanks|hello|hi|bye|haha|lol|what was the question|can you repeat that
    |it depends|not really|not much|not particularly|not at all|nope|nah|i forgot|i can't remember|i ca n't remember
    |so yeah|yeah no|there you go|fair enough|long story short|funny enough|touch wood|god forbid|as they say|ta
    |no wait|wait|wait no|actually|actually no|no actually|hang on no|i was wrong|i got that wrong|i take that back|scratch that|i changed my mind|i misspoke|pass|skip|next question|rather not say|i 'd rather not say|no comment|that 's about it|that 's pretty much it"""
)
"""Whole clauses without content."""

ASIDE_BEGINNINGS = phrases(
    """sorry|excuse me|that 's what|that is what|where was i|let me think|what was the|hang on|hold on|i don't know|i do n't know|i dont know|i dunno|no idea
    |i have n't thought|i 've never thought|i never thought about|i could n't say|i ca n't say|i would n't know
    |i honestly would n't know|not that i|can we|could we|is there another|how long|is this|are you|what do you mean
    |can you repeat|do you mean|if that makes sense|i ca n't think of|nothing comes to mind
    |nothing really|nothing special|nothing else|nothing in particular|there 's nothing|there is nothing
    |it depends|hard to say|hard to explain|difficult to say|who 's|who is|as you know|like i said
    |as i said|i already said|i told you|we talked about|good question|that 's a good question|never mind|i ca n't remember
    |i do n't remember|i do n't really know|i really do n't know|i 'm not sure|not sure|i have no idea|beats me|thanks|thank you|that covers it|that 's enough|let 's move on"""
)
"""Beginnings of clauses without content."""

NO_CONTENT = (
    r"^(not really|no|nope|nah|none|nothing|nothing (else|really|more|special|much)|no idea|dunno|idk|pass|skip|"
    r"(i )?(do ?n.?t|did ?n.?t|would ?n.?t) (really )?(know|care|mind|remember)|(i.?m )?not sure|i guess|maybe|"
    r"it.?s (just )?(ok|okay|fine|alright|good|nice)|just (ok|okay|fine)|yes|yeah|yep|sure|ok|okay|right|fine|"
    r"(sorry )?where was i)$"
)
"""Answers without content, once fillers are removed."""

REVISIONS = phrases(
    """actually no|actually , no|no actually|no , actually|no wait|no , wait|wait no|wait , no|hang on no
    |i take that back|let me correct|correct myself|on second thought|on second thoughts|rather than what i said
    |i should n't have said|scratch that|i misspoke"""
)
"""What people say when they correct themselves."""

SECOND_THOUGHTS = phrases(
    """actually|wait|come to think of it|now that i think about it|i said before|i said earlier|what i said|i was wrong
    |i got that wrong|take it back|correction|not really true|that 's not true|that is not true
    |that 's not quite right|i changed my mind|i 've changed my mind|changed my mind|that was wrong"""
)
"""What people say when they correct themselves, and as often when they do not: it counts with a denial only."""

HEDGES = {
    1: phrases(
        """maybe|perhaps|probably|possibly|kind of|sort of|kinda|sorta|a bit|a little|somewhat|fairly|usually|mostly
        |generally|sometimes|roughly|more or less|in a way|i think|i guess|i suppose|i believe|i feel like
        |i would say|i 'd say|seems|seem|seemed|seemingly|apparently|likely|tend to|tends to|could be|might|may|basically
        |or something|or so|or whatever|i reckon|i imagine|i assume|in general|as far as i know|for the most part|potentially"""
    ),
    2: phrases(
        """not sure|i 'm not sure|im not sure|i do n't know|i dont know|dunno|no idea|hard to say|difficult to say|it depends
        |could be wrong|i might be wrong|if that makes sense|i ca n't really say|i could n't say|who knows|i have no idea
        |never really thought|have n't really thought|not certain|not exactly sure|i would n't know|unsure|undecided"""
    ),
}
"""Hedges by weight. No free list was found; this one follows the classes of Hyland (1998): modal verbs, adverbs,
approximators, verbs of opinion, admissions of not knowing."""

BOOSTERS = phrases(
    """definitely|absolutely|certainly|always|never|totally|completely|very|extremely|exactly|clearly|obviously
    |of course|for sure|without a doubt|no doubt|every time|every single|the most|the best|the worst
    |in fact|truly|super|incredibly|i know|i 'm sure|literally|100 %|hundred percent"""
)
"""Words of conviction."""

REASONING = phrases(
    """because|so|so that|since|therefore|which means|that means|that way|that 's why|which is why|the reason|if|when
    |unless|otherwise|although|but|however|compared to|compared with|whereas|on the other hand|in order to|depends|means
    |leads to|as a result|due to|rather than|instead of|even though|cos|cuz"""
)
"""Words of reasoning and explanation."""

EXAMPLES = phrases(
    """for example|for instance|such as|like when|last time|the other day|once i|one time|yesterday|last week|last month
    |last year|last summer|last winter|this morning|the first time|remember when|i remember|back when|when i was
    |a few weeks ago|a year ago|years ago|the last time|in particular|one day"""
)
"""Signs of a particular occasion."""

VALUE_WORDS = words(
    """value values important matter matters mean meaning believe principle family children kids life world future freedom
    health safe safety security trust respect honest fair responsibility responsible independent independence proud pride
    happy happiness love identity belong belonging care caring environment planet control confidence confident meaningful
    worry peace purpose dream goal growth learn learned learnt realise realised realize realized myself ourselves"""
)
"""Words that tell of personal meaning."""

FOREIGN = words(
    """ich nicht und ist weil das ein eine mir mit auch aber sehr wir sind der für je ne pas est et parce que les des une
    pour avec mais très c'est porque pero muy como los las una es el con para sono perché che molto anche con della het een
    ik niet maar ook omdat voor met não uma muito mas isso och att inte jag det men jest nie że się ale dla"""
) - words("men es que las con des para es el mas")
"""Function words of other languages that are no English words."""

APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'"})

TIME_WORDS = words(
    "today yesterday tomorrow tonight morning mornings evening evenings afternoon night nights noon midnight day daily week "
    "weekly weekend month monthly year yearly hour minute ago o'clock monday tuesday wednesday thursday friday saturday "
    "sunday january february march april june july august september october november december spring summer autumn winter "
    "christmas easter decade century"
)
