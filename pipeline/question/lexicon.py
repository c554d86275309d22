"""Words that tell what kind of phrase a respondent's label is (English)."""

from __future__ import annotations

from pipeline.question.patterns import word_set

PURE_VERBS = word_set(
    "have dig skip heat warm fold bake drink sip dodge squash juggle cram nap jog absorb accept "
    "accommodate accomplish achieve acknowledge acquire adapt adjust admire admit adopt afford agree "
    "allow apologise apologize appear apply appreciate approve argue arrange arrive ask assemble "
    "assume attend avoid become believe belong blend blink boil borrow breathe bring browse bury "
    "calculate carry celebrate chat choose chop clarify climb collapse collect commute compare "
    "complain concentrate confirm connect consider consult consume contain continue contribute "
    "convince cooperate create decide declutter defend delete deliver depend describe deserve detect "
    "develop disagree disappear disappoint disconnect discover discuss distract disturb donate "
    "download drown earn eat edit eliminate embarrass enable encourage enjoy ensure enter entertain "
    "establish examine exceed exist expand expect explain explore fade fail fall feel fetch fill "
    "finish follow forget forgive fry gather get give go grab greet grow guess happen hear hesitate "
    "identify ignore imagine improve include inform inspire install invest investigate invite involve "
    "isolate keep know lead learn leave lend let listen locate lose love maintain make manage marry "
    "maximise maximize meet minimise minimize motivate navigate notice obey obtain occupy occur "
    "operate organise organize overcome owe participate perceive perform persuade please possess pour "
    "pray predict prefer prepare pretend prevent proceed promote propose protect prove provide pull "
    "push put qualify quit reach react read realise realize rebuild receive reckon recognise "
    "recognize recommend recover reduce refer reflect refresh refund refuse regulate relax rely "
    "remain remember remind remove renew repair repeat replace reply represent require respond "
    "restore retain reveal rinse rush satisfy save say see seem sell send serve share shout show "
    "simplify sit sleep socialise socialize solve speak spend spill squeeze stand start stay step "
    "stir stop store strengthen struggle submit subscribe succeed suffer suggest support survive "
    "swallow sweat take talk teach tell thank think throw tie tolerate treat try unload unlock unpack "
    "unplug unwind upload use vary verify wait wake walk want warn wash wear weigh wipe wish worry "
    "write"
)
"""Base forms that are verbs when a label begins with them; a few are nouns as well, but hardly ever first."""

NOUNISH_VERBS = word_set(
    "act answer attack balance call camp care carry cash catch change charge chat check clean clear "
    "close coach control cook copy cost count cover crack cross cut cycle dance date deal delay "
    "demand design dip display divide do double doubt dream dress drive drop dry ease email end "
    "escape exercise exit experience face feed fight figure film find fit fix flow focus forward "
    "freeze function handle hang hate help hide hit hold hope hug hunt hurry hurt iron joke judge "
    "jump kick kill label last laugh layer lie lift light like link list live load lock log look "
    "match matter measure mess mind miss mix move mute need note offer open order own pack park pass "
    "sigh pause pay phone pick plan play plug point prepare press print promise queue quote rate rest "
    "return ride ring risk roll run score search season settle shake shape shop shower shut sign sing "
    "smell smile smoke sort sound spread stare steal stick stress stretch study suit switch swing "
    "talk taste text tidy time top touch track trade train travel trust turn type understand update "
    "upset vent view visit vote wander waste watch win wonder work wrap"
)
"""Base forms that are as often nouns: they count as verbs only before an object or a particle."""

IRREGULAR_PAST = word_set(
    "felt learned learnt realised realized decided had got ended wanted needed missed forgot lost noticed "
    "expected hoped worried waited apologised complained ordered paid left switched tried stopped started "
    "managed booked queued bought chose compared cooked planned arrived"
)
"""Past forms whose subject is the respondent, unless an object pronoun says otherwise."""

PAST_FORMS = word_set(
    "broke sat held explained said told gave made took went came saw brought asked called rang stared "
    "cried calmed walked looked kept spoke wrote sent bought thought knew found met stood ran ate "
    "drank drove rode fell grew threw caught taught smiled shouted ignored helped offered refused "
    "promised served spilled spilt dropped turned moved closed opened changed showed answered "
    "transferred hung picked handed sorted fixed solved charged refunded cancelled canceled replied "
    "emailed checked interrupted listened treated blamed happened became began crashed froze worked "
    "used loved liked hated enjoyed wasn't weren't didn't couldn't wouldn't was were did could"
)

FINITE = word_set(
    "is are was were am isn't aren't wasn't weren't has had have hasn't haven't hadn't do does did "
    "don't doesn't didn't can can't cannot could couldn't will won't would wouldn't should shouldn't "
    "must might may it's that's he's she's they're you're i'm i've i'd i'll we're we've there's it'll "
    "they'll gets makes goes comes says means needs wants takes gives keeps lets helps feels seems "
    "sounds looks tastes smells turns becomes happens costs lasts works sends saves sinks stays fits "
    "runs knows thinks sees tells asks brings puts leaves finds holds sits stands dont doesnt didnt "
    "cant wont couldnt wouldnt isnt wasnt im ive"
)

CONTRACTIONS = {
    "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "cant": "can't", "wont": "won't",
    "couldnt": "couldn't", "wouldnt": "wouldn't", "isnt": "isn't", "wasnt": "wasn't", "im": "I'm", "ive": "I've",
    "shouldnt": "shouldn't", "werent": "weren't", "arent": "aren't", "havent": "haven't", "hasnt": "hasn't",
    "hadnt": "hadn't", "youre": "you're", "theyre": "they're", "thats": "that's", "theres": "there's",
    "theyve": "they've", "youve": "you've", "weve": "we've", "hes": "he's", "shes": "she's",
}  # fmt: skip
"""Words as they are typed without their apostrophe, and with it."""

SUBJECT_PRONOUNS = word_set(
    "i it they you we he she this that there everyone everybody someone somebody nobody people one"
)
CONTRACTED_SUBJECTS = word_set(
    "it's that's he's she's they're you're i'm i've i'd i'll we're we've there's it'll they'll"
)
DETERMINERS = word_set("a an the my your our their his her its this that these those every each another both")
QUANTIFIERS = word_set(
    "no any some all more less fewer most much many several few lots plenty loads enough too so such "
    "very one two three four five six seven eight nine ten twelve twenty thirty fifty double anything "
    "something nothing everything everyone someone nobody anyone what whatever which whoever how"
)
ADJECTIVES = word_set(
    "heavy light expensive cheap affordable pricey comfortable uncomfortable comfy soft hard quiet "
    "loud noisy calm relaxed relaxing stressful stressed tired tiring exhausted exhausting awake "
    "alert focused productive efficient quick fast slow easy difficult simple complicated confusing "
    "confused clear unclear convenient inconvenient reliable unreliable safe unsafe secure insecure "
    "confident proud ashamed embarrassed embarrassing guilty angry furious annoyed annoying "
    "frustrated frustrating irritated upset sad happy unhappy glad pleased relieved grateful thankful "
    "surprised surprising shocked disappointed disappointing worried anxious nervous scared afraid "
    "lonely bored boring excited exciting fun healthy unhealthy fresh tasty delicious bitter sweet "
    "sour strong weak mild smooth rich creamy hot cold warm lukewarm cosy cozy clean dirty messy "
    "organised organized disorganised tidy ready busy late early punctual polite rude friendly "
    "unfriendly kind helpful unhelpful patient impatient honest dishonest fair unfair respected "
    "valued ignored dismissed heard understood welcome unwelcome free independent flexible "
    "responsible sensible smart stupid silly foolish ridiculous hygienic durable sturdy flimsy "
    "portable compact small big large tiny huge long short thin thick waterproof wireless stylish "
    "ugly pretty beautiful modern old new outdated natural artificial organic sustainable ethical "
    "local authentic numb hopeless helpless powerless invisible overwhelmed burnt burned perfumed "
    "unscented sticky greasy dry oily nice good great bad better worse best worst ok okay fine lovely "
    "awful terrible horrible amazing brilliant excellent short-staffed understaffed overpriced "
    "awkward uneasy content satisfied dissatisfied motivated energised energized energetic refreshed "
    "recharged in-control connected disconnected close distant accurate inaccurate important "
    "pointless useless useful handy practical impractical consistent inconsistent predictable "
    "unpredictable crowded packed empty full hungry thirsty sick"
)
PLURAL_EXCEPTIONS = word_set(
    "bus gas glass bass class boss loss mess stress process progress access business fitness "
    "happiness success kindness address dress press is this us plus focus status bonus virus basis "
    "analysis crisis always less news lens"
)
PLURAL_IRREGULAR = word_set("people children men women feet teeth mice kids staff police")
KIN_NOUNS = word_set(
    "mum mom mother dad father wife husband son daughter brother sister boss partner friend friends "
    "flatmate neighbour girlfriend boyfriend kids children family parents colleagues colleague team "
    "grandma grandmother grandad cousin"
)
"""People one calls “my …”: an extractor may have cut the “my” off."""

PERSON_NOUNS = word_set(
    "mum mom mother dad father wife husband son daughter brother sister boss partner friend flatmate "
    "neighbour neighbor girlfriend boyfriend manager doctor nurse waiter waitress agent receptionist "
    "driver colleague baby child kid person parent host cook employee"
)
"""Singular people: without “my” or “the” such a label was cut too short to be spoken."""
