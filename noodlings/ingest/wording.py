"""How servers word a line that players see: how names look in it, and whether it may have been private.

Servers word pages, tells and whispers in many ways, so whatever may be one counts as one.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from noodlings.ingest.moments import BEGINNING, LONGEST_TIME, STAMP
from noodlings.text import word_characters

CAPITAL = rf"(?![{''.join(filter(str.islower, map(chr, range(0x2000))))}])[^\W\d_]"
"""A regular expression for a capital letter, or a letter of a script without capitals."""
WORD = rf"{word_characters()}\u200c\u200d"
_CAPITALS = "".join(filter(str.isupper, map(chr, range(0x2000))))


def _name(capital: str) -> str:
    return rf"[^\W\d_][{WORD}.'’-]*(?: (?![DP]Ms?\b){capital}[{WORD}.'’-]*){{0,2}}"


NAME, CASED_NAME = _name(CAPITAL), _name(f"[{_CAPITALS}]")
"""In a script without capitals only an English verb tells where a name ends."""
ARROW = r"(?:[-=~]>|<[-=~]|[→←➔➙➛➜➝➞➟➠➡➢➣➤⇐⇒⟵⟶⟸⟹›]|(?<=\w )>{1,2}(?= \w)|^[^«]*»)"
_BEFORE_WORDS = r"(?:,? ?[:\"«]|,? ['‘])"
"""The sign that begins the words, with “ read as "; without a space before it ' may be an apostrophe."""
_OF_A_CLIENT = (
    rf"(?:[\[-][^\s()\[\]]{{1,40}}\([^\s()@]{{1,100}}@[^\s()]{{1,100}}\)[\]-] |(?:>>|<<|≫|≪) ?{NAME} ?:)"
)
"""What some clients begin a private line with: "[bob(~bob@host)] " or ">>Bob:"."""
_TO_OR_FROM = r"(?i:an|von|à|de|da|para|til|fra|naar|van|кому|от)"
"""How games in other languages begin what is sent to somebody, or comes from them: "Von Zed:"."""
_TYPED = (
    r"(?i:/(?!(?:s|say|y|yell|sh|shout|me|e|em|emote|pose|ooc|g|gc|gu|guild|gossip|chat|public|general|trade"
    r"|local)\b)|@pri(?:v\w*)?\b|(?:whi\w*|page|tell|msg) [^=]{1,60}=)"
)
"""How a command begins, as clients keep it, unless it is one for speaking aloud."""
_BEGINS_ASIDE, _CLOSES_ASIDE = r"[\[({<*~_/|【（-]{1,6}(?! )", r"\])}>*~_/|】）"
_ASIDE = rf"({_BEGINS_ASIDE}[^{_CLOSES_ASIDE}\"“”]{{1,60}}[{_CLOSES_ASIDE}-])?"
"""What may stand before the words of somebody, "((to Ann))" or "*whispers*", and tell who hears them."""
_PRIVATE = re.compile(
    rf"^(?:> ?)?{_TYPED}|^> ?(?:w|t|m|r|p|re?ply) \S"
    r"|(?:\b|(?<!\w)_)(?:message from \S+@|(?:multi-?)?page[sd]?|paging|tells?|told|whisper(?:s|ed|ing)?"
    r"|telepath\w*|(?:mutter|murmur)s? to|(?:direct|instant|personal|text) messages?|(?-i:IMs?)"
    r"|mind-?(?:speak|talk)\w*|afar|long distance|privat\w+|privad[oa]s?|privée?s?|личн\w+|приватн\w+"
    r"|[pd]m(?:s|['’]?d|ed)?|sms|asks? of|(?:priv)?msg|txts?|[pr]emits?|@?mail|sends?"
    r"|to you|in(?:to)? (?:your|\S{1,40}['’]s?) ear|quietly|confid(?:e[sd]?|ing) (?:to|in)"
    r"|flüster\w*|fluister\w*|wispert|raunt|chuchot\w*|suss?urr\w*|bisbigli\w*|cochich\w*"
    r"|h?visk(?:ar?|ade|er|et|ede)|szep(?:cz|n|t)\w*|f[ıi]s[ıi]ld\w*|bespeaks?"
    r"|š[aeé]p\w+|suttog\w*|[sșş]opt\w*|ψιθυρ\w*|thì thầm|ber?bisik\w*|kuiska\w*|zacht(?:jes)?"
    r"|шеп(?:о?[чт]|н)\w*|(?:сказал[аи]?|говорит) (?:вам|тебе))(?:\b|_(?!\w))|告[诉訴]你|悄悄|囁|귓속말"
    r"|耳打ち|私聊|密[语語]|低[声聲][对對]|همس|לוחש|לחש|^at your table,"
    rf"|\(from [^()]*\)|^(?-i:{CASED_NAME}) \((?:[^()]{{0,40}}[,;] ?)?to [^()]*\) ?:"
    rf"|^[\[({{<]\w (?:from|to)[\])}}>]"
    rf"|\b(?:to|for) [^:\"]{{1,60}} (?:only|alone){_BEFORE_WORDS}|\bunder \S{{1,40}} breath{_BEFORE_WORDS}"
    rf"|(?:[:\"] ?|^[<\[][^>\]]{{1,40}}[>\]] ?|^(?=[\[({{])){_BEGINS_ASIDE}"
    rf"(?:(?:[^{_CLOSES_ASIDE}\"]{{0,60}}\b)?(?:(?:psst|only|alone|low|lower\w*|hushed|soft\w*|secret\w*"
    r"|silent\w*|mutter\w*|murmur\w*|sotto|ears?|close|breath|(?:to|for) (?:you|her|him|them|me))(?:\b|_)"
    rf"|(?:to|for|à|zu|an) (?-i:{CAPITAL}))|(?:to|@) ?[\w-]+[{_CLOSES_ASIDE}])"
    rf"|[\[({{<](?:ims?|texts?|aside|1:1|gm only|hidden|query|confidential|secret|pr?i?vt?|phone|wh?|p)\b"
    rf"|{ARROW}"
    rf"|\b(?:dir|euch|ihnen)(?: zu)?{_BEFORE_WORDS}|\b(?:till? (?:dig|deg)|para (?:você|ti)){_BEFORE_WORDS}"
    r"|\b(?:à (?:votre|ton) oreille|al oído|all['’]orecchio|ao ouvido|ins Ohr|le dice a)\b"
    r"|\b(?:mutter|murmur|breathe|hisse|growl)s?(?: at you\b|,? \" ?(?:to|at)\b)"
    r"|\bin(?:side)? your head\b|\b(?:passes|slips|hands) you a (?:note|letter)\b"
    rf"|(?:s you|\bwith you|\bsenses?|^(?-i:{NAME}) text(?:s|ed)?(?: [^:\"]{{1,60}})?){_BEFORE_WORDS}"
    rf"|\b(?:confid(?:e[sd]?|ing)|in your mind|messag(?:es|ed|ing)(?: [^:\"]{{1,60}})?){_BEFORE_WORDS}"
    rf"|\b(?:teils?t [^:\"]{{1,60}} mit|erwiders?t [^:\"]{{1,60}}|zu (?:dir|euch|ihnen)|spürs?t"
    rf"|(?:dices a (?!todos\b)|dici a (?!tutti\b)|diz para (?:você|ti)|sagt dir)[^:\"]{{0,60}})"
    rf"{_BEFORE_WORDS}"
    rf"|\b(?-i:(?:te|ti|vous) |(?<= )t['’])[^\s:\"]{{1,40}}{_BEFORE_WORDS}"
    rf"|^(?:le|tu|vous) [^\s:\"]{{1,40}} [aà] [^:\"«]{{1,60}}{_BEFORE_WORDS}"
    rf"|^you (?:sense (?:that )?(?-i:{CAPITAL})"
    rf"|(?:ask|message|(?:exclaim|reply|respond) to) (?-i:{CAPITAL})[^:\"]{{0,60}}{_BEFORE_WORDS})"
    rf"|^(?-i:\W{{0,3}}(?:{CASED_NAME} )?(?i:from|to)(?::| (?:{CAPITAL}|[\[<]\w)[^:.\])>]{{0,40}}[:\])>])"
    rf"|[^\W\d_]{{1,6}} ?\[{CAPITAL}[^\]]{{0,40}}\] ?:|{_TO_OR_FROM}(?: {CASED_NAME} ?:| ?: ?\[)"
    rf"|\[[\w-]+\] {CASED_NAME} thinks{_BEFORE_WORDS}|{CASED_NAME}>> "
    rf"|{_OF_A_CLIENT}|[*>-]{CAPITAL}\w*[*<-] |=\w+= |[+@]?(?:[a-z]{{1,8}}|[PWTM]) [^=:.]{{1,40}}=\S)",
    re.IGNORECASE,
)
"""Looked for in what comes before the words, with the sign that begins these, or a tag in brackets."""
_SPEAK = (
    r"(?:say|ask|exclaim|shout|yell|answer|add|call|announce|declare|state|remark|comment|drawl|scream|admit"
    r"|continue|suggest|agree|insist|warn|order|greet|joke|chat|gossip|speak|question|recite|explain|mention"
    r"|repeat|holler|stutter|stammer)"
)
_SOUND = (
    r"(?:sing|laugh|chuckle|grin|smile|nod|shrug|grunt|sigh|snort|growl|bark|boom|roar|chirp|auction|begin"
    r"|finish|offer|turn|rasp|bellow|croak|purr|hum)"
)
_ALOUD = (
    rf"(?i:(?:{_SPEAK}|{_SOUND})(?:e?s|e?d)?"
    r"|repl(?:y|ies|ied)|cr(?:y|ies|ied)|said|sang|sung|spoke|began|ooc|grats"
    r"|sag(?:st|t|te|en)|frag(?:st|t|te)|ruf(?:st|t)|rief|schrei(?:t|st)|antwortet|meint|erwidert"
    r"|di(?:t|s|sent)|demandes?|cri(?:es?|ez)|répond|dice|dices|pregunta|grita|responde|chiede"
    r"|risponde|grida|esclama|exclama|diz|pergunta|zeg(?:t|gen)|vraagt|roept|säger|ropar|frågar|siger|sier"
    r"|sp[øö]r|mówi|pyta|krzyczy|(?:с|про)?казал[аи]?|говор(?:ит|ишь)|спр(?:ашивает|осил[аи]?)"
    r"|крич(?:ит|ал[аи]?)|sanoo|kysyy|[说說道问問])"
)
"""Words for speaking aloud."""
_MANNER = (
    r"(?: (?:(?:angri|anxious|bitter|blunt|brave|bright|brisk|broad|calm|careful|casual|cheeri|cheerful|clear"
    r"|cold|cool|curious|curt|defiant|dramatic|dri|eager|earnest|excited|fierce|firm|flat|frank|glad|gloomi"
    r"|grave|grim|gruff|grumpi|happi|harsh|hopeful|impatient|joyful|lazi|light|loud|mild|nervous|patient"
    r"|playful|polite|proud|quick|rude|sad|sarcastic|serious|sharp|sleepi|slow|smug|solemn|stern|stiff"
    r"|stubborn|sudden|sweet|thoughtful|tired|warm|weari|wild|wry)(?:al)?ly|out(?: loud)?|aloud|again))?"
)
"""How something is said that everybody hears."""
_LETTERS = r"[^\s:;,!?\"«(){}\[\]<>*~=|/+—–]*"
_MORE_NAMES = rf"{_LETTERS}(?: {CAPITAL}{_LETTERS}){{0,2}}"
_WHOM = (
    rf"(?:(?!(?:Dir|Euch|Ihnen|You|Me)\b)[{_CAPITALS}]{_MORE_NAMES}|every(?:body|one)|all|todos|tutti|tous|alle"
    r"|the (?:room|crowd))"
)
_TO_WHOM = rf"(?:(?: (?:to|at|zu|an|a|à|para|tegen|till?)|(?<=asks)) {_WHOM})?"
_NAMED = (
    rf"(?!\w{{4,}}ly {CAPITAL}|[^\":]*(?:[你您]|あなた|당신))\[?[^\W\d_]{_MORE_NAMES}\]?"
    r"(?: ?\(#?\d[^()]*\))?"
)
"""A name, "Bob" or "Bob(#12)"; but "Softly Bob" is none."""
_WHO = rf"(?:{_NAMED}|(?i:the|an?) (?!(?:\S+ )?(?:voice|radio|phone|link)\b)[\w'-]+(?: (?!\w+ly\b)[\w'-]+)?)"
_GESTURE = (
    r"(?: \((?i:(?!speaks|talks|leans|bends)\w+s\b(?![^()]*\b(?:to|for|at|towards?|near|beside|only|alone"
    r"|aside|ears?|close\w*|breath|low\w*|hush\w*|soft\w*|secret\w*|silent\w*|voice|mutter\w*|murmur\w*"
    r"|sotto|radio|phone|link|mind|head)\b)[^()]{0,80})\))?"
)
"""What our own rooms show that somebody does meanwhile: "SERVNAK (RINGS ITS OWN BELL) says"."""
_SAYS = rf"{_GESTURE}{_MANNER}(?: {_ALOUD}{_MANNER},? (?:and|then|and then))? {_ALOUD}{_TO_WHOM}{_MANNER}"
_NO_MORE = rf"(?!\W++(?!and \w+s\b)(?!{CAPITAL})[^\W\d_])"
"""Behind the words may be a new sentence, or what else somebody does, but not whom they were said to."""
_OPENLY = re.compile(
    r"\W*$|(?:\*\*\*|-!-|##) [^\"]*$|\S+ rolls? [^\"]*:|[^\":]{0,40}\bexits?:|[^\":]*(?<!\.)[.!?。！？] ?\""
    rf"|{_NAMED}(?:(?: \(to {_WHOM}\))? ?:| ?\"{_NO_MORE})"
    rf"|(?!You (?:repl|answer)){_WHO}{_SAYS}(?: ?: ?(?!\")|,? ?:? ?[\"']{_NO_MORE})"
    rf"|\",? ?(?:{_ALOUD} {_WHO}|{_WHO}{_MANNER} {_ALOUD}){_TO_WHOM}{_MANNER}"
    rf"(?:, \w+ing(?: (?:up|down|back|off|away))?)?[,.]? ?(?:\"{_NO_MORE}|$|(?<=\.) )"
    r"|\"と?\w{1,10}[はが]言(?:っ|いま|う)"
)
"""How a line begins whose words were spoken openly, with " for all words in quotation marks: what a client
tells, a sentence before the words, a name, or, before or behind them, whoever speaks, a word for speaking
aloud, whom it is said to, and a manner. Whatever else stands there may tell that only few could hear it."""
_A_LINE = re.compile(
    rf"(?!(?:I|He|She|It|They|We|As|When)\b)(?={CAPITAL}){_NAMED}{_MANNER} (?!(?i:{_SOUND}))"
    rf"(?:(?<=You )(?i:{_SPEAK})|(?<!You )(?!(?i:{_SPEAK})\b){_ALOUD})(?!\w)[^\":.!?]{{0,60}}[\":]"
)
"""How a line of a log begins that tells of words, with " for all words in quotation marks."""
_FROM_A_NICK = re.compile(rf"<\S{{1,40}}> (?!{CAPITAL})\w")
"""<bob> my boss said "no", as clients for IRC have it."""
_TAG = re.compile(r"^(?:\[[^\]]{0,40}\]|<[^>]{0,40}>|\([^)]{0,40}\)|\{[^}]{0,40}\}|【[^】]{0,40}】):? ?")
_TAG_WITH_NAME = re.compile(
    rf"^\W(?:[^\])}}>]{{0,40}} )?(?![{_CAPITALS}])[^\W\d_]+ {CAPITAL}[^\])}}>]{{0,40}}[\])}}>]"
)
"""A tag that names somebody, "[note from Bob]", and not only a channel."""
_SIGNS = str.maketrans({"：": ": ", "＝": "="} | dict.fromkeys("“”„‟＂「」『』", '"'))
"""Signs before and after words in other languages, and those for which they stand."""
_QUOTED = re.compile(rf"[\"“]{_ASIDE}[^\"“”]*[\"”]?")
_ELIDED = r"(?i:tis|twas|twere|twill|twould|em|im|ave|ello|cos|til|neath|gainst|nuff|fraid|n|tween|\d\ds?)\b"
"""What an apostrophe stands before, in place of a letter, and where it begins no quotation."""
_WITHIN_SINGLE = rf"(?:[^'’]|(?<=\w)['’](?=\w)|(?<=\s)['’](?={_ELIDED}))*+"
_QUOTED_OTHERWISE = re.compile(
    rf"«[^«»]*»?|(?<![^\s(\[,:])['‘](?!{_ELIDED})(?=\S)(?:{_WITHIN_SINGLE}(?<=\S)['’](?!\w)"
    rf"|(?={CAPITAL}){_WITHIN_SINGLE}$)"
)
"""Words in « » or ' '; an apostrophe within a word, or behind one (the players'), begins none."""
_AFTER_COLON = re.compile(rf": \"?{_ASIDE}.*")
_SENT_TO = re.compile(r"^\(to:? [^)]*\) ", re.IGNORECASE)
_SPEAKER = re.compile(r"^\[(?P<name>[^\[\]()]+)\(#\d+\w*\)[^\]]*\] ")
"""The sender of a line, as some servers show it on request; some add whom it is sent to."""
_TO = re.compile(ARROW)
_SEEN = re.compile(
    rf"^(?:(?:> ?)?{_TYPED}"
    r"|[^\"“:]{0,60}(?:[\"“«]|: |(?:,|s you|\bsenses?) ['‘])"
    rf"|{_OF_A_CLIENT}"
    r"|\*\w+\* |[+@]?\w{1,8} \S{1,40}=\S|\[\S{1,40}\(#\d+\w*\)[-=]>|From afar\b"
    r"|You (?:paged?|sense|text(?:ed)?|messaged?|whisper(?:ed)?|(?:exclaim|reply|respond) to"
    r"|ask (?:of )?(?![a-z]))\b"
    rf"|{CASED_NAME}(?:>> | asks of you\b)"
    r"|[\[({<](?:\w+|[^\])}>]{0,40}(?i:\bfrom|\bto) [^\])}>]{1,40})[\])}>]"
    rf"|\W?(?:(?![a-z]){CASED_NAME} )?(?:(?:quietly )?(?:pages|tells|texts|whispers)\b|{ARROW}))"
)
"""How a line that players see begins, and hardly anything that somebody says."""
_MARKUP = re.compile(r"[*~]+|(?<!\w)_+|(?<!_)_++(?!\w)")
"""Underscores within a word are none."""


def _signs(line: str) -> str:
    """A line with letters in one part and the signs of English."""
    return normalize("NFC", line).translate(_SIGNS)


def without_address(line: str) -> tuple[str, bool]:
    """A line that players see, without what servers show of its way, and whether it may be private."""
    sent, line = bool(_SENT_TO.match(line)), _SENT_TO.sub("", line)
    if speaker := _SPEAKER.match(line):
        sent = sent or _TO.search(speaker[0]) is not None
        rest = line[speaker.end() :]
        line = rest if rest.startswith(speaker["name"]) else f"{speaker['name']} {rest}"
    unquoted = _AFTER_COLON.sub(r":\1", _QUOTED.sub(r'"\1', _signs(line)))
    return line, sent or _PRIVATE.search(unquoted) is not None


def is_openly_worded(line: str) -> bool:
    """Whether a line that players see has no words in it, or tells in a known way that they were spoken.

    Games and languages are many, so what is worded in any other way may have been whispered.
    """
    line = _signs(line)
    tag = _TAG.match(line)
    if tag and _TAG_WITH_NAME.match(tag[0]):
        return False
    told = _told(line)
    spoken = _FROM_A_NICK.match(line) or _OPENLY.match(told) or not re.search('[":]', told)
    return bool(spoken)


def _told(line: str) -> str:
    """A line with the signs of English, without its tag and its words, for which " stands."""
    return _QUOTED_OTHERWISE.sub('"', _QUOTED.sub('"', _TAG.sub("", line)))


def may_be_private(words: str, whole: bool = False) -> bool:
    """Whether a row may be private whose words are somebody's, or a `whole` line that players see.

    Some logs have the whole line among the words, with its time and in bold or italics. "My mother told me of
    it" is not private, "Caity whispers to you, …" is, and "Bob says into his radio, …" may be.
    """
    line = _signs(words)
    forms = {line, _MARKUP.sub("", line)}
    for form in tuple(forms):
        times = (STAMP.match(form), BEGINNING.match(form, 0, LONGEST_TIME))
        forms |= {form[time.end() :].lstrip() for time in times if time}
    # A whole line is told of somebody, whose name may have no capital.
    told = {form: _told(form) for form in forms}
    if whole:
        told = {form: line[:1].upper() + line[1:] for form, line in told.items()}
    return any(
        ((whole or _SEEN.match(form)) and without_address(form)[1])
        or (_A_LINE.match(told[form]) and not is_openly_worded(form))
        for form in forms
    )
