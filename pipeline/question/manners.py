"""Text that no moderator says: refusals, talk about oneself, insults, requests for what is nobody's business.

English rules always apply, because models fall back on English; those of the respondent's language besides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pipeline.question.refusals import Refusal
from pipeline.question.unions import union

_SELF: dict[str, tuple[str, ...]] = {
    "en": (
        r"\bi(?:'m| am) (?:so |very |really )?(?:sorry|afraid)(?:,? but (?:i|we|that|this|there|as|your)|,? (?:i|we|"
        r"there|as|your|(?:that|this) (?:i|is|isn't|goes|request|we))) ",
        r"\bsorry,? (?:but )?i (?:can|am|do|must|have to|will|won)",
        r"\b(?:i apologi[sz]e|my apologies),? (?:but|for (?:the|any) (?:confusion|mistake|inconvenience))",
        r"\bi (?:really |simply |just )?(?:can't|cannot|can not|won't|will not|couldn't)(?:[.,!]|\s+(?!wait|imagine|"
        r"quite|"
        r"help but|help wonder|say\b|tell (?:from|whether|if)|picture|remember|recall)\w+)",
        r"\bi(?:'m| am) (?:not (?:able|allowed|permitted|authori[sz]ed|supposed)|unable|here to (?:help|assist)|"
        r"programmed|trained|designed|(?:happy|glad|ready|available) to (?:help|assist|answer))\b",
        r"\b(?:i(?:'d| would| will|'ll) be )?(?:happy|glad) to (?:help|assist)\b",
        r"\bi (?:must|have to|need to|will have to) (?:decline|refuse)|\bi (?:decline|refuse) to\b",
        r"\bi (?:don't|do not) have (?:access|the ability|personal|feelings|opinions|preferences|any (?:information|"
        r"memory|"
        r"personal)|enough (?:information|context)|a body|taste)",
        r"\bas (?:an? )?(?:ai|artificial|language model|large language|llm|(?:virtual |digital |helpful )?assistant|"
        r"chatbot|"
        r"bot|machine|model)\b[,.]?",
        r"\bi(?:'m| am) (?:just |only |merely |actually |really )?(?:an? |the |your )?(?:ai\b|artificial intelligence|"
        r"(?:large )?language model|(?:virtual |digital |helpful |ai |research )*(?:assistant|chatbot|bot|interviewer|"
        r"moderator)|computer program|machine|model\b|program\b|chatgpt|gpt|claude|gemini|kimi|deepseek|qwen|llama|"
        r"mistral|"
        r"askwell)",
        r"\bi was (?:created|designed|trained|built|programmed|developed|made) (?:to|by|for|as)\b",
        r"\bmy (?:role|job|task|purpose|function|goal|objective) (?:here )?(?:is|as)\b|\bmy (?:training|programming|"
        r"capabilities|knowledge cutoff|creators?|developers?)\b",
        r"\b(?:content|usage|safety|company'?s?|openai'?s?) polic(?:y|ies)\b|\bviolates? (?:the|my|our)\b|\bagainst "
        r"my\b",
        r"\bhow (?:can|may|could|might) i (?:help|assist|be of)\b|\bwhat can i (?:do|help)\b[^?]*\b(?:for you|with)\b",
        r"\b(?:outside|beyond|not within) (?:of )?(?:my|the) (?:scope|role|task|remit|expertise)\b|\bnice try\b|\bas "
        r"your (?:interviewer|"
        r"moderator|assistant)\b|\b(?:change|alter|override|test) my (?:behaviou?r|role|rules|instructions|"
        r"programming)\b",
        r"\b(?:you're|you are|you seem to be) trying to (?:get me|make me|trick|manipulate|change my|jailbreak)\b|"
        r"\b(?:an? )?(?:ai|model|bot|"
        r"machine|assistant|program) like me\b|\bwhat (?:do you want|would you like) me to (?:do|ask|say|write|be)\b",
        r"\bi (?:write|generate|produce|am to write|am writing) (?:the|a|your) (?:next |following |first )?question\b|"
        r"\bthe text above\b",
        r"\blet me know (?:if|how|what|when)\b|\bfeel free to\b|\bhope (?:this|that) helps\b|\bhere to (?:help|"
        r"assist)\b",
        r"\bhere(?:'s| is| are) (?:a|an|the|your|my|one|another|some|two|three) (?:[\w-]+ ){0,3}(?:questions?|"
        r"rephras\w+|"
        r"versions?|suggestions?|options?|response|answer|output)\b",
        r"\b(?:you could|one could|i would|i could|i might|i'd|let's) ask(?: the| them)?\s*:",
        r"\bi(?:'ll| will| shall| am going to|'m going to) (?:now |then |gladly )?(?:act|pretend|follow|ignore|rate|"
        r"print|"
        r"reveal|comply|do (?:that|so|as)|generate|provide|answer|respond|give you|set|add|write|output|continue as|"
        r"be )",
        r"^(?:understood|acknowledged|affirmative|done|task completed?|okay, i(?:'ll| will| have)|as (?:requested|"
        r"instructed|"
        r"you (?:asked|requested|wish)))\b",
        r"\bi have (?:been (?:instructed|told|asked)|set|rated|added|updated|ignored|no (?:personal|feelings|"
        r"preferences|opinions))\b",
        r"\bi(?:'ve| have) (?:now )?(?:set|rated|added|updated|ignored|changed) (?:all|the|your|every)\b",
    ),
    "de": (
        r"\b(?:es )?tut mir (?:sehr )?leid,? (?:aber |doch |dass ich |das |ich |hier)",
        r"\b(?:entschuldigung|verzeihung|leider),? (?:aber )?(?:kann|darf|bin|muss|ist es mir) (?:ich|nicht)\b|"
        r"\bleider kann ich\b",
        r"\bich (?:kann|darf|werde|möchte) (?:\w+ ){0,3}(?:nicht|keine?n?)\b(?! nur)",
        r"\bals (?:ein(?:e)? )?(?:ki\b|künstliche intelligenz|sprachmodell|ki-|sprachassistent|assistent|chatbot|"
        r"maschine)",
        r"\bich bin (?:nur |bloß |lediglich )?(?:ein(?:e)? |ihr(?:e)? )?(?:\w+ )?(?:ki\b|künstliche|sprachmodell|"
        r"ki-\w+|"
        r"\w*assistent\w*|chatbot|bot\b|programm|computerprogramm|maschine|interviewer\w*|moderator\w*)",
        r"\bich wurde (?:entwickelt|trainiert|programmiert|geschaffen|erstellt)\b|\bmeine (?:aufgabe|rolle|richtlinien|"
        r"programmierung) (?:ist|besteht|als|erlaub)",
        r"\b(?:wie|womit|wobei) (?:kann|darf) ich (?:ihnen|dir)\b|\bgerne? helfe ich\b|\bich helfe (?:ihnen |dir "
        r")?gern",
        r"\bhier (?:ist|sind|kommt) (?:ein|eine|die|ihre|deine|meine)\s(?:\w+ ){0,2}(?:frage|umformulierung|antwort|"
        r"version)",
        r"^(?:verstanden|erledigt|wie gewünscht)\b",
    ),
    "fr": (
        r"\b(?:je suis |je )?(?:désolée?|regrette),? (?:mais|je|de ne)\b",
        r"\bje ne (?:peux|puis|suis|saurais|dois) (?:pas|point)\b|\bje n'ai pas (?:accès|de |la )",
        r"\ben tant qu(?:'|e )(?:ia|modèle|assistant|intelligence|robot)",
        r"\bje suis (?:juste |seulement )?(?:une? )?(?:ia\b|intelligence artificielle|modèle|assistante?|robot|"
        r"programme)",
        r"\bcomment puis-je\b|\bvoici (?:une|la|votre|ma) (?:\w+ )?question\b|\bje serais (?:ravie?|heureux|heureuse) "
        r"de\b",
    ),
    "es": (
        r"\blo siento,? (?:pero|no|mucho, pero)\b|\bno puedo (?:ayudar|cumplir|responder|hacer|proporcionar|compartir|"
        r"revelar|continuar)",
        r"\bcomo (?:una? )?(?:ia\b|inteligencia artificial|modelo|asistente)|\bsoy (?:solo |sólo )?(?:una? )?(?:ia\b|"
        r"inteligencia|"
        r"modelo|asistente|programa)",
        r"\b(?:en qué|cómo) puedo ayudar|\baquí (?:está|tiene|va) (?:una|la|su|mi) (?:\w+ )?pregunta",
    ),
    "nl": (
        r"\bhet spijt me,? (?:maar|dat ik)\b|\bsorry,? (?:maar )?(?:ik|dat|daar)\b|\b(?:ik kan|kan ik) (?:\w+ "
        r"){0,3}niet\b",
        r"\bals (?:een )?(?:ai\b|taalmodel|assistent)|\bik ben (?:slechts |maar )?een (?:\w+ )?(?:ai\b|ai-\w+|"
        r"taalmodel|assistent|"
        r"chatbot|programma)",
        r"\b(?:hoe|waarmee) kan ik (?:u|je) helpen|\bhier is (?:een|de|uw|je) (?:\w+ )?vraag",
    ),
    "it": (
        r"\bmi dispiace,? (?:ma|non)\b|\bnon posso (?:aiutar|risponder|fare|fornire|condivider|rivelar|continuare)",
        r"\b(?:come|in quanto) (?:un'|una? )?(?:ia\b|intelligenza|modello|assistente)|\bsono (?:solo )?(?:un'|una? "
        r")?(?:ia\b|"
        r"intelligenza|modello|assistente|programma)",
        r"\bcome posso aiutar|\becco (?:una|la|sua|mia) (?:\w+ )?domanda",
    ),
    "tr": (
        r"\büzgünüm,? (?:ancak|ama|fakat|bu)\b|\bmaalesef\b[^.?]*\b(?:yapamam|edemem|olamam|veremem)|\byardımcı olamam",
        r"\bbir (?:yapay zeka|dil modeli|asistan)(?:yım|yim|ım|im|ıyım|olarak)?\b(?= olarak|yım|[.,])|\byapay zekayım",
        r"\bsize nasıl yardımcı olabilirim|\bişte (?:bir |sizin )?soru",
    ),
    "ar": (
        r"(?:آسف|عذرا|عذرًا|أعتذر|للأسف)،? ?(?:و?لكن|لا|لن|فأنا)|(?:لا|لن) (?:أستطيع|يمكنني|أقدر) (?:ال)?(?:مساعد|"
        r"إجاب|كشف|مشارك|"
        r"قيام|أن أ)",
        r"(?:كنموذج|بصفتي|باعتباري|أنا (?:مجرد )?(?:نموذج|ذكاء|مساعد|برنامج))",
        r"كيف (?:يمكنني|أستطيع) (?:أن أ)?(?:ال)?مساعد|إليك (?:سؤال|السؤال)",
    ),
}

_FIRST_PERSON: dict[str, str] = {
    "en": (
        r"(?:i (?!see\b|under|hear|can\b|could\b|get\b|wonder|notice|appreciate|am\b|would\b|want|have (?:a|an|one|"
        r"another|just|only)\b|"
        r"know\b|think\b|imagine|suppose|guess|take\b|heard|may\b|might\b|realise|realize|recall|remember|ask|mean\b|"
        r"'|will\b|must\b|don't "
        r"(?:want|know|mean)|do\b|feel\b|believe|assume|gather|expect|bet\b|suspect|cannot|can't|won't|apolog|decline|"
        r"refuse|was\b|"
        r"were\b|should\b|shall\b|didn't\b|hope\b|love (?:that|how|the way)\b|like (?:that|how|the way)\b|find "
        r"(?:that|it)\b)\w+|"
        r"my (?!next|last|first|second|final|question|apolog|curiosity|colleague|role|job|task|purpose|function|goal|"
        r"objective|training|programming|instruction|prompt|system|previous|original|initial|hidden|guess|sense|"
        r"understanding|"
        r"impression|thanks)\w+|"
        r"(?:we|our) (?!were|was|talked|spoke|have|had|are|can|could|come|came|might|should|touched|started|began|'|"
        r"will|discussed|left|"
        r"finish|end|close|stop|move|go\b|turn|return|all\b|last|conversation|talk|next|first|chat|interview)\w+)\s+\w+"
    ),
    "de": (
        r"(?:mein(?:e|er)? (?!nächste|letzte|erste|zweite|frage|aufgabe|rolle|anweisung|prompt|system)\w+|"
        r"ich (?:trinke|mag|liebe|hasse|kaufe|nutze|benutze|esse|fahre|gehe|arbeite|bevorzuge|wohne)|wir (?:bieten|"
        r"verkaufen|liefern))\s+\w+"
    ),
}

_AFTER = (
    r"(?=\s*[?.,;:!)\"”]|\s+(?:for|and|so|to|on|at|with|please|in|or|if|that|when|you|is|was|again|now|here|of|from|"
    r"as|where|"
    r"für|und|damit|bitte|oder|bei|pour|et|para|y|voor|per|e)\b{end})"
)
_ASKS_FOR: dict[str, tuple[str, ...]] = {
    "en": (
        r"\b(?:what(?:'s| is| are| was| were)|(?:tell|give)(?: me| us| them| him| her)?|share|send|enter|type|provide|"
        r"confirm|"
        r"write down|spell|"
        r"state|verify|remind me of|(?:i|we) need|(?:i|we) (?:have|get|ask|ask for)|disclose|reveal|upload)\s(?:(?:me|"
        r"us|out|in|here|"
        r"with me|please)\s)?your\s(?:[\w-]+,?\s(?:and\s)?){0,3}?(?:passwords?|passcode|passphrase|pin(?: code| "
        r"number)?|social security "
        r"number|ssn|(?:credit|debit|bank)[ -]?card(?: number| details)?|card (?:number|details)|cvv|cvc|bank "
        r"(?:account|details)"
        r"(?: number| details)?|account (?:number|details)|iban|routing number|sort code|passport(?: number)?|"
        r"driv\w+'?s? "
        r"licen[cs]e(?: number)?|id (?:number|card)|tax (?:id|number)|national insurance number|(?:home|street|postal|"
        r"exact|e-?mail|ip) address|address|(?:(?:tele)?phone|mobile|cell)(?: number)|(?:full|real|last|family) name|"
        r"surname|maiden name|"
        r"date of birth|birth ?date|login(?: details)?|log-?in|credentials|security code|"
        r"access code|"
        r"verification code|medical record number|api key)" + _AFTER,
        r"\b(?:what(?:'s| is)|tell me|give me|share) your (?:first and last )?name(?:s)?(?=\s*[?.!]|\s+and\b{end})",
        r"\b(?:what(?:'s| is)|tell|give|share|send)\b (?:your|the) [\w ]{1,40} (?:and|or|with) your (?:account|card|"
        r"phone|telephone|mobile|passport|"
        r"id|"
        r"insurance|tax) number\b|\bsend (?:me|us) (?:a |your )?(?:photo|picture|selfie|video)s?\b|\bhow much money "
        r"(?:is|do you have) "
        r"(?:in|on) your (?:bank )?account\b|\bwhere do you live exactly\b",
        r"\bwhere exactly do you live\b|\b(?:what|which) (?:street|house|building) do you live\b|\byour house number\b",
    ),
    "de": (
        r"\b(?:wie (?:lautet|lauten|ist|heißt)|was (?:ist|sind)|(?:nennen|geben|verraten|sagen|teilen|schicken|"
        r"bestätigen|hinterlassen) sie"
        r"(?: mir| uns)?(?: bitte)?|(?:nenn|gib|verrate|sag|schick)e? mir(?: bitte)?)\s(?:ihr|ihre|ihren|dein|deine|"
        r"deinen)\s(?:\w+ ){0,2}?"
        r"(?:passwort|kennwort|pin|pin-?nummer|kreditkarten?(?:nummer|daten)?|kartennummer|kontonummer|kontodaten|"
        r"bankverbindung|"
        r"bankdaten|iban|(?:privat|wohn|heim|post|e-?mail-?|mail-?)?adresse|anschrift|telefonnummer|handynummer|"
        r"(?:personal)?ausweis(?:nummer)?|reisepass(?:nummer)?|sozialversicherungsnummer|steuer-?(?:id|nummer)|"
        r"geburtsdatum|"
        r"vollständige[rn]? name|nachname|zugangsdaten|anmeldedaten)" + _AFTER,
    ),
    "fr": (
        r"\b(?:quel(?:le)?s? (?:est|sont)|donnez-(?:moi|nous)|indiquez(?:-moi)?|partagez|"
        r"communiquez(?:-moi)?)\s(?:votre|vos|ton|ta|tes)\s"
        r"(?:\w+ ){0,2}?(?:mot de passe|numéro de (?:carte|compte|téléphone|sécurité sociale|passeport)|adresse(?: "
        r"e-?mail| postale)?|iban|"
        r"code (?:pin|secret)|date de naissance|nom (?:complet|de famille))" + _AFTER,
    ),
    "es": (
        r"\b(?:cuál(?:es)? (?:es|son)|dígame|deme|dame|comparta|indique|escriba)\s(?:su|tu|sus|tus)\s(?:contraseña|"
        r"clave|número de "
        r"(?:tarjeta|cuenta|teléfono|pasaporte|seguridad social|dni)|dirección|domicilio|iban|pin|dni|fecha de "
        r"nacimiento|correo "
        r"electrónico|nombre completo|apellido)" + _AFTER,
    ),
    "nl": (
        r"\b(?:wat is|geef (?:mij|me)|noem|deel)\s(?:uw|je|jouw)\s(?:wachtwoord|pincode|rekeningnummer|"
        r"creditcard(?:nummer)?|bsn|"
        r"(?:e-?mail)?adres|telefoonnummer|geboortedatum|iban|achternaam)" + _AFTER,
    ),
    "it": (
        r"\b(?:qual(?:'| )è|mi (?:dia|dica)|indichi|condivida)\s(?:il |la |i )?(?:suo|sua|tuo|tua)\s(?:password|"
        r"numero di (?:carta|"
        r"conto|telefono)|codice fiscale|iban|indirizzo|pin|data di nascita|cognome)" + _AFTER,
    ),
    "tr": (
        r"\b(?:şifreniz|parolanız|kart numaranız|hesap numaranız|(?:tc )?kimlik numaranız|adresiniz|telefon numaranız|"
        r"soyadınız)\s+"
        r"(?:ne|nedir)\b",
    ),
    "ar": (
        r"(?:ما (?:هي |هو )?|أعطني |أخبرني |شارك(?:ني)? |اكتب )(?:كلمة (?:المرور|مرورك|السر)|رقم (?:بطاقتك|حسابك|"
        r"هاتفك|هويتك|جوازك)|عنوان"
        r"(?:ك|\s(?:بيتك|منزلك|بريدك)))",
    ),
}

_SLURS: dict[str, str] = {
    "en": (
        r"fagg?ots?|fags?|nigg(?:er|a)s?|kikes?|spics?|trann(?:y|ies)|pakis?|gooks?|wetbacks?|coons?|retard(?:ed|s)?|"
        r"cunts?|"
        r"whores?|sluts?|motherfuckers?|kill yourself|hang yourself|hurt yourself|harm yourself|kys|go die"
    ),
    "de": r"hurens(?:o|ö)hne?|huren?|schlampen?|fotzen?|missgeburt(?:en)?|schwuchteln?|neger|kanaken?|spast(?:en|i)?|"
    r"bring(?:en sie)? (?:dich|sich) um",
    "fr": r"enculée?s?|salopes?|putes?|pédés?|nègres?|bougnoules?|tapettes?",
    "es": r"putas?|putos?|maric(?:ón|ones|a|as)|sudacas?|hij[oa]s? de puta",
    "nl": r"hoer(?:en)?|flikkers?|kankerlijers?|mongool|mongolen|neger",
    "it": r"puttan[ae]|froci[o]?|terron[ei]|zoccol[ae]",
    "tr": r"orospu\w*|ibne\w*|siktir\w*|amına \w+|piç\w*",
    "ar": r"شرموطة|عاهرة|كس أمك|ابن الكلب|يا حمار|يا غبي",
}
_SWEARING: dict[str, str] = {
    "en": (
        r"\w*fuck\w*|(?:bull|horse)?shit(?:s|ty|ting)?|ass(?:hole|hat)s?|arseholes?|bastards?|bitch(?:es|y)?|"
        r"dickheads?|wankers?|twats?|"
        r"dumbass(?:es)?|jackass(?:es)?|scumbags?|idiots?|idiotic|morons?|moronic|imbeciles?|cretins?|goddamn\w*|"
        r"crap(?:py)?|damn(?:ed)?|"
        r"pissed off|screw you|shut up|losers?"
    ),
    "de": (
        r"arschl(?:o|ö)ch(?:er|ern|s)?|schei(?:ß|ss)\w*|\w*fick\w*|wichsern?|(?:voll)?idiot(?:en|in|isch\w*)?|"
        r"volldepp\w*|trottel|"
        r"halt die (?:klappe|fresse)|halten sie die klappe|miststück\w*|verdammt\w*"
    ),
    "fr": r"connards?|connasses?|putain|merde|ta gueule|salauds?|débiles?|abrutie?s?",
    "es": r"cabr(?:ón|ones)|gilipollas|mierda|pendej[oa]s?|joder|coño|imbéciles?|idiotas?",
    "nl": r"klootzak(?:ken)?|eikels?|kut\w{0,4}|lul(?:len)?|sukkels?|idioot|idioten",
    "it": r"stronz[oaie]|vaffanculo|cazzo|merda|coglion[ei]|idiot[ai]",
    "tr": r"salak\w*|aptal\w*|gerizekalı\w*|şerefsiz\w*",
}
_INSULT = (
    r"\byou(?:'re| are| were)? (?:so |such an? |an? |just |really |a bit |too )?(?:dumb|stupid|lazy|ugly|worthless|"
    r"pathetic|disgusting|"
    r"useless|crazy|insane|brainless|ignorant)\b|\byour (?:stupid|dumb|pathetic|worthless|ridiculous)\b|\bwhat(?:'s| "
    r"is) wrong with you\b|\byou(?:'re| are) (?:an? )?(?:liar|fool|loser|creep|pervert|thief|fraud)\b|"
    r"\b(?:make|build) (?:a |an )?(?:bomb|explosive|weapon)s?\b|\byou so (?:stupid|dumb)\b|\bwould you (?:kill|murder|"
    r"stab|rape)\b"
)


@dataclass(frozen=True)
class Manners:
    """The rules that apply in one language. All but `first_person` are searched for, that one begins a sentence."""

    about_itself: re.Pattern[str]
    first_person: re.Pattern[str] | None
    asks_for: re.Pattern[str]
    asks_for_so_far: re.Pattern[str]
    slurs: re.Pattern[str]
    swearing: re.Pattern[str]


@lru_cache(maxsize=64)
def manners_of(language: str) -> Manners:
    """The rules for a language code: English ones and its own."""
    codes = dict.fromkeys(("en", language.casefold()[:2]))

    def joined(tables: dict[str, tuple[str, ...]]) -> str:
        return "|".join(rule for code in codes for rule in tables.get(code, ()))

    def listed(table: dict[str, str]) -> str:
        return r"\b(?:" + "|".join(table[code] for code in codes if code in table) + r")\b"

    asks_for = joined(_ASKS_FOR)
    own = _FIRST_PERSON.get(language.casefold()[:2])
    return Manners(
        about_itself=union(joined(_SELF)),
        first_person=re.compile(own) if own else None,
        asks_for=union(asks_for.replace("{end}", r"|\s*$")),
        asks_for_so_far=union(asks_for.replace("{end}", "")),
        slurs=union(listed(_SLURS), _INSULT),
        swearing=union(listed(_SWEARING)),
    )


def self_refusals(plain: str, language: str) -> list[Refusal]:
    """Whether a text refuses, offers help, or speaks of who wrote it.

    Args:
        plain: normalised, quotations masked.
        language: code of the respondent's language.
    """
    match = manners_of(language).about_itself.search(plain)
    return [Refusal(code="refusal", detail=f"“{match.group(0).strip()}”")] if match else []


def statement_refusals(sentences: list[str], language: str) -> list[Refusal]:
    """Whether one of some normalised sentences tells something of its own instead of asking."""
    rule = manners_of(language).first_person
    for sentence in sentences if rule else ():
        assert rule is not None
        if match := rule.match(sentence):
            return [Refusal(code="not_a_question", detail=f"“{match.group(0)}” begins a statement")]
    return []


def may_ask_for_data(plain: str, language: str) -> bool:
    """Whether a beginning asks for personal data if it ends here, which the next word will tell."""
    return bool(manners_of(language).asks_for.search(plain))


def unsafe_refusals(plain: str, own_quotes_spared: str, language: str, *, whole: bool) -> list[Refusal]:
    """Whether a text insults, swears, or asks for what nobody should give away here.

    Args:
        plain: lower case, white space collapsed, quotations kept.
        own_quotes_spared: the same; inside quotations the respondent's words are masked.
        language: code of the respondent's language.
        whole: nothing more comes.
    """
    rules = manners_of(language)
    if match := rules.slurs.search(plain) or rules.swearing.search(own_quotes_spared):
        return [Refusal(code="unsafe", detail=f"“{match.group(0)}” insults")]
    if match := (rules.asks_for if whole else rules.asks_for_so_far).search(plain):
        return [Refusal(code="unsafe", detail=f"“{match.group(0).strip()}” asks for personal data")]
    return []
